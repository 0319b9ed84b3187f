"""Sizes of a call: from the shapes of its arrays, checked against every dimension."""

from __future__ import annotations

from typing import Any

from workbench.errors import CallError
from workbench.lang.algebra.folding import fold
from workbench.lang.binding.types import Slot
from workbench.lang.expr import Const, Expr, size_names
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import show

Shapes = list[tuple[Slot, tuple[int, ...]]]


def solve_sizes(
    op: Operator,
    inputs: list[tuple[Slot, Any]],
    outputs: list[tuple[Slot, Any]],
    wanted: frozenset[str],
    sizes: dict[str, int],
) -> None:
    """Complete `sizes` from the shapes and check every dimension; CallError if the arrays disagree."""
    shapes = [(slot, _shape(op, slot, array)) for slot, array in inputs]
    results = [(slot, _shape(op, slot, array)) for slot, array in outputs]
    telling = shapes + [(slot, shape) for slot, shape in results if op.tensors[slot.name].role == "inout"]
    for slot, shape in telling:
        for dimension, name in slot.symbols:
            extent = shape[dimension]
            if sizes.setdefault(name, extent) != extent:
                raise _mismatch(op, telling, (slot, dimension), name, sizes[name], extent)
    if len(sizes) < len(wanted):
        _solve_others(telling, sizes)
        _check_solved(op, wanted, sizes)
    for slot, shape in shapes:
        for dimension, extent in slot.others:
            _check_extent(op, slot, dimension, extent, shape[dimension], sizes)
    for slot, shape in results:
        for dimension, extent in enumerate(op.tensors[slot.name].extent):
            _check_extent(op, slot, dimension, extent, shape[dimension], sizes)


def _check_solved(op: Operator, wanted: frozenset[str], sizes: dict[str, int]) -> None:
    missing = sorted(wanted - sizes.keys())
    if missing:
        known = ", ".join(f"{name}={value}" for name, value in sizes.items()) or "nothing"
        raise CallError(f"{op.name}: no shape tells {missing[0]}; give it as {missing[0]}=... (known: {known})")


def _shape(op: Operator, slot: Slot, array: Any) -> tuple[int, ...]:
    shape = tuple(array.shape)
    if len(shape) != slot.rank:
        plural = "s" if slot.rank != 1 else ""
        raise CallError(
            f"{op.name}: {slot.name} expected a tensor with {slot.rank} dimension{plural} "
            f"but found {len(shape)} (shape {shape})"
        )
    return shape


def _mismatch(
    op: Operator, telling: Shapes, place: tuple[Slot, int], name: str, previous: int, found: int
) -> CallError:
    source = "the keyword"
    for other, shape in telling:
        places = [d for d, symbol in other.symbols if symbol == name and shape[d] == previous]
        if places:
            source = f"{other.name}, dimension {places[0]}"
            break
    return CallError(
        f"{op.name}: mismatched sizes for {name}: {name} = {previous} from {source}; "
        f"{place[0].name}, dimension {place[1]} has {found}"
    )


def _solve_others(telling: Shapes, sizes: dict[str, int]) -> None:
    """Dimensions that are arithmetic, each solved for its one unknown, as long as that finds any."""
    equations = [(extent, shape[dimension]) for slot, shape in telling for dimension, extent in slot.others]
    progress = True
    while progress:
        progress = False
        for expr, extent in equations:
            unknown = size_names(expr) - sizes.keys()
            if len(unknown) == 1:
                (name,) = unknown
                value = _root(expr, name, extent, sizes)
                if value is not None:
                    sizes[name], progress = value, True


def _root(expr: Expr, name: str, extent: int, sizes: dict[str, int]) -> int | None:
    """The value of `name` at which a linear expression is `extent`; rounded down, the check comes later."""
    at_0, at_1, at_2 = (fold(expr, {**sizes, name: x}) for x in (0, 1, 2))
    slope = at_1 - at_0
    return (extent - at_0) // slope if slope and at_2 - at_1 == slope else None


def _check_extent(op: Operator, slot: Slot, dimension: int, extent: Expr, found: int, sizes: dict[str, int]) -> None:
    expected = max(0, fold(extent, sizes))
    if expected != found:
        where = f"{op.name}: {slot.name}, dimension {dimension}"
        if isinstance(extent, Const):
            raise CallError(f"{where} expected the constant size {expected} but found {found}")
        known = ", ".join(f"{name} = {sizes[name]}" for name in sorted(size_names(extent)))
        raise CallError(f"{where} expected {show(extent)} = {expected} ({known}) but found {found}")


def check_conditions(op: Operator, sizes: dict[str, int]) -> None:
    """CallError if a condition of the operator does not hold for these sizes."""
    for condition in op.conditions:
        if not fold(condition.expr, sizes):
            known = ", ".join(f"{name} = {sizes[name]}" for name in sorted(size_names(condition.expr)))
            raise CallError(f"{op.name}: {show(condition.expr)} does not hold for {known}: {condition.reason}")
