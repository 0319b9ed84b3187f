"""`dead_code`: what nobody asks for is not computed."""

from __future__ import annotations

from workbench.graph.models import Model
from workbench.graph.passes.support.effects import Quiet, acts, is_detached, users_of
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.rewriting import each_function, reached
from workbench.graph.terms.nodes import Function, Let, Projection, ReadReference, Term, Tuple, Variable
from workbench.graph.terms.walking import operands, postorder, with_operands
from workbench.records import record


@record
class DeadCode(ModelPass):
    """A value that is bound and not used is not computed, nor an item of a tuple that nobody takes.

    before → after:  let x = a; b   →   b      (a, b).0   →   a

    What writes to cells, or calls what might, stays; so does what reads a cell that something later reads as well.
    Functions that the entry does not reach go too.
    """

    def apply(self, model: Model) -> Model:
        names = reached(model)
        if len(names) < len(model.functions):
            model = model.with_functions({name: of for name, of in model.functions.items() if name in names})
        quiet = Quiet(model)
        return each_function(model, lambda function: _without(function, quiet))


def dead_code() -> DeadCode:
    """What nobody asks for is not computed, and functions that the entry does not reach are left out."""
    return DeadCode()


def _without(function: Function, quiet: Quiet) -> Function:
    """The function after rounds in which each finds what the one before left."""
    while True:
        found = _Round(function, quiet).result()
        if found is function:
            return function
        function = found


class _Round:
    """One walk from the inside out; `users` are those of each node that are still there."""

    def __init__(self, function: Function, quiet: Quiet) -> None:
        self.function, self.quiet = function, quiet
        self.acting: dict[Term, bool] = {}
        self.users = users_of(function)
        for node in postorder(function):
            self.acting[node] = acts(node, quiet) or any(self._evaluated(node))

    def _evaluated(self, node: Term) -> list[bool]:
        """Whether what is computed together with a node acts; the body of a function is not."""
        return [] if isinstance(node, Function) else [self.acting[each] for each in operands(node)]

    def result(self) -> Function:
        """The function without what nobody asks for."""
        made: dict[Term, Term] = {}
        for node in postorder(self.function):
            made[node] = self._kept(node, tuple(made[each] for each in operands(node)))
        found = made[self.function]
        assert isinstance(found, Function)
        return found

    def _kept(self, node: Term, inside: tuple[Term, ...]) -> Term:
        match node:
            case Let(variable, value) if self._is_unused(variable, value) and self._goes(value):
                self._forget(node, value)
                return inside[1]
            case Projection(Tuple(items), index) if self._others_go(node, items, index):
                of = inside[0]
                return of.items[index] if isinstance(of, Tuple) else with_operands(node, inside)
            case _:
                return with_operands(node, inside)

    def _is_unused(self, variable: Variable, value: Term) -> bool:
        """Whether nobody uses a variable; a function that nobody calls may call itself."""
        users = self.users.get(variable, ())
        return not users or (isinstance(value, Function) and set(users) <= set(postorder(value)))

    def _forget(self, user: Term, used: Term) -> None:
        """A use is gone, and with it those of what nobody else uses: lets further out may be unused by now."""
        stack = [(user, used)]
        while stack:
            user, used = stack.pop()
            if user not in self.users[used]:
                continue  # a let inside that is gone already
            self.users[used].remove(user)
            if not self.users[used]:
                stack += [(used, each) for each in operands(used)]

    def _others_go(self, node: Projection, items: tuple[Term, ...], index: int) -> bool:
        if len(self.users[node.tuple]) > 1:
            return all(not self.acting[each] and not self._reads(each) for each in items)
        return all(self._goes(each) for at, each in enumerate(items) if at != index)

    def _goes(self, value: Term) -> bool:
        """Whether nobody can tell that a value is no longer computed, its reads of cells being nobody else's."""
        return not self.acting[value] and is_detached(value, self.users)

    def _reads(self, value: Term) -> bool:
        return any(isinstance(node, ReadReference) for node in postorder(value))
