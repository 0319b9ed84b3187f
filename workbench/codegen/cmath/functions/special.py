"""Functions C has not, as doubles and one at a time: Bessel I, sin(pi x), norms, reciprocal roots."""

from __future__ import annotations

from workbench.codegen.cmath.coefficients import (
    COSPI_F64,
    I0_LARGE_F64,
    I0_SMALL_F64,
    I1_LARGE_F64,
    I1_SMALL_F64,
    SINPI_F64,
)
from workbench.codegen.cmath.exact import HALF_PI, pieces
from workbench.codegen.cmath.primitive import number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value

BESSEL = """
    $T a = $abs(x), p;
    if (a <= 12) {
        $T z = a * a;
        $horner(s, z, SMALL);
        return s$HALF_X;
    }
    if (a > 720) return $with_sign($INF, $SIGN_OF);
    $T u = 1 / a, e = $exp(0.5 * a);
    $horner(l, u, LARGE);
    p = e * (l / sqrt(a)) * e;
    return $with_sign(p, $SIGN_OF);
"""
# sin(pi x) for shift 0, cos(pi x) for shift 1: x = n/2 + r exactly, and n mod 4 chooses
HALF_TURNS = """
    $T n = __builtin_rint(2 * x), r = x - 0.5 * n, z = r * r;
    int q = (int)(n - 4 * $floor(0.25 * n)) + shift;
    $horner(s, z, SINPI);
    s = r * $PI_HIGH + (r * $PI_LOW + r * z * s);
    $horner(c, z, COSPI);
    c = z * c + 1;
    $T y = q & 1 ? c : s;
    return q & 2 ? 0 - y : y;
"""
SINPI = """
    $T a = $abs(x);
    if (!(a < $INF)) return $NAN;
    if (a == $trunc(a)) return $with_sign(0, x);
    $T y = $half_turns(a, 0);
    return x < 0 ? -y : y;
"""
COSPI = """
    $T a = $abs(x);
    if (!(a < $INF)) return $NAN;
    return a >= 9007199254740992.0 ? 1 : $half_turns(a, 1);
"""
# 1 / cbrt with one step of Newton's iteration
RCBRT = """
    $T r = 1 / cbrt(x);
    return r == 0 || $abs(r) == $INF || r != r ? r : r - r * (x * r * r * r - 1) * $THIRD;
"""
# powers of two that keep the squares in range
SCALE = "    return m > 0x1p500 ? 0x1p-600 : m < 0x1p-400 ? 0x1p600 : 1;"
NAMES = "abcd"


def special_constants(shape: Shape) -> dict[str, Value]:
    """Polynomials of the Bessel functions and of sin(pi r)."""
    high, low = pieces(2 * HALF_PI, (53,), shape)
    parts: dict[str, Value] = {"PI_HIGH": high, "PI_LOW": low, "THIRD": 1 / 3}
    return {**number_constants(shape), **parts, "SINPI": SINPI_F64, "COSPI": COSPI_F64}


def _bessel_i0(shape: Shape) -> dict[str, Value]:
    return {
        **number_constants(shape),
        "SMALL": I0_SMALL_F64,
        "LARGE": I0_LARGE_F64,
        "HALF_X": "",
        "SIGN_OF": "1",
    }


def _bessel_i1(shape: Shape) -> dict[str, Value]:
    odd: dict[str, Value] = {"HALF_X": " * (0.5 * x)", "SIGN_OF": "x"}
    return {**number_constants(shape), "SMALL": I1_SMALL_F64, "LARGE": I1_LARGE_F64, **odd}


def _scalar(body: str, parameters: str = "$T x") -> Recipe:
    return Recipe(body, parameters, constants=special_constants, scalar_only=True)


def _norm(count: int, *, reciprocal: bool) -> Recipe:
    """The Euclidean length of 2 to 4 numbers, or its reciprocal; infinite as soon as one of them is."""
    names = NAMES[:count]
    largest = "$abs(a)"
    for name in names[1:]:
        largest = f"$fmax({largest}, $abs({name}))"
    squares = " + ".join(f"{n} * {n}" for n in names)
    scaled = " ".join(f"{n} = {n} * s;" for n in names)
    result, infinite = ("s / sqrt(n)", "0") if reciprocal else ("sqrt(n) / s", "$INF")
    body = (
        f"    $T m = {largest};\n    if (m == $INF) return {infinite};\n    $T s = $norm_scale(m);\n"
        f"    {scaled}\n    $T n = {squares};\n    return {result};"
    )
    return _scalar(body, ", ".join(f"$T {n}" for n in names))


FLOAT64_RECIPES: dict[str, Recipe] = {
    "cyl_bessel_i0": Recipe(BESSEL, constants=_bessel_i0, scalar_only=True),
    "cyl_bessel_i1": Recipe(BESSEL, constants=_bessel_i1, scalar_only=True),
    "half_turns": _scalar(HALF_TURNS, "$T x, int shift"),
    "sinpi": _scalar(SINPI),
    "cospi": _scalar(COSPI),
    "rcbrt": _scalar(RCBRT),
    "norm_scale": _scalar(SCALE, "$T m"),
    "rhypot": _norm(2, reciprocal=True),
    "norm3d": _norm(3, reciprocal=False),
    "norm4d": _norm(4, reciprocal=False),
    "rnorm3d": _norm(3, reciprocal=True),
    "rnorm4d": _norm(4, reciprocal=True),
}
