"""log, log2, log10, log1p: x = 2^k (1 + f) with 1 + f in sqrt(1/2)..sqrt(2), and log(1 + f) = f + v.

The correction v is small next to f, so that f times the base's factor in two parts, and k times log 2 in
two parts, are added to it last.  Denormals are scaled up first.
"""

from __future__ import annotations

from workbench.codegen.cmath.coefficients import LOG_F32, LOG_F64
from workbench.codegen.cmath.exact import LN2, LOG2_E, LOG10_2, LOG10_E, pieces
from workbench.codegen.cmath.primitive import number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value

ROOT_HALF = {32: 0x3F3504F3, 64: 0x3FE6A09E667F3BCD}


def logarithm_constants(shape: Shape) -> dict[str, Value]:
    """Exponent layout, parts of the base changes, and the polynomial."""
    mantissa, bias, short, unsigned = (23, 127, 15, "u") if shape.bits == 32 else (52, 1023, 41, "ull")
    root = ROOT_HALF[shape.bits]
    result: dict[str, Value] = {
        **number_constants(shape),
        "M": str(mantissa),
        "MANTISSA": f"{(1 << mantissa) - 1:#x}{unsigned}",
        "ROOT": f"{root:#x}{unsigned}",
        "TO_ROOT": f"{(bias << mantissa) - root:#x}{unsigned}",
        "COUNT": f"{(bias + mantissa) << mantissa:#x}{unsigned}",
        "COUNT_VALUE": 2.0**mantissa + bias,
        "SMALLEST": 2.0 ** (1 - bias),
        "SCALE": 2.0 ** (mantissa + 2),
        "SCALED": float(mantissa + 2),
        "TINY": 2.0 ** (-mantissa - 2),
        "INVERSE": f"{2 * bias + 2}",
        "QUARTER": 0.25,
        "LOG": LOG_F32 if shape.bits == 32 else LOG_F64,
    }
    for name, value, width in (("LN2", LN2, short), ("LOG10_2", LOG10_2, short)):
        result[f"{name}_HIGH"], result[f"{name}_LOW"] = pieces(value, (width,), shape)
    for name, value in (("LOG2_E", LOG2_E), ("LOG10_E", LOG10_E)):
        result[f"{name}_HIGH"], result[f"{name}_LOW"] = pieces(value, (mantissa + 1,), shape)
    return result


def _recipe(body: str, parameters: str = "$T x") -> Recipe:
    return Recipe(body, parameters, constants=logarithm_constants)


TAIL_F32 = _recipe(
    """
    $horner(p, f, LOG);
    p = p * f - $HALF;
    return f * f * p + 0;
""",
    "$T f",
)
TAIL_F64 = _recipe(
    """
    $T s = f / (f + 2);
    $T z = s * s;
    $T h = f * $HALF * f + 0;
    $horner(p, z, LOG);
    $T w = z * p + h;
    return s * w - h;
""",
    "$T f",
)
FLOAT32_RECIPES = {"log_tail": TAIL_F32}
FLOAT64_RECIPES = {"log_tail": TAIL_F64}

RECIPES: dict[str, Recipe] = {
    # f, and k by pointer
    "log_split": _recipe(
        """
    $I small = x < $SMALLEST;
    $U i = $bits($select(small, x * $SCALE, x)) + $TO_ROOT;
    *k = $real((i >> $M) | $COUNT) - $select(small, $all($COUNT_VALUE + $SCALED), $all($COUNT_VALUE));
    return $real((i & $MANTISSA) + $ROOT) - 1;
""",
        "$T x, $T *k",
    ),
    # r, but -inf at 0, NaN below, x itself at inf and NaN
    "log_edges": _recipe(
        """
    $T edge = $select(x < 0, $all($NAN), x);
    edge = $select(x == 0, $all(-$INF), edge);
    return $select((x > 0) & (x < $INF), r, edge);
""",
        "$T x, $T r",
    ),
    "log": _recipe("""
    $T k;
    $T f = $log_split(x, &k);
    $T v = k * $LN2_LOW + $log_tail(f);
    $T r = v + f;
    return $log_edges(x, k * $LN2_HIGH + r);
"""),
    "log2": _recipe("""
    $T k;
    $T f = $log_split(x, &k);
    $T r = $log_tail(f) * $LOG2_E_HIGH + 0;
    r = f * $LOG2_E_LOW + r;
    r = f * $LOG2_E_HIGH + r;
    return $log_edges(x, k + r);
"""),
    "log10": _recipe("""
    $T k;
    $T f = $log_split(x, &k);
    $T r = $log_tail(f) * $LOG10_E_HIGH + 0;
    r = f * $LOG10_E_LOW + r;
    r = k * $LOG10_2_LOW + r;
    r = f * $LOG10_E_HIGH + r;
    return $log_edges(x, k * $LOG10_2_HIGH + r);
"""),
    # k from 1 + x rounded; then f = (1 + x) / 2^k - 1 from x itself, with one rounding
    "log1p": _recipe("""
    $T u = x + 1;
    $U e = ($bits(u) + $TO_ROOT) >> $M;
    $T k = $real(e | $COUNT) - $COUNT_VALUE;
    $T s = $real(($INVERSE - e) << $M);
    $T f = x * $QUARTER * s + (s * $QUARTER - 1);
    $T v = k * $LN2_LOW + $log_tail(f);
    $T r = v + f;
    r = $log_edges(u, k * $LN2_HIGH + r);
    return $select($abs(x) < $TINY, x, r);
"""),
}
