"""Where cells lie in memory, as polynomials."""

from __future__ import annotations

from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.algebra.polynomial import ZERO, Polynomial, split_linear
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Expr, Index
from workbench.poly.programs.program import Array


def address(array: Array, subscripts: tuple[Expr, ...]) -> Polynomial:
    """Elements from the first one of the array to a cell."""
    offset = ZERO
    for subscript, lower, stride in zip(subscripts, array.lower, array.strides, strict=True):
        offset += (polynomial(subscript) - polynomial(lower)) * polynomial(stride)
    return offset


def address_step(array: Array, subscripts: tuple[Expr, ...], variable: str) -> Polynomial | None:
    """Elements between the cells of neighbouring values of a variable: a number, or a polynomial in the sizes.

    None where they are not the same at every value (a gather, `i / 2`, `i * j`).
    """
    parts = split_linear(address(array, subscripts), Index(variable, INT64))
    return None if parts is None or parts[0].indices else parts[0]
