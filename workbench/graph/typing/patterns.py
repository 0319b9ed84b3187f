"""Types of patterns: what a pattern binds, given the type of the value."""

from __future__ import annotations

from workbench.graph.terms.nodes import Binder, Construction, Items, Match, Pattern, bound_by
from workbench.graph.terms.types import FunctionType, Quantified, Scheme, TupleType, Type
from workbench.graph.text.cursor import unknown_word
from workbench.graph.typing.schemes import instance
from workbench.graph.typing.state import State
from workbench.wording import number_of


def constructor_type(state: State, name: str) -> FunctionType | None:
    """The type of one use of a constructor, as a function of its fields; None if there is none of that name."""
    found = state.datatypes.constructors.get(name)
    if found is None:
        return None
    definition, variant = found
    whole = FunctionType(variant.fields, definition.applied)
    made = instance(state.unifier, Scheme(tuple(map(Quantified, definition.parameters)), whole))
    assert isinstance(made, FunctionType)
    return made


def bind_anything(state: State, pattern: Pattern) -> None:
    """Let what a pattern binds be of any type: the pattern is wrong, and its body shall be looked at all the same."""
    for variable in bound_by(pattern):
        state.environment[variable] = Scheme((), state.unifier.type())


def bind_pattern(state: State, node: Match, pattern: Pattern, of: Type) -> bool:
    """Give types to what a pattern binds; whether the pattern fits the type, a problem being noted if not."""
    match pattern:
        case Binder(variable):
            state.environment[variable] = Scheme((), of)
            state.types[variable] = of
            state.monomorphic.append(variable)
            return True
        case Construction(name, fields):
            made = constructor_type(state, name)
            if made is None:
                state.complain(node, unknown_word("constructor", name, state.datatypes.constructors))
                return False
            if len(made.parameters) != len(fields):
                wanted = len(made.parameters)
                message = f"{name} has {number_of(wanted, 'field')}: expected {wanted} but found {len(fields)}"
                state.complain(node, message)
                return False
            fits = state.unify(node, of, made.result, f"the pattern {name}")
            return fits and all(
                bind_pattern(state, node, inner, part) for inner, part in zip(fields, made.parameters, strict=True)
            )
        case Items(items):
            parts = tuple(state.unifier.type() for _ in items)
            fits = state.unify(node, of, TupleType(parts), "the pattern of a tuple")
            return fits and all(bind_pattern(state, node, *pair) for pair in zip(items, parts, strict=True))
        case _:
            return True
