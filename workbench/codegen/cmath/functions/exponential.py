"""exp, exp2, exp10, expm1, tanh, sigmoid, logsigmoid: x = n log 2 + r, a polynomial in r, and n put into the exponent.

Adding `SHIFT` = 1.5 2^(mantissa bits) rounds to an integer and leaves it in the low bits of the sum; the
exponent's bias rides along.  Results near the ends of the range are scaled in two steps, so that they
overflow to infinity and underflow through denormals with one rounding, as `vscalefps` does in one.  The clamps pass
NaN on.
"""

from __future__ import annotations

from workbench.codegen.cmath.coefficients import EXP_F32, EXP_F64
from workbench.codegen.cmath.exact import LN2, LN10, LOG2_10, LOG2_E, LOG10_2, nearest, pieces
from workbench.codegen.cmath.primitive import number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value, alike

RANGES: dict[int, dict[str, Value]] = {
    32: {
        "EXP_LOW": -104.0, "EXP_HIGH": 89.0, "EXP2_LOW": -151.0, "EXP2_HIGH": 129.0, "EXP10_LOW": -45.5,
        "EXP10_HIGH": 38.625, "MINUS_ONE": -18.0, "TANH_HIGH": 20.0, "TINY": 2.0**-25,
    },
    64: {
        "EXP_LOW": -746.0, "EXP_HIGH": 710.0, "EXP2_LOW": -1076.0, "EXP2_HIGH": 1025.0, "EXP10_LOW": -324.0,
        "EXP10_HIGH": 308.5, "MINUS_ONE": -38.0, "TANH_HIGH": 40.0, "TINY": 2.0**-54,
    },
}  # fmt: skip


def exponent_constants(shape: Shape) -> dict[str, Value]:
    """Shifts, ranges and parts of log 2 for a type of 8 or 11 exponent bits."""
    mantissa, bias, short = (23, 127, 15) if shape.bits == 32 else (52, 1023, 41)
    ln2, log10_2 = pieces(LN2, (short,), shape), pieces(LOG10_2, (short,), shape)
    shift = 1.5 * 2.0**mantissa
    return {
        **number_constants(shape), **RANGES[shape.bits],
        "M": str(mantissa), "SHIFT2": shift + 2 * bias, "SHIFT1": shift + bias,
        "SHIFT_HALF": shift + bias - 1,
        "LOG2_E": nearest(LOG2_E, shape), "LN2": nearest(LN2, shape), "LN2_HIGH": ln2[0], "LN2_LOW": ln2[1],
        "LOG2_10": nearest(LOG2_10, shape), "LN10": nearest(LN10, shape),
        "LOG10_2_HIGH": log10_2[0], "LOG10_2_LOW": log10_2[1],
        "EXP": EXP_F32 if shape.bits == 32 else EXP_F64,
    }  # fmt: skip


def _recipe(body: str, parameters: str = "$T x") -> Recipe:
    return Recipe(body, parameters, constants=exponent_constants)


REDUCE = """
    $T n = t - $SHIFT2;
    $T r = y - n * $LN2_HIGH;
    r = r - n * $LN2_LOW;
"""

POLYNOMIAL = """
    $horner(p, r, EXP);
    p = p * r + 1;
    p = p * r + 1;"""

SCALED = """
    $T n = t - $SHIFT2;
    __asm__("vscalefp$KIND %1, %0, %0" : "+v"(p) : "v"(n));
    return p;
"""

RECIPES: dict[str, Recipe] = {
    # e^r 2^n, where the low bits of t hold n plus twice the bias
    "exp_scaled": Recipe(
        POLYNOMIAL
        + """
    $U i = $bits(t);
    $U h = (i >> 1) << $M;
    return p * $real(h) * $real((i << $M) - h);
""",
        "$T r, $T t",
        constants=exponent_constants,
        native=alike(POLYNOMIAL + SCALED, {64: "__AVX512F__"}),
    ),
    # e^r - 1
    "expm1_small": _recipe(
        """
    $horner(p, r, EXP);
    return r * r * p + r;
""",
        "$T r",
    ),
    "exp": _recipe(
        """
    $T y = $at_least($at_most(x, $all($EXP_HIGH)), $all($EXP_LOW));
    $T t = y * $LOG2_E + $SHIFT2;"""
        + REDUCE
        + """
    return $exp_scaled(r, t);
"""
    ),
    "exp2": _recipe("""
    $T y = $at_least($at_most(x, $all($EXP2_HIGH)), $all($EXP2_LOW));
    $T t = y + $SHIFT2;
    return $exp_scaled((y - (t - $SHIFT2)) * $LN2, t);
"""),
    "exp10": _recipe("""
    $T y = $at_least($at_most(x, $all($EXP10_HIGH)), $all($EXP10_LOW));
    $T t = y * $LOG2_10 + $SHIFT2;
    $T n = t - $SHIFT2;
    $T r = y - n * $LOG10_2_HIGH;
    r = r - n * $LOG10_2_LOW;
    return $exp_scaled(r * $LN10, t);
"""),
    "expm1": _recipe("""
    $T y = $at_least($at_most(x, $all($EXP_HIGH)), $all($MINUS_ONE));
    $T t = y * $LOG2_E + $SHIFT_HALF;
    $T n = t - $SHIFT_HALF;
    $T r = y - n * $LN2_HIGH;
    r = r - n * $LN2_LOW;
    $T h = $real($bits(t) << $M);
    $T e = $expm1_small(r) * h + (h - $HALF);
    return $select($abs(x) < $TINY, x, e + e);
"""),
    "tanh": _recipe("""
    $T y = $abs(x);
    y = $at_most(y + y, $all($TANH_HIGH));
    $T t = y * $LOG2_E + $SHIFT1;
    $T n = t - $SHIFT1;
    $T r = y - n * $LN2_HIGH;
    r = r - n * $LN2_LOW;
    $T s = $real($bits(t) << $M);
    $T e = $expm1_small(r) * s + (s - 1);
    return $with_sign(e / (e + 2), x);
"""),
    "sigmoid": _recipe("""
    $T e = $exp(-$abs(x));
    return $select(x < 0, e, $all(1)) / (1 + e);
"""),
    "logsigmoid": _recipe("""
    return $select(x < 0, x, $all(0)) - $log1p($exp(-$abs(x)));
"""),
    # of infinities that are equal, too
    "logaddexp": _recipe(
        """
    $T d = $select(x == y, $all(0), x - y);
    return $select(x > y, x, y) + $log1p($exp(-$abs(d)));
""",
        "$T x, $T y",
    ),
}
