"""`inline`: the body of a function stands where it is called."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.graph.models import Model
from workbench.graph.passes.support.copying import copied, is_told, meaning_at, names_used
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.rewriting import each_function, recursive, rewritten
from workbench.graph.terms.dimensions import symbols
from workbench.graph.terms.nodes import ATOMS, Call, Function, Global, Let, Term, Variable
from workbench.graph.terms.types import ElementVariable, FunctionType, Quantified, variables_of
from workbench.graph.terms.walking import postorder, with_operands
from workbench.graph.typing.schemes import Meaning, own_dimensions
from workbench.records import record


@record
class Inline(ModelPass):
    """A call of a function of the model that does not call itself becomes its body, its parameters bound by lets.

    before → after:  f(a)   →   let x = a; body

    Dimensions and types that the body mentions are put in the words of the place where it is called.  Functions of more
    than `most_nodes` nodes stay, but for those that are called once.  A local function that is called where it stands
    becomes its body as well.
    """

    most_nodes: int = 200

    def apply(self, model: Model) -> Model:
        again = recursive(model)
        for name in model.functions:
            if name not in again and self._fits(model, name):
                model = _without_calls(model, name)
        return each_function(model, _applied)

    def _fits(self, model: Model, name: str) -> bool:
        nodes = postorder(*model.functions.values())
        if sum(isinstance(node, Global) and node.name == name for node in nodes) == 0 or name == model.entry:
            return False
        return sum(not isinstance(node, ATOMS) for node in postorder(model.functions[name])) <= self.most_nodes


def inline(*, most_nodes: int = 200) -> Inline:
    """Calls of functions that do not call themselves become their bodies, up to so many nodes each."""
    return Inline(most_nodes)


def _without_calls(model: Model, name: str) -> Model:
    """The model with the calls of one function replaced."""
    target, scheme = model.functions[name], model.scheme_of(name)
    used = names_used(target)
    types = model.typing.types
    own = own_names(target, scheme.variables)

    def change(node: Term, inside: tuple[Term, ...]) -> Term:
        new = with_operands(node, inside)
        if not (isinstance(new, Call) and isinstance(new.function, Global) and new.function.name == name):
            return new
        assert isinstance(node, Call)
        assert isinstance(scheme.type, FunctionType)
        pairs = zip((*scheme.type.parameters, scheme.type.result), (*node.arguments, node), strict=True)
        told = [(of, types[term]) for of, term in pairs if term in types]
        meaning = meaning_at(scheme.variables, [of for of, _ in told], [of for _, of in told])
        if not is_told(scheme.variables, meaning, used) or own & _names(meaning):
            return new
        return bound(target, new.arguments, meaning)

    return each_function(model, lambda function: function if function is target else rewritten(function, change))


def bound(function: Function, arguments: Iterable[Term], meaning: Meaning) -> Term:
    """The body of a function, copied, with its parameters bound to arguments in order."""
    variables = [Variable(each.name) for each in function.parameters]
    body = copied(function.body, dict(zip(function.parameters, variables, strict=True)), meaning)
    for variable, argument in reversed(list(zip(variables, arguments, strict=True))):
        body = Let(variable, argument, body)
    return body


def own_names(function: Function, outer: Iterable[Quantified]) -> set[str]:
    """Names that functions inside declare themselves."""
    around = {each.name for each in outer}
    found: set[str] = set()
    for node in postorder(function.body):
        if isinstance(node, Function):
            found |= {each.name for each in node.quantified} | set(own_dimensions(node, around))
    return found


def _names(meaning: Meaning) -> set[str]:
    """Names of the place where a function is called that its meaning mentions."""
    found = {name for of in meaning.types.values() for name in variables_of(of)}
    found |= {of.name for of in meaning.elements.values() if isinstance(of, ElementVariable)}
    return found | {name for of in meaning.dims.values() for name in symbols(of)}


def _applied(function: Function) -> Function:
    """Functions that are called where they stand become lets, if they declare no names of their own."""

    def change(node: Term, inside: tuple[Term, ...]) -> Term:
        new = with_operands(node, inside)
        if not (isinstance(new, Call) and isinstance(new.function, Function)):
            return new
        called = new.function
        if names_used(called) or any(each.type for each in called.parameters):
            return new
        return bound(called, new.arguments, Meaning())

    return rewritten(function, change)
