"""atan: above 1 it is pi/2 minus that of the reciprocal, up to 1 an odd polynomial.

pi/2 is added in two parts, the small one to the small terms.
"""

from __future__ import annotations

from workbench.codegen.cmath.coefficients import ATAN_F32, ATAN_F64
from workbench.codegen.cmath.exact import HALF_PI, pieces
from workbench.codegen.cmath.primitive import number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value

ATAN = """
    $T a = $abs(x);
    $I large = a > 1;
    $T t = $select(large, $all(-1), a) / $select(large, a, $all(1));
    $T z = t * t;
    $horner(p, z, ATAN);
    $T u = z * p;
    u = t * u + $select(large, $all($HALF_PI_LOW), $all(0));
    u = u + t;
    return $with_sign($select(large, $all($HALF_PI), $all(0)) + u, x);
"""


def _constants(shape: Shape) -> dict[str, Value]:
    high, low = pieces(HALF_PI, (24 if shape.bits == 32 else 53,), shape)
    return {
        **number_constants(shape),
        "HALF_PI": high,
        "HALF_PI_LOW": low,
        "ATAN": ATAN_F32 if shape.bits == 32 else ATAN_F64,
    }


RECIPES: dict[str, Recipe] = {"atan": Recipe(ATAN, constants=_constants)}
