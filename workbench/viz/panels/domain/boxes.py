"""The values that dims take while the loops around them stand at an iteration, and the boxes of cells these touch."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from workbench.lang.algebra.folding import fold
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Size, Unary, index_names
from workbench.poly.programs.program import ProgramStatement

Values = dict[str, Any]  # dim → the values that it takes, ascending
Box = tuple[tuple[int, int], ...]


def at_iteration(values: Values, row: Expr, nth: int, sizes: Mapping[str, int]) -> Values | None:
    """The values left when a loop with this row stands at its first (nth = 0) or second iteration.

    None where there is no second one.  A row over several dims that still move holds the one with the most values.
    """
    free = [d for d in index_names(row) if len(values[d]) > 1]
    if not free:
        return values if nth == 0 else None
    moving = max(free, key=lambda d: len(values[d]))
    known = {**sizes, **{d: int(v[0]) for d, v in values.items()}}
    dates = _dates(row, known, moving, values[moving])
    different = np.flatnonzero(dates != dates[0])
    if nth and not len(different):
        return None
    return {**values, moving: values[moving][dates == dates[different[0] if nth else 0]]}


def _dates(row: Expr, known: Mapping[str, int], moving: str, values: Any) -> Any:
    """What a row is at each value of one dim: at all of them at once, where none decides what the others do."""
    try:
        return np.broadcast_to(np.asarray(fold(row, {**known, moving: values})), values.shape)
    except ValueError:  # of min, max and conditions each value has its own branch
        return np.array([fold(row, {**known, moving: int(value)}) for value in values])


def iterations(before: Values, after: Values) -> float:
    """How many iterations lead from the one to the other; a rest that is smaller counts as a fraction."""
    return max(1.0, prod(len(before[d]) for d in before) / max(1, prod(len(after[d]) for d in after)))


def held_box(own: ProgramStatement, subscripts: tuple[Expr, ...], values: Values, sizes: Mapping[str, int]) -> Box:
    """The range of each subscript; ValueError or KeyError where data decide it."""
    ranges = {d: (int(values[d][0]), int(values[d][-1])) for d in own.dims}
    return tuple(span(e, ranges, sizes) for e in subscripts)


def span(expr: Expr, ranges: Mapping[str, tuple[int, int]], sizes: Mapping[str, int]) -> tuple[int, int]:
    """Least and greatest value of an expression, by the corners of each operation."""
    match expr:
        case Const(value, _):
            return int(value), int(value)
        case Size(name, _):
            return sizes[name], sizes[name]
        case Index(name, _):
            return ranges[name]
        case Binary("%", left, Const() as right, _):
            low, high = span(left, ranges, sizes)
            size = int(right.value)
            same = size > 0 and low // size == high // size
            return (low % size, high % size) if same else (0, abs(size) - 1)
        case Binary("+" | "-" | "*" | "/" as op, left, right, dtype):
            a, b = span(left, ranges, sizes), span(right, ranges, sizes)
            corners = [fold(Binary(op, Const(x, dtype), Const(y, dtype), dtype), {}) for x in a for y in b]
            return min(corners), max(corners)
        case Unary("-", operand, _):
            low, high = span(operand, ranges, sizes)
            return -high, -low
        case Call("min" | "max" as name, arguments, _):
            ends = [span(a, ranges, sizes) for a in arguments]
            chosen = min if name == "min" else max
            return chosen(low for low, _ in ends), chosen(high for _, high in ends)
    raise ValueError(f"{expr} is no integer arithmetic")


def hull(boxes: list[Box]) -> Box:
    """The smallest box around some."""
    return tuple((min(low for low, _ in ends), max(high for _, high in ends)) for ends in zip(*boxes, strict=True))


def cells(box: Box) -> int:
    """Number of cells of a box."""
    return prod(high - low + 1 for low, high in box)


def common(a: Box, b: Box) -> int:
    """Number of cells that two boxes share."""
    return prod(max(0, min(h, j) - max(g, i) + 1) for (g, h), (i, j) in zip(a, b, strict=True))
