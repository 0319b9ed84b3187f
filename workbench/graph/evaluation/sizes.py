"""Named dimensions at run time: what the shapes of arguments tell, and whether they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from workbench.errors import CallError
from workbench.graph.evaluation.values import Data
from workbench.graph.terms.datatypes import DataDefinition, Datatypes, Variant
from workbench.graph.terms.dimensions import Dimension, replaced, shown, symbols, value_of
from workbench.graph.terms.dimensions import dimension as made
from workbench.graph.terms.types import DataType, TensorType, TupleType, Type, variables_of
from workbench.graph.typing.state import Check
from workbench.lang.resolve.call_arguments import solve_for

_MOST_VALUES = 1000


def solved_dimensions(
    values: list[tuple[str, Any, Type]], known: Mapping[str, int], datatypes: Datatypes
) -> dict[str, int]:
    """The dimensions that the shapes of values tell, each with the name under which it is given and its type.

    Dimensions that are arithmetic are solved for their one unknown, as long as that finds any.  Of long data only the
    beginning is looked at.  CallError if two shapes disagree.
    """
    return solution(extents(values, datatypes), known)


Extents = list[tuple[str, Dimension, int]]


class Solver:
    """Solves for the dimensions of calls again and again, and remembers what it found for the same extents."""

    def __init__(self, datatypes: Datatypes) -> None:
        self.datatypes = datatypes
        self.found: dict[Any, tuple[Extents, dict[str, int]]] = {}

    def sizes(
        self, values: list[tuple[str, Any, Type]], known: dict[str, int], checks: Sequence[Check]
    ) -> dict[str, int]:  # fmt: skip
        """What `solved_dimensions` finds; CallError if `checks` do not hold."""
        told = extents(values, self.datatypes)
        key = tuple(known.items()), tuple([(id(dim), extent) for _, dim, extent in told]), id(checks)
        if key not in self.found:
            if len(self.found) >= _MOST_VALUES:
                self.found = {}
            self.found[key] = told, _checked(solution(told, known), checks)  # with the dimensions whose ids these are
        return self.found[key][1]


def _checked(sizes: dict[str, int], checks: Sequence[Check]) -> dict[str, int]:
    """The sizes, if what must be equal is."""
    for check in checks:
        names = symbols(check.left) | symbols(check.right)
        if names <= sizes.keys() and value_of(check.left, sizes) != value_of(check.right, sizes):
            given = ", ".join(f"{name} = {sizes[name]}" for name in sorted(names))
            words = f"{shown(check.left)} and {shown(check.right)} must be equal, and {given}"
            raise CallError(f"{check.within}: {check.reason}: {words}")
    return sizes


def extents(values: list[tuple[str, Any, Type]], datatypes: Datatypes) -> Extents:
    """Each dimension of the tensors in some values with its extent, and in words where it is; none twice."""
    every = [each for name, value, of in values for each in _extents(name, value, of, datatypes)]
    return list({(id(dim), extent): (where, dim, extent) for where, dim, extent in reversed(every)}.values())[::-1]


def solution(found: Extents, known: Mapping[str, int]) -> dict[str, int]:
    """The dimensions that extents tell, as `solved_dimensions` finds them."""
    sizes = dict(known)
    origin: dict[str, str] = dict.fromkeys(known, "what was given by name")
    while True:
        before = len(sizes)
        for where, dim, extent in found:
            _solve(where, dim, extent, sizes, origin)
        if len(sizes) == before:
            break
    for where, dim, extent in found:
        if symbols(dim) <= sizes.keys() and value_of(dim, sizes) != extent:
            told = ", ".join(f"{name} = {sizes[name]} from {origin[name]}" for name in sorted(symbols(dim)))
            raise CallError(f"{where} has {extent}: expected {shown(dim)}{f' ({told})' if told else ''}")
    return sizes


def _solve(where: str, dim: Dimension, extent: int, sizes: dict[str, int], origin: dict[str, str]) -> None:
    rest = replaced(dim, {name: made(sizes[name]) for name in symbols(dim) if name in sizes})
    solution = solve_for(rest, symbols(rest))
    offset = solution.rest.constant if solution is not None else None
    if solution is None or offset is None:
        return
    value, remainder = divmod(extent - offset, solution.factor)
    if remainder or value < 0:
        raise CallError(f"{where} has {extent}, which {shown(rest)} never is")
    sizes[solution.name], origin[solution.name] = value, where


def _extents(name: str, value: Any, of: Type, datatypes: Datatypes) -> list[tuple[str, Dimension, int]]:
    """Each dimension of the tensors in a value, with its extent and in words where it is."""
    found: list[tuple[str, Dimension, int]] = []
    stack: list[tuple[Any, Type]] = [(value, of)]
    looked = 0
    fields: dict[tuple[int, str], tuple[Type, ...]] = {}
    while stack and looked < _MOST_VALUES:
        inner, kind = stack.pop()
        looked += 1
        match kind:
            case TensorType(_, dims):
                shape = inner.shape
                found += [(f"{name}, dimension {d}", dim, shape[d]) for d, dim in enumerate(dims)]
            case TupleType(items):
                stack += list(zip(inner, items, strict=True))[::-1]
            case DataType() if isinstance(inner, Data):
                key = id(kind), inner.constructor
                if key not in fields:
                    fields[key] = _fields(kind, datatypes.constructors[inner.constructor])
                stack += list(zip(inner.fields, fields[key], strict=False))[::-1]
            case _:
                pass
    return found


@lru_cache(_MOST_VALUES)
def _fields(of: DataType, made: tuple[DataDefinition, Variant]) -> tuple[Type, ...]:
    """The types of a constructor's fields, the same objects each time; none if they have no dimension."""
    if not _has_dimensions(of):
        return ()
    definition, variant = made
    return tuple(map(_same, definition.field_types(variant, of.arguments)))


@lru_cache(_MOST_VALUES)
def _same(of: Type) -> Type:
    return of


def _has_dimensions(of: Type) -> bool:
    return "dimension" in variables_of(of).values()
