"""Irrational constants to 72 digits, cut into floating-point pieces."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np

from workbench.codegen.cmath.shape import Shape

LN2 = Fraction(Decimal("0.693147180559945309417232121458176568075500134360255254120680009493393622"))
LN10 = Fraction(Decimal("2.30258509299404568401799145468436420760110148862877297603332790096757261"))
LOG2_10 = Fraction(Decimal("3.32192809488736234787031942948939017586483139302458061205475639581593478"))
HALF_PI = Fraction(Decimal("1.57079632679489661923132169163975144209858469968755291048747229615390820"))
LOG2_E, LOG10_2, LOG10_E, TWO_OVER_PI = 1 / LN2, 1 / LOG2_10, 1 / LN10, 1 / HALF_PI


def nearest(value: Fraction, shape: Shape) -> float:
    """The value rounded to the element type."""
    return float(np.float32(float(value))) if shape.bits == 32 else float(value)


def truncated(value: Fraction, bits: int) -> Fraction:
    """The leading `bits` bits of a positive value.

    >>> truncated(Fraction(27, 16), 2)
    Fraction(3, 2)
    """
    power = Fraction(2) ** bits
    scale = Fraction(1)
    while value * scale >= power:
        scale /= 2
    while value * scale < power / 2:
        scale *= 2
    return (value * scale).__floor__() / scale


def pieces(value: Fraction, widths: tuple[int, ...], shape: Shape) -> list[float]:
    """Floats that sum to the value: one of each width in bits, then the rest, rounded.

    Products of a piece with an integer of few bits are exact.
    """
    result = []
    for width in widths:
        piece = truncated(value, width)
        result.append(float(piece))
        value -= piece
    return [*result, nearest(value, shape)]
