"""Types of whole models: functions in the order of their calls, those that call each other together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.graph.forms.scopes import Scope, Scopes, common_scope, scopes
from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.dimensions import is_unknown, names_of_sizes
from workbench.graph.terms.nodes import Function, Global, Let, Match, Term, Variable, bound_by
from workbench.graph.terms.types import Scheme, TupleType, Type, variables_of
from workbench.graph.terms.walking import Steps, postorder, run
from workbench.graph.typing.inference import Inference
from workbench.graph.typing.messages import raise_complaints
from workbench.graph.typing.operator_calls import settle_calls
from workbench.graph.typing.schemes import declared, generalised, is_annotated, written_type
from workbench.graph.typing.state import Check, Place, State


@dataclass(frozen=True)
class Typing:
    """The types of a model: of its functions by name, of its nodes, and the checks that only a run can make."""

    schemes: dict[str, Scheme]
    types: dict[Term, Type]
    checks: tuple[Check, ...]


def infer(functions: Mapping[str, Function], datatypes: Datatypes, source: str = "") -> Typing:
    """The types of all functions; ModelError with one problem a mistake, placed in the source if there is one."""
    state = State(functions, datatypes)
    if all([_well_formed(state, name, function) for name, function in functions.items()]):
        for name, function in functions.items():
            if is_annotated(function):
                state.schemes[name] = Scheme(declared(function, ()), written_type(function))
        for group in _groups(functions):
            _infer_group(state, group)
    raise_complaints(state.complaints, source)
    types = {node: state.unifier.resolved(of) for node, of in state.types.items()}
    return Typing(state.schemes, types, _checks(state))


# --- groups


def _infer_group(state: State, group: list[str]) -> None:
    """Types of functions that call each other; those that do not say theirs have one type inside the group."""
    inference = Inference(state)
    unwritten = [name for name in group if not is_annotated(state.functions[name])]
    for name in unwritten:
        state.schemes[name] = Scheme((), state.unifier.type())
    for name in group:
        state.within, function = name, state.functions[name]
        state.crossing = scopes(function).used_across()
        found = run(inference.function(function))
        state.types[function] = found.type
        if name in unwritten:
            state.unify(function, state.schemes[name].type, found.type, f"{name} has one type within its own group")
    settle_calls(state, final_from=0)
    state.settle()
    _generalise(state, unwritten)


def _generalise(state: State, names: list[str]) -> None:
    """Unknowns are quantified, those that several functions share with one name."""
    if not names:
        return
    written = {name: declared(state.functions[name], ()) for name in names}
    taken = {each.name for own in written.values() for each in own}
    every = TupleType(tuple(state.schemes[name].type for name in names))
    found = generalised(state.unifier, every, set(), (), taken)
    state.settle()
    for name in names:
        of = state.unifier.resolved(state.schemes[name].type)
        inside = variables_of(of)
        made = tuple(each for each in found.variables if each.name in inside)
        state.schemes[name] = Scheme((*written[name], *made), of)


def _groups(functions: Mapping[str, Function]) -> list[list[str]]:
    """Strongly connected components of the calls (Tarjan, 1972), callees first; a written type cuts a call."""
    calls = {name: _called(functions, function) for name, function in functions.items()}
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> Steps[None]:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in calls[name]:
            if other not in number:
                yield visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            at = stack.index(name)
            found.append(stack[at:])
            del stack[at:]

    for name in functions:
        if name not in number:
            run(visit(name))
    return found


def _called(functions: Mapping[str, Function], function: Function) -> list[str]:
    """The functions that one calls and that do not say their types."""
    names = dict.fromkeys(node.name for node in postorder(function) if isinstance(node, Global))
    return [name for name in names if name in functions and not is_annotated(functions[name])]


# --- scopes


def _well_formed(state: State, name: str, function: Function) -> bool:
    """Whether each variable is bound once and used inside what binds it."""
    state.within = name
    found = scopes(function)
    bound: dict[Variable, Scope] = {}
    before = len(state.complaints)
    for node in found.home:
        for variable, scope in _bindings(found, node):
            if variable in bound or variable in state.bound:
                state.complain(node, f"{variable.name} is bound twice", "copies need new variables: refreshed(term)")
            bound[variable] = scope
    state.bound.update(bound)
    for node, home in found.home.items():
        if isinstance(node, Variable) and node not in bound:
            state.complain(node, f"{node.name} is used where nothing has bound it")
        elif isinstance(node, Variable) and common_scope(home, bound[node]) is not bound[node]:
            state.complain(node, f"{node.name} is used outside what binds it")
    return len(state.complaints) == before


def _bindings(found: Scopes, node: Term) -> list[tuple[Variable, Scope]]:
    match node:
        case Function(parameters):
            return [(variable, found.inner[node, 0]) for variable in parameters]
        case Let(variable):
            return [(variable, found.home[node])]
        case Match(_, clauses):
            pairs = enumerate(clauses, 1)
            return [(variable, found.inner[node, at]) for at, each in pairs for variable in bound_by(each.pattern)]
        case _:
            return []


# --- checks


def _checks(state: State) -> tuple[Check, ...]:
    """What only a run can decide, each once for each function; what is not told even there is left to the operators."""
    found: dict[tuple[object, object], Check] = {}
    for equation in state.unifier.checks:
        place = equation.place
        left, right = map(state.unifier.resolved_dimension, (equation.left, equation.right))
        difference = left - right
        if not difference or any(map(is_unknown, names_of_sizes(difference))) or not isinstance(place, Place):
            continue
        key = (place.function, frozenset((difference, -difference)))
        check = Check(left, right, place.reason, place.within, place.function, place.node.span)
        found.setdefault(key, check)
    return tuple(found.values())
