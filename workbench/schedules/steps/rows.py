"""Arithmetic on time components: floor, remainder, sums, with the simplifications that keep them readable."""

from __future__ import annotations

from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Const, Expr, integer


def quotient(row: Expr, size: int) -> Expr:
    """floor(row / size)."""
    if size == 1:
        return row
    match row:
        case Const(value, _):
            return integer(int(value) // size)
        case Binary("/", inner, Const(divisor, _), _):
            return quotient(inner, int(divisor) * size)
    return Binary("/", row, integer(size), INT32)


def remainder(row: Expr, size: int) -> Expr:
    """row - size * floor(row / size)."""
    if size == 1:
        return integer(0)
    match row:
        case Const(value, _):
            return integer(int(value) % size)
        case Binary("%", inner, Const(modulus, _), _) if int(modulus) % size == 0:
            return remainder(inner, size)
    return Binary("%", row, integer(size), INT32)


def plus(a: Expr, b: Expr) -> Expr:
    """a + b."""
    match a, b:
        case Const(0, _), _:
            return b
        case _, Const(0, _):
            return a
    return Binary("+", a, b, INT32)


def times(factor: int, row: Expr) -> Expr:
    """factor * row."""
    if factor == 1:
        return row
    return Binary("*", integer(factor), row, INT32)
