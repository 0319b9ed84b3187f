"""Functions in inference: what is in scope inside, and what is generalised behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.graph.terms.dimensions import is_unknown
from workbench.graph.terms.nodes import Function, Let, Term, Variable
from workbench.graph.terms.types import FunctionType, Quantified, Scheme, Type, variables_of
from workbench.graph.typing.annotations import check_annotation
from workbench.graph.typing.operator_calls import settle_calls
from workbench.graph.typing.schemes import allowed_elements, declared, generalised, is_annotated, written_parts
from workbench.graph.typing.state import State


@dataclass
class Entered:
    """What was so before a function was entered, and its type as far as it is written."""

    dims: dict[str, None]
    variables: dict[str, str]
    monomorphic: int
    own: tuple[Quantified, ...]
    type: FunctionType


def enter(state: State, node: Function, name: Variable | None) -> Entered:
    """Bring the parameters of a function, its variables and dimensions into scope, and its own name."""
    own = declared(node, state.dims)
    before = (state.dims, state.variables, len(state.monomorphic))
    for each in node.quantified:
        if each.name in state.variables:
            state.complain(node, f"the type variable {each.name!r} is declared around already", "choose another name")
    state.dims = state.dims | {each.name: None for each in own if each.kind == "dimension"}
    state.variables = state.variables | {each.name: each.kind for each in node.quantified}
    for each in node.quantified:
        among = allowed_elements(each)
        state.unifier.classes.pop(each.name, None)
        if among is not None:
            state.unifier.classes[each.name] = among
    for of in written_parts(node):
        check_annotation(state, node, of)
    parameters = tuple(_parameter(state, each) for each in node.parameters)
    whole = FunctionType(parameters, node.result or state.unifier.type())
    entered = Entered(*before, own, whole)
    if name is not None:
        state.environment[name] = Scheme(own if is_annotated(node) else (), whole)
        state.monomorphic.append(name)
        entered.monomorphic += 1
    for variable, of in zip(node.parameters, parameters, strict=True):
        state.environment[variable] = Scheme((), of)
        state.types[variable] = of
        state.monomorphic.append(variable)
    state.around.append(node)
    return entered


def _parameter(state: State, variable: Variable) -> Type:
    """The written type of a parameter, or an unknown; one that a builder made already has its own."""
    known = state.environment.get(variable)
    return variable.type or (known.type if known is not None else state.unifier.type())


def leave(state: State, node: Function, entered: Entered, found: Type, *, named: bool) -> Scheme:
    """The scheme of a function whose body has been looked at."""
    place = node if isinstance(node.body, Variable | Let) else node.body
    if state.unify(place, entered.type.result, found, "the result of the function"):
        _check_told(state, node)
    state.settle()
    settle_calls(state, final_from=len(state.around) if named else None)
    state.around.pop()
    del state.monomorphic[entered.monomorphic - (1 if named else 0) :]
    outer = _names(state, state.monomorphic)
    _check_escape(state, node, entered.own, outer)
    state.dims, state.variables = entered.dims, entered.variables
    if not named:
        return Scheme(entered.own, entered.type)
    taken = {*state.dims, *state.variables}
    scheme = generalised(state.unifier, entered.type, outer | _crossing(state), entered.own, taken)
    state.settle()
    return scheme


def _check_told(state: State, node: Function) -> None:
    """Report dimensions of a written result that no parameter tells, and that no size of a call is made of either."""
    if node.result is None:
        return
    told = set(state.sizes)
    for each in node.parameters:
        told |= variables_of(state.unifier.resolved(state.types[each])).keys()
    for name, kind in variables_of(node.result).items():
        if kind == "dimension" and name not in told:
            fix = "write what it is made of, or leave out the type of the result"
            state.complain(node, f"no parameter tells the dimension {name} of the result", fix)


def _names(state: State, variables: Iterable[Variable]) -> set[str]:
    """Names of what varies in the types of variables that are not generalised."""
    found: set[str] = set()
    for variable in variables:
        found |= variables_of(state.unifier.resolved(state.environment[variable].type)).keys()
    return found


def _crossing(state: State) -> set[str]:
    """Unknowns in the types of nodes that several scopes share, which are not a local function's to generalise."""
    found: set[str] = set()
    for node in state.crossing:
        if node in state.types:
            found |= variables_of(state.unifier.resolved(state.types[node])).keys()
    return {name for name in found if is_unknown(name)}


def _check_escape(state: State, node: Term, own: tuple[Quantified, ...], outer: set[str]) -> None:
    for each in own:
        if each.name in outer:
            message = f"the {each.kind} {each.name} is the function's own, and something outside depends on it"
            state.complain(node, message, "what is outside must not be made of it; write its type there")
