"""The identity element of a reduction, as a constant of the target's type."""

from __future__ import annotations

from math import inf

from workbench.lang.dtypes import DType
from workbench.lang.expr import Const, Expr
from workbench.lang.operator import Monoid


def identity(reduction: str | Monoid | None, position: int, dtype: DType) -> Expr:
    """0 for +, 1 for *, the largest value (or inf) for min, the smallest (or -inf) for max; a monoid says
    its own.

    `position` is the target's place in a tuple statement.
    """
    if isinstance(reduction, Monoid):
        return reduction.identity[position]
    largest = inf if dtype.is_float else True if dtype.kind == "bool" else _limits(dtype)[1]
    smallest = -inf if dtype.is_float else False if dtype.kind == "bool" else _limits(dtype)[0]
    zero = 0.0 if dtype.is_float else 0
    value = {"+": zero, "*": zero + 1, "min": largest, "max": smallest}[reduction or "+"]
    return Const(bool(value) if dtype.kind == "bool" else value, dtype)


def _limits(dtype: DType) -> tuple[int, int]:
    if dtype.kind == "uint":
        return 0, (1 << dtype.bits) - 1
    return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
