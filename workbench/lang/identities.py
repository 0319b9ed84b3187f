"""The identity elements of reductions."""

from __future__ import annotations

from math import inf

from workbench.lang.dtypes import DType
from workbench.lang.expr import Const, Expr
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
