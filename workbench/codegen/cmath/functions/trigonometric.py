"""sin and cos: |x| = n pi/2 + y, the two polynomials in y, chosen and signed by n mod 4.

float32 reduces in doubles.  Beyond 2^19 it multiplies by 2/pi piece by piece, each product of 24 and 24 bits
exact and taken modulo 4, so that nothing is lost up to the largest float (Payne and Hanek's idea without
integers).  A vector goes lane by lane as soon as one lane needs that.  float64 subtracts n times pi/2 in four
parts while n has 20 bits and leaves larger arguments to the C library.
"""

from __future__ import annotations

from workbench.codegen.cmath.coefficients import COS_F32, COS_F64, SIN_F32, SIN_F64
from workbench.codegen.cmath.exact import HALF_PI, TWO_OVER_PI, nearest, pieces
from workbench.codegen.cmath.primitive import number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value
from workbench.lang.dtypes import FLOAT64

PARTS = 8


def trigonometric_constants(shape: Shape) -> dict[str, Value]:
    """Pieces of pi/2 and 2/pi as doubles, limits, polynomials."""
    double = Shape(FLOAT64)
    widths = (33,) if shape.bits == 32 else (33, 33, 33)
    turns = pieces(TWO_OVER_PI, (24,) * (PARTS - 1), double)
    return {
        **number_constants(shape),
        **{f"PI_{i}": double.literal(p) for i, p in enumerate(pieces(HALF_PI, widths, double))},
        **{f"TURN_{i}": double.literal(p) for i, p in enumerate(turns)},
        "TWO_OVER_PI": double.literal(nearest(TWO_OVER_PI, double)),
        "HALF_PI": double.literal(nearest(HALF_PI, double)),
        "SHIFT_D": double.literal(1.5 * 2.0**52),
        "SHIFT": 1.5 * 2.0 ** (23 if shape.bits == 32 else 52),
        "LIMIT": 2.0**19 if shape.bits == 32 else 2.0**20,
        "TOP": str(shape.bits - 2),
        "SIN": SIN_F32 if shape.bits == 32 else SIN_F64,
        "COS": COS_F32 if shape.bits == 32 else COS_F64,
    }


def _recipe(body: str, parameters: str = "$T x", *, scalar_only: bool = False) -> Recipe:
    return Recipe(body, parameters, constants=trigonometric_constants, scalar_only=scalar_only)


NEAR_F32 = _recipe(
    """
    $D a = $widen(x);
    $D n = (a * $TWO_OVER_PI + $SHIFT_D) - $SHIFT_D;
    a = a - n * $PI_0;
    a = a - n * $PI_1;
    *q = $bits($narrow(n) + $SHIFT);
    return $narrow(a);
""",
    "$T x, $U *q",
)
NEAR_F64 = _recipe(
    """
    $T t = x * $TWO_OVER_PI + $SHIFT;
    $T n = t - $SHIFT;
    $T a = x - n * $PI_0;
    a = a - n * $PI_1;
    a = a - n * $PI_2;
    a = a - n * $PI_3;
    *q = $bits(t);
    return a;
""",
    "$T x, $U *q",
)
STEP = """
    t = a * $TURN_{i};
    t = t - 4 * __builtin_rint(t * 0.25);
    s = s + t;
    t = __builtin_rint(s);
    n = n + t;
    s = s - t;"""
FAR_F32 = _recipe(
    "\n    double a = x, s = 0, n = 0, t;"
    + "".join(STEP.format(i=i) for i in range(PARTS))
    + """
    *q = (uint32_t)$D.bits(n + $SHIFT_D);
    return (float)(s * $HALF_PI);
""",
    "$T x, $U *q",
    scalar_only=True,
)
TURNS_F32 = _recipe("    return x > $LIMIT ? $turns_far(x, q) : $turns_near(x, q);", "$T x, $U *q", scalar_only=True)

# (-1)^(q/2) times sin y, or cos y for odd q
QUARTERS = _recipe(
    """
    $T z = y * y;
    $horner(s, z, SIN);
    s = s * z * y + y;
    $horner(c, z, COS);
    c = c * z - $HALF;
    c = c * z + 1;
    return $real($bits($select((q & 1) == 0, s, c)) ^ ((q & 2) << $TOP));
""",
    "$T y, $U q",
)
FAR_LANES = """
    if ($any($abs(x) > $LIMIT)) {{
        $T y = x;
        ${name}_lanes(&y);
        return y;
    }}
"""
RESULT = {
    "sin": "    return $real($bits($quarters(y, q)) ^ ($bits(x) & $SIGN));",
    "cos": "    return $quarters(y, q + 1);",
}


def _lanes(name: str) -> Recipe:
    """The scalar function on every lane, in memory and out of line."""
    body = f"    for (int l = 0; l < $LANES; l++) (*x)[l] = $S.{name}((*x)[l]);"
    return Recipe(body, "$T *x", "void", number_constants, cold=True)


def _float32(name: str) -> Recipe:
    reduce = "    $U q;\n    $T y = $turns{near}($abs(x), &q);\n"
    vector = FAR_LANES.format(name=name) + reduce.format(near="_near") + RESULT[name]
    scalar = reduce.format(near="") + RESULT[name]
    return Recipe(scalar, constants=trigonometric_constants, vector_body=vector, wide=True)


def _float64(name: str) -> Recipe:
    reduce = "    $U q;\n    $T y = $turns_near($abs(x), &q);\n"
    scalar = f"    if ($abs(x) > $LIMIT) return {name}(x);\n" + reduce + RESULT[name]
    vector = FAR_LANES.format(name=name) + reduce + RESULT[name]
    return Recipe(scalar, constants=trigonometric_constants, vector_body=vector)


FLOAT32_RECIPES: dict[str, Recipe] = {
    "turns_near": NEAR_F32,
    "turns_far": FAR_F32,
    "turns": TURNS_F32,
    "sin": _float32("sin"),
    "cos": _float32("cos"),
}
FLOAT64_RECIPES: dict[str, Recipe] = {"turns_near": NEAR_F64, "sin": _float64("sin"), "cos": _float64("cos")}
RECIPES: dict[str, Recipe] = {
    "quarters": QUARTERS,
    "sin_lanes": _lanes("sin"),
    "cos_lanes": _lanes("cos"),
}
