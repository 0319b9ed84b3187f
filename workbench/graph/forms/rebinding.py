"""Forms that bind: A-normal form gives every node a `let`, basic-block form those that several scopes share.

Nothing is computed elsewhere, or in another order, than `scopes` says.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.graph.forms.effects import displaced, impure
from workbench.graph.forms.scopes import Scope, Scopes, is_branch, scopes, value_node
from workbench.graph.terms.nodes import (
    ATOMS,
    Call,
    Constructor,
    Function,
    Global,
    Let,
    Primitive,
    Term,
    Variable,
)
from workbench.graph.terms.walking import Steps, operands, postorder, run, with_operands


def a_normal(function: Function) -> Function:
    """The function with a `let` for every node: operands, and results of blocks, are variables and constants."""
    found = scopes(function)
    return _rebound(function, found, lambda node, scope: not is_word(node), merge=True)


def basic_blocks(function: Function) -> Function:
    """The function with a `let`, in the smallest scope that covers its uses, for each node that several scopes share.

    Inside a block terms stay graphs; where a block has a `let`, nodes whose order matters get one as well.
    """
    found = scopes(function)
    across, marked = {node for node in found.used_across() if not is_word(node)}, impure(found)
    named = {scope for scope, block in found.blocks.items() if any(isinstance(n, Let) or n in across for n in block)}
    return _rebound(
        function, found, lambda node, scope: node in across or (node in marked and scope in named), merge=True
    )


def hoisted(function: Function) -> Function:
    """The function with its lets in the order in which they are computed, none of them being an operand.

    So it is written: a text has its lets in the lines of its blocks.  A node gets a `let` of its own if it reads or
    writes a cell before such a `let` does and is used after it.
    """
    if not any(_is_operand(node) for node in postorder(function)):
        return function
    found = scopes(function)
    marked = impure(found)
    moved: set[Term] = set()
    for scope in found.blocks:
        result = function if scope.at is None else operands(scope.at)[scope.branch]
        moved |= displaced(found, scope, result, marked)
    return _rebound(function, found, lambda node, scope: node in moved, merge=False)


def _is_operand(node: Term) -> bool:
    """Whether some `let` is an operand of the node, other than as the last part of a block."""
    return any(
        isinstance(each, Let) and not is_branch(node, at) and not (isinstance(node, Let) and at == 1)
        for at, each in enumerate(operands(node))
    )


def _rebound(function: Function, found: Scopes, bind: Callable[[Term, Scope], bool], *, merge: bool) -> Function:
    made = run(_Rebinding(found, bind, merge).node(function))
    assert isinstance(made, Function)
    return made


class _Rebinding:
    """Builds each block anew; `made` is what stands for a node by now.

    With `merge` a node that a `let` of its own block names gets no second name.
    """

    def __init__(self, found: Scopes, bind: Callable[[Term, Scope], bool], merge: bool) -> None:
        self.found, self.bind, self.merge = found, bind, merge
        self.made: dict[Term, Term] = {}

    def stands_for(self, term: Term) -> Term:
        """What is used in place of a term."""
        node = value_node(term)
        return self.made.get(node, node)

    def block(self, scope: Scope, result: Term) -> Steps[Term]:
        """The term of a block: its lets around its result."""
        bound: dict[Variable, Term] = {}
        names = self._named_by_lets(scope) if self.merge else {}
        for node in self.found.blocks[scope]:
            if isinstance(node, Let):
                self._let(node, bound)
                continue
            new = yield self.node(node)
            if node in names or self.bind(node, scope):
                variable = names.get(node) or Variable(hint(node))
                bound[variable] = new
                new = variable
            self.made[node] = new
        body = self.stands_for(result)
        for variable, value in reversed(bound.items()):
            body = Let(variable, value, body)
        return body

    def _named_by_lets(self, scope: Scope) -> dict[Term, Variable]:
        """The nodes of a block that a `let` of the same block names."""
        own = {node for node in self.found.blocks[scope] if not isinstance(node, Let)}
        found: dict[Term, Variable] = {}
        for node in self.found.blocks[scope]:
            if isinstance(node, Let) and value_node(node.value) in own and not is_word(value_node(node.value)):
                found.setdefault(value_node(node.value), node.variable)
        return found

    def _let(self, node: Let, bound: dict[Variable, Term]) -> None:
        """A `let` that has not been merged; a second name for what has one vanishes, unless it has an annotation."""
        value = self.stands_for(node.value)
        if self.merge and node.variable not in bound and node.variable.type is None:
            self.made[node.variable] = value
        else:
            bound.setdefault(node.variable, value)

    def node(self, node: Term) -> Steps[Term]:
        """A node over what stands for its operands, its branches being blocks."""
        new: list[Term] = []
        for at, operand in enumerate(operands(node)):
            if is_branch(node, at):
                new.append((yield self.block(self.found.inner[node, at], operand)))
            else:
                new.append(self.stands_for(operand))
        return with_operands(node, tuple(new))


def is_word(node: Term) -> bool:
    """Whether a node is as plain as a variable: an atom, or a constructor without fields."""
    if isinstance(node, ATOMS):
        return True
    return isinstance(node, Call) and isinstance(node.function, Constructor) and not node.arguments


def hint(node: Term) -> str:
    """A name for a node: its label, what it calls, or what it is."""
    match node:
        case Call(_, _, _, label) if label:
            return label
        case Call(Primitive(operator)):
            return operator.name
        case Call(Global(name) | Constructor(name)):
            return name.lower()
        case _:
            return "v"
