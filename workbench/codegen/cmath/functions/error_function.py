"""erf and its family: erf is a polynomial up to 1 and 1 - exp(polynomial) above.

erfcx comes from one polynomial on the whole half-line in (x - c) / (x + c); normcdf is erfcx with the
square of its argument in two parts; the inverses improve a crude start by Halley's iteration.
"""

from __future__ import annotations

from workbench.codegen.cmath.coefficients import (
    ERF_LARGE_F32,
    ERF_LARGE_F64,
    ERF_SMALL_F32,
    ERF_SMALL_F64,
    ERFCX_F64,
)
from workbench.codegen.cmath.functions.exponential import exponent_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value

ERF = """
    $T a = $at_most($abs(x), $all($LAST));
    $T z = a * a;
    $horner(p, z, SMALL);
    p = p * a + a;
    $horner(w, a, LARGE);
    w = w * a;
    $T t = w * $LOG2_E + $SHIFT1;
    $T n = t - $SHIFT1;
    $T r = w - n * $LN2_HIGH;
    r = r - n * $LN2_LOW;
    $horner(e, r, EXP);
    e = e * r + 1;
    e = e * r + 1;
    e = 1 - e * $real($bits(t) << $M);
    return $with_sign($select(a < 1, p, e), x);
"""
ERFCX = """
    if ($abs(x) < 0.5) return $exp(x * x) * (1 - $erf(x));
    if (x < 0) {
        $T h = $head(x), square = (x - h) * (x + h);
        return x < -27 ? $INF : 2 * $exp(h * h) * $exp(square) - $erfcx_right(-x);
    }
    return $erfcx_right(x);
"""
ERFCX_RIGHT = """
    if (x > 1e15) return 0.56418958354775629 / x;
    $T t = (x - 3.75) / (x + 3.75);
    $horner(p, t, ERFCX);
    return p / (1 + 2 * x);
"""
NORMCDF = """
    if (x != x) return x;
    $T a = $abs(x);
    if (a < 0.5) return 0.5 + 0.5 * $erf(x * 0.70710678118654752);
    if (a > 40) return x > 0 ? 1 : 0;
    $T h = $head(a), y = a * 0.70710678118654752;
    $T tail = 0.5 * $exp(-0.5 * h * h) * $exp(-0.5 * (a - h) * (a + h)) * $erfcx_right(y);
    return x > 0 ? 1 - tail : tail;
"""
ERFINV = """
    $T a = $abs(x);
    if (!(a < 1)) return a == 1 ? $with_sign($INF, x) : $NAN;
    if (a > 0.5) return $with_sign($erfcinv_left(1 - a), x);
    if (a < 1e-9) return x * 0.88622692545275801;
    $T y = a * (0.88622692545275801 + 0.275 * a * a);
    for (int i = 0; i < 2; i++) {
        $T d = ($erf(y) - a) * 0.88622692545275801 * $exp(y * y);
        y = y - d / (1 + y * d);
    }
    return $with_sign(y, x);
"""
ERFCINV = """
    if (!(x >= 0 && x <= 2)) return $NAN;
    if (x > 0.5 && x < 1.5) return $erfinv(1 - x);
    return x > 1 ? -$erfcinv_left(2 - x) : $erfcinv_left(x);
"""
# Solves log erfc(y) = log x for x <= 1/2, where log erfc is smooth and steep.
ERFCINV_LEFT = """
    if (x == 0) return $INF;
    $T l = $log(x), y = sqrt(-l - 0.5 * $log(-l));
    y = x > 0.1 ? 1.25 - 1.6 * x : y;
    for (int i = 0; i < 3; i++) {
        $T s = $erfcx_right(y), g = 1.1283791670955126 / s;
        $T d = ($log(s) - l - y * y) / g;
        y = y + d / (1 - d * (y - 0.5 * g));
    }
    return y;
"""
NORMCDFINV = """
    if (x > 0.25 && x < 0.75) return 1.4142135623730951 * $erfinv(2 * x - 1);
    return -1.4142135623730951 * (x > 0.5 ? -$erfcinv(2 * (1 - x)) : $erfcinv(2 * x));
"""


def error_constants(shape: Shape) -> dict[str, Value]:
    """Those of exp, and the polynomials."""
    single = shape.bits == 32
    return {
        **exponent_constants(shape),
        "SMALL": ERF_SMALL_F32 if single else ERF_SMALL_F64,
        "LARGE": ERF_LARGE_F32 if single else ERF_LARGE_F64,
        "LAST": 4.0 if single else 5.95,
        "ERFCX": ERFCX_F64,
    }


def _scalar(body: str) -> Recipe:
    return Recipe(body, constants=error_constants, scalar_only=True)


RECIPES: dict[str, Recipe] = {"erf": Recipe(ERF, constants=error_constants)}
FLOAT64_RECIPES: dict[str, Recipe] = {
    "erfcx_right": _scalar(ERFCX_RIGHT),
    "erfcx": _scalar(ERFCX),
    "normcdf": _scalar(NORMCDF),
    "erfcinv_left": _scalar(ERFCINV_LEFT),
    "erfinv": _scalar(ERFINV),
    "erfcinv": _scalar(ERFCINV),
    "normcdfinv": _scalar(NORMCDFINV),
}
