"""Named dimensions at run time: what the shapes of arguments tell, and whether they agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import CallError
from workbench.graph.evaluation.values import Data
from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.dimensions import Dimension, replaced, shown, symbols, value_of
from workbench.graph.terms.dimensions import dimension as made
from workbench.graph.terms.types import DataType, TensorType, TupleType, Type, variables_of
from workbench.graph.typing.exhaustiveness import applied
from workbench.lang.resolve.call_arguments import solve_for

_MOST_VALUES = 1000


def solved(values: list[tuple[str, Any, Type]], known: Mapping[str, int], datatypes: Datatypes) -> dict[str, int]:
    """The dimensions that the shapes of values tell, each with the name under which it is given and its type.

    Dimensions that are arithmetic are solved for their one unknown, as long as that finds any.  Of long data only the
    beginning is looked at.  CallError if two shapes disagree.
    """
    sizes = dict(known)
    every = [each for name, value, of in values for each in _extents(name, value, of, datatypes)]
    found = list({(id(dim), extent): (where, dim, extent) for where, dim, extent in reversed(every)}.values())[::-1]
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
    same = {of: of}
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
                    inside = _fields(inner.constructor, kind, datatypes)
                    fields[key] = tuple(same.setdefault(field, field) for field in inside)
                stack += list(zip(inner.fields, fields[key], strict=False))[::-1]
            case _:
                pass
    return found


def _fields(constructor: str, of: DataType, datatypes: Datatypes) -> list[Type]:
    """The types of a constructor's fields; none if they have no dimension."""
    if not _has_dimensions(of):
        return []
    definition, variant = datatypes.constructors[constructor]
    meaning = dict(zip(definition.parameters, of.arguments, strict=True))
    return [applied(field, meaning) for field in variant.fields]


def _has_dimensions(of: Type) -> bool:
    return "dimension" in variables_of(of).values()
