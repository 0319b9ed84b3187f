"""Derives the polynomial coefficients of `workbench/codegen/cmath/coefficients.py`.

    python tools/minimax.py > workbench/codegen/cmath/coefficients.py

Each polynomial minimises the largest weighted error on an interval (Remez exchange on a Chebyshev grid,
in 60 digits); the leading terms are kept out of the fit, so that rounding the coefficients costs little.
Errors go to stderr as powers of two.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import fill

import numpy as np
from mpmath import mp, mpf

Real = Callable[[mpf], mpf]
GRID = 600
mp.dps = 60


@dataclass(frozen=True)
class Fit:
    """`f(x)` as `sum c_k x**k`, k <= degree, on `low..high`; the error is multiplied by `weight`."""

    name: str
    f: Real
    weight: Real
    low: mpf
    high: mpf
    degree: int
    bits: int
    comment: str


def chebyshev_grid(low: mpf, high: mpf, count: int) -> list[mpf]:
    """Points that crowd at both ends, where the extrema of a minimax error lie."""
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def horner(coefficients: Sequence[mpf], x: mpf) -> mpf:
    value = mpf(0)
    for c in reversed(coefficients):
        value = value * x + c
    return value


def alternation(errors: list[mpf], count: int) -> list[int]:
    """Indices of `count` extrema of alternating sign, the largest ones."""
    extrema: list[int] = []
    for i, error in enumerate(errors):
        if extrema and (error > 0) == (errors[extrema[-1]] > 0):
            if abs(error) > abs(errors[extrema[-1]]):
                extrema[-1] = i
        else:
            extrema.append(i)
    while len(extrema) > count:
        extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
    return extrema


def remez(xs: list[mpf], ys: list[mpf], ws: list[mpf], degree: int) -> list[mpf]:
    """Coefficients that level the weighted error on the grid."""
    size = degree + 2
    nodes = [round((i + 0.5) * (len(xs) - 1) / size) for i in range(size)]
    coefficients: list[mpf] = []
    for _ in range(15):
        rows = [[xs[n] ** p for p in range(degree + 1)] + [(-1) ** i / ws[n]] for i, n in enumerate(nodes)]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([ys[n] for n in nodes]))
        coefficients = list(solution)[:-1]
        errors = [w * (y - horner(coefficients, x)) for x, y, w in zip(xs, ys, ws, strict=True)]
        following = alternation(errors, size)
        if len(following) < size or following == nodes:
            break
        nodes = following
    return coefficients


def rounded(value: mpf, bits: int) -> float:
    return float(np.float32(float(value))) if bits == 32 else float(value)


def minimax(fit: Fit) -> tuple[list[float], mpf]:
    """Coefficients rounded to the format of `fit`, and the largest weighted error they leave."""
    xs = chebyshev_grid(mpf(fit.low), mpf(fit.high), GRID)
    ys, ws = [fit.f(x) for x in xs], [fit.weight(x) for x in xs]
    result = [rounded(c, fit.bits) for c in remez(xs, ys, ws, fit.degree)]
    exact = [mpf(c) for c in result]
    return result, max(abs(w * (y - horner(exact, x))) for x, y, w in zip(xs, ys, ws, strict=True))


def series_tail(f: Real, taylor: Sequence[mpf], first: int) -> Real:
    """`(f(x) - the first Taylor terms) / x**first`, by its own Taylor sum when x is tiny."""

    def tail(x: mpf) -> mpf:
        with mp.workdps(120):
            head = sum((c * x**k for k, c in enumerate(taylor)), mpf(0))
            return (f(x) - head) / x**first

    return tail


LN2 = mp.log(2)
ROOT = mp.sqrt(2)


def exponential(name: str, degree: int, bits: int) -> Fit:
    half = LN2 / 2 * mpf("1.0002")
    return Fit(
        name,
        series_tail(mp.exp, [mpf(1), mpf(1)], 2),
        lambda x: x * x / mp.exp(x),
        -half,
        half,
        degree,
        bits,
        "(e^r - 1 - r) / r^2",
    )


def logarithm(name: str, degree: int, bits: int) -> Fit:
    return Fit(
        name,
        series_tail(mp.log1p, [mpf(0), mpf(1), mpf(-0.5)], 3),
        lambda x: x**3 / mp.log1p(x),
        1 / ROOT - 1,
        ROOT - 1,
        degree,
        bits,
        "(log(1+f) - f + f^2/2) / f^3",
    )


def _atanh_tail(z: mpf) -> mpf:
    s = mp.sqrt(z)
    return 2 * (mp.atanh(s) - s) / (s * z)


def inverse_tangent(name: str, degree: int, bits: int, low: int = 1) -> Fit:
    high = ((ROOT - 1) / (ROOT + 1)) ** 2
    if low == 1:
        return Fit(
            name, _atanh_tail, lambda z: z, mpf(10) ** -12, high, degree, bits, "2 (atanh s - s) / s^3 in s^2"
        )
    return Fit(
        name,
        lambda z: (_atanh_tail(z) - mpf(2) / 3) / z,
        lambda z: z * z,
        mpf(10) ** -10,
        high,
        degree,
        bits,
        "2 (atanh s - s - s^3/3) / s^5 in s^2",
    )


def arc_tangent(name: str, degree: int, bits: int) -> Fit:
    return Fit(
        name,
        lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
        lambda z: z * mp.sqrt(z) / mp.atan(mp.sqrt(z)),
        mpf(10) ** -12,
        mpf(1),
        degree,
        bits,
        "(atan s - s) / s^3 in s^2",
    )


def sine(name: str, degree: int, bits: int) -> Fit:
    return Fit(
        name,
        lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
        lambda z: z,
        mpf(10) ** -12,
        (mp.pi / 4 * mpf("1.001")) ** 2,
        degree,
        bits,
        "(sin r - r) / r^3 in r^2",
    )


def cosine(name: str, degree: int, bits: int) -> Fit:
    return Fit(
        name,
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
        lambda z: z**2,
        mpf(10) ** -12,
        (mp.pi / 4 * mpf("1.001")) ** 2,
        degree,
        bits,
        "(cos r - 1 + r^2/2) / r^4 in r^2",
    )


def error_small(name: str, high: float, degree: int, bits: int) -> Fit:
    return Fit(
        name,
        lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
        lambda z: 1,
        mpf(10) ** -12,
        mpf(high) ** 2,
        degree,
        bits,
        "erf(x)/x - 1 in x^2",
    )


def error_large(name: str, low: float, high: float, degree: int, bits: int) -> Fit:
    return Fit(
        name,
        lambda x: mp.log(mp.erfc(x)) / x,
        lambda x: x * mp.erfc(x),
        mpf(low),
        mpf(high),
        degree,
        bits,
        "log(erfc(x)) / x",
    )


def scaled_erfc(name: str, centre: float, degree: int) -> Fit:
    def f(t: mpf) -> mpf:
        x = centre * (1 + t) / (1 - t)
        with mp.workdps(60):
            tail = mp.exp(x * x) * mp.erfc(x) if x < 100 else _erfc_asymptotic(x)
        return tail * (1 + 2 * x)

    return Fit(
        name,
        f,
        lambda t: 1 / f(t),
        mpf(-1),
        mpf(1),
        degree,
        64,
        f"(1 + 2 x) e^(x^2) erfc(x) in (x - {centre:g}) / (x + {centre:g})",
    )


def _erfc_asymptotic(x: mpf) -> mpf:
    total, term = mpf(0), mpf(1)
    for n in range(1, 14):
        total += term
        term *= -(2 * n - 1) / (2 * x * x)
    return total / (x * mp.sqrt(mp.pi))


def bessel_small(name: str, order: int, high: float, degree: int) -> Fit:
    def f(z: mpf) -> mpf:
        x = mp.sqrt(z)
        return mp.besseli(order, x) / (x / 2 if order else 1)

    return Fit(
        name,
        f,
        lambda z: 1 / f(z),
        mpf(10) ** -12,
        mpf(high) ** 2,
        degree,
        64,
        f"I{order}(x){' / (x/2)' if order else ''} in x^2",
    )


def bessel_large(name: str, order: int, low: float, degree: int) -> Fit:
    def f(u: mpf) -> mpf:
        x = 1 / u
        return mp.besseli(order, x) * mp.exp(-x) * mp.sqrt(x)

    return Fit(
        name,
        f,
        lambda u: 1 / f(u),
        1 / mpf(720),
        1 / mpf(low),
        degree,
        64,
        f"sqrt(x) e^-x I{order}(x) in 1/x",
    )


def sine_pi(name: str, degree: int) -> Fit:
    return Fit(
        name,
        lambda z: (mp.sin(mp.pi * mp.sqrt(z)) / mp.sqrt(z) - mp.pi) / z,
        lambda z: z,
        mpf(10) ** -12,
        mpf("0.0626"),
        degree,
        64,
        "(sin(pi r) - pi r) / r^3 in r^2",
    )


def cosine_pi(name: str, degree: int) -> Fit:
    return Fit(
        name,
        lambda z: (mp.cos(mp.pi * mp.sqrt(z)) - 1) / z,
        lambda z: z,
        mpf(10) ** -12,
        mpf("0.0626"),
        degree,
        64,
        "(cos(pi r) - 1) / r^2 in r^2",
    )


FITS = (
    exponential("EXP_F32", 4, 32),
    exponential("EXP_F64", 9, 64),
    exponential("EXP_F32_WIDE", 6, 64),
    logarithm("LOG_F32", 7, 32),
    inverse_tangent("LOG_F64", 6, 64),
    inverse_tangent("LOG_F32_WIDE", 4, 64),
    inverse_tangent("POW_F64", 6, 64, 2),
    sine("SIN_F32", 2, 32),
    cosine("COS_F32", 2, 32),
    sine("SIN_F64", 5, 64),
    cosine("COS_F64", 5, 64),
    arc_tangent("ATAN_F32", 8, 32),
    arc_tangent("ATAN_F64", 19, 64),
    error_small("ERF_SMALL_F32", 1.0, 6, 32),
    error_large("ERF_LARGE_F32", 1.0, 4.0, 6, 32),
    error_small("ERF_SMALL_F64", 1.0, 12, 64),
    error_large("ERF_LARGE_F64", 1.0, 5.95, 17, 64),
    scaled_erfc("ERFCX_F64", 3.75, 23),
    bessel_small("I0_SMALL_F64", 0, 12.0, 19),
    bessel_large("I0_LARGE_F64", 0, 12.0, 20),
    bessel_small("I1_SMALL_F64", 1, 12.0, 19),
    bessel_large("I1_LARGE_F64", 1, 12.0, 20),
    sine_pi("SINPI_F64", 6),
    cosine_pi("COSPI_F64", 7),
)


def main(names: Sequence[str]) -> None:
    """Prints the module with every polynomial, or only those named."""
    print('"""Polynomial coefficients, lowest power first.  Written by tools/minimax.py; do not edit."""')
    for fit in FITS:
        if names and fit.name not in names:
            continue
        coefficients, worst = minimax(fit)
        bits = float(mp.log(worst, 2)) if worst else float("-inf")
        print(f"{fit.name}: 2^{bits:.1f}", file=sys.stderr)
        print(f"\n# {fit.comment}; weighted error 2^{bits:.1f}\n{fit.name} = (")
        print(fill(", ".join(map(repr, coefficients)), 100, initial_indent="    ", subsequent_indent="    "))
        print(")  # fmt: skip")


if __name__ == "__main__":
    main(sys.argv[1:])
