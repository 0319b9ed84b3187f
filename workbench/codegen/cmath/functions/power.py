"""pow: 2^(y log2 |x|) with the logarithm to more bits than the result, then signs and special cases.

float32 computes both in doubles.  float64 carries log2 |x| and the product with y in two parts.  A first
part keeps 26 bits (`head`), so that its products are exact and fusing them changes nothing.
"""

from __future__ import annotations

from fractions import Fraction

from workbench.codegen.cmath.coefficients import EXP_F32_WIDE, LOG_F32_WIDE, POW_F64
from workbench.codegen.cmath.exact import LN2, LOG2_E, nearest, pieces
from workbench.codegen.cmath.functions.exponential import exponent_constants
from workbench.codegen.cmath.functions.logarithm import logarithm_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value
from workbench.lang.dtypes import FLOAT64


def power_constants(shape: Shape) -> dict[str, Value]:
    """Those of exp and log in doubles, and the factor 2/(3 log 2) in two parts."""
    double = Shape(FLOAT64, shape.lanes)
    third = pieces(Fraction(2, 3) * LOG2_E, (26,), double)
    return {
        **exponent_constants(shape),
        **logarithm_constants(shape),
        "HEAD": "0xfffffffff8000000ull",
        "THIRD_HIGH": third[0],
        "THIRD_LOW": third[1],
        "THIRD": sum(third),
        "LOG2_E": double.literal(nearest(LOG2_E, double)),
        "LN2": double.literal(nearest(LN2, double)),
        "Y_LIMIT": 2.0**40 if shape.bits == 32 else 2.0**66,
        "E_LIMIT": 300.0 if shape.bits == 32 else 1100.0,
        "SHIFT_D": double.literal(1.5 * 2.0**52 + 1023),
        "POW": POW_F64,
        "HALF3": 1.5,
        "LOG_WIDE": LOG_F32_WIDE,
        "EXP_WIDE": EXP_F32_WIDE,
    }


def _recipe(body: str, parameters: str = "$T x", *, wide: bool = False) -> Recipe:
    return Recipe(body, parameters, constants=power_constants, wide=wide)


WIDE_RECIPES: dict[str, Recipe] = {
    # log2 of a positive double to 40 bits
    "log2_short": _recipe("""
    $T k;
    $T f = $log_split(x, &k);
    $T s = f / (f + 2);
    $T z = s * s;
    $horner(p, z, LOG_WIDE);
    p = p * z + 2;
    return s * p * $LOG2_E + k;
"""),
    # 2^x to 35 bits
    "exp2_short": _recipe("""
    $T t = x + $SHIFT_D;
    $T r = (x - (t - $SHIFT_D)) * $LN2;
    $horner(p, r, EXP_WIDE);
    p = p * r + 1;
    p = p * r + 1;
    return p * $real($bits(t) << 52);
"""),
    "head": _recipe("    return $real($bits(x) & $HEAD);"),
    # log2 of a positive double: 26 bits returned, the rest by pointer
    "log2_parts": _recipe(
        """
    $T k;
    $T f = $log_split(x, &k);
    $T d = f + 2;
    $T v = 1 / d;
    $T s = f * v;
    $T s1 = $head(s);
    $T d1 = $head(d);
    $T s0 = ((f - s1 * d1) - s1 * (f - (d1 - 2))) * v;
    $T z = s * s;
    $horner(p, z, POW);
    $T q = s1 * s1;
    $T c = p * $HALF3;
    c = z * z * c + (s0 * (s1 + s) + 0);
    $T m1 = $head(q + c + 3);
    $T m0 = c - ((m1 - 3) - q);
    $T a = s1 * m1;
    $T b = s0 * m1 + (m0 * s + 0);
    $T e1 = $head(a + b);
    $T e0 = b - (e1 - a);
    $T g = e1 * $THIRD_HIGH;
    $T h = e1 * $THIRD_LOW + (e0 * $THIRD + 0);
    $T l = $head(g + h + k);
    *low = h - ((l - k) - g);
    return l;
""",
        "$T x, $T *low",
    ),
}

_FLOAT32 = _recipe(
    """
    $T b = $at_least($at_most(y, $all($Y_LIMIT)), $all(-$Y_LIMIT));
    $D e = $widen(b) * $D.log2_short($widen($abs(x)));
    e = $D.at_least($D.at_most(e, $D.all($E_LIMIT)), $D.all(-$E_LIMIT));
    return $pow_edges(x, y, $narrow($D.exp2_short(e)));
""",
    "$T x, $T y",
    wide=True,
)
_FLOAT64 = _recipe(
    """
    $T b = $at_least($at_most(y, $all($Y_LIMIT)), $all(-$Y_LIMIT));
    $T low, high = $log2_parts($abs(x), &low);
    $T b1 = $head(b);
    $T e = b1 * high;
    $T e0 = (b - b1) * high + (b * low + 0);
    e = $at_least($at_most(e, $all($E_LIMIT)), $all(-$E_LIMIT));
    e0 = $at_least($at_most(e0, $all($HALF)), $all(-$HALF));
    $T t = (e + e0) + $SHIFT2;
    $T r = (e - (t - $SHIFT2)) + e0;
    return $pow_edges(x, y, $exp_scaled(r * $LN2, t));
""",
    "$T x, $T y",
)
# zero and infinite bases, NaN, signs by the parity of y, 1 for x = 1 and y = 0
EDGES = _recipe(
    """
    $T a = $abs(x), h = y * $HALF;
    $I whole = $trunc(y) == y;
    $I odd = whole & ($trunc(h) != h);
    $T edge = $select((a > 1) ^ (y < 0), $all($INF), $all(0));
    r = $select((a == 0) | (a == $INF), edge, r);
    r = $select((x != x) | (y != y), x + y, r);
    r = $select(odd, $with_sign(r, x), r);
    r = $select((x < 0) & (x > -$INF) & (whole == 0), $all($NAN), r);
    return $select((x == 1) | (y == 0), $all(1), r);
""",
    "$T x, $T y, $T r",
)
RECIPES: dict[str, Recipe] = {"pow_edges": EDGES}
FLOAT32_RECIPES: dict[str, Recipe] = {"pow": _FLOAT32}
FLOAT64_RECIPES: dict[str, Recipe] = {"pow": _FLOAT64, **WIDE_RECIPES}
