"""Reductions as expressions: their identity elements, and what an update makes of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from workbench.lang.dtypes import DType
from workbench.lang.expr import Binary, Call, Const, Expr, transform
from workbench.lang.operator import Monoid


def identity(reduction: str | Monoid, position: int, dtype: DType) -> Expr:
    """The identity as a constant of the target's type; `position` is the target's place in a tuple statement."""
    if isinstance(reduction, Monoid):
        return reduction.identity[position]
    return Const(neutral(reduction, dtype), dtype)


def neutral(reduction: str, dtype: DType) -> int | float | bool:
    """0 for `+`, 1 for `*`, the largest value (or inf) for `min`, the smallest (or -inf) for `max`.

    >>> from workbench.lang.dtypes import FLOAT32, INT8, UINT8
    >>> neutral("min", FLOAT32), neutral("max", INT8), neutral("min", UINT8), neutral("*", FLOAT32)
    (inf, -128, 255, 1.0)
    """
    if dtype.is_float:
        return {"+": 0.0, "*": 1.0, "min": inf, "max": -inf}[reduction]
    if dtype.kind == "bool":
        return reduction in ("*", "min")
    low = 0 if dtype.kind == "uint" else -(1 << (dtype.bits - 1))
    return {"+": 0, "*": 1, "min": low + (1 << dtype.bits) - 1, "max": low}[reduction]


def combined(reduction: str | Monoid, position: int, cells: Sequence[Expr], values: Sequence[Expr]) -> tuple[Expr, ...]:
    """What a target holds after an update by contributions, by what stood in all targets' cells.

    Both ways to write it where exchanging the operands changes no bit.

    >>> from workbench.lang.dtypes import FLOAT32
    >>> from workbench.lang.expr import Read
    >>> old, new = Read("C", (), FLOAT32), Const(2.0, FLOAT32)
    >>> [(e.left, e.right) for e in combined("+", 0, [old], [new])] == [(old, new), (new, old)]
    True
    """
    if isinstance(reduction, Monoid):
        known = dict(zip((*reduction.left, *reduction.right), (*cells, *values), strict=True))
        return (transform(reduction.combine[position], lambda n: known.get(getattr(n, "tensor", ""), n)),)
    old, new = cells[position], values[position]
    if reduction in "+*":
        return tuple(Binary(reduction, *pair, old.dtype) for pair in ((old, new), (new, old)))
    return tuple(Call(reduction, pair, old.dtype) for pair in ((old, new), (new, old)))
