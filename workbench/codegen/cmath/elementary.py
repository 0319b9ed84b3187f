"""Absolute value, sign, rounding, roots: exact functions, on floats and some on integers."""

from __future__ import annotations

from workbench.codegen.cmath import extremes, primitive
from workbench.codegen.cmath.primitive import lanewise, number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value


def builtin(name: str, parameters: str = "$T x") -> Recipe:
    """A compiler builtin (`sqrt`, `floor`, `fma`) on every lane."""
    arguments = ", ".join(f"{{{p.split()[-1]}}}" for p in parameters.split(","))
    return lanewise(f"__builtin_{name}$F({arguments})".replace("$F(", "${F}("), parameters)


def plain(body: str, parameters: str = "$T x", result: str = "$T") -> Recipe:
    """A one-line recipe that is the same for scalars and vectors."""
    return Recipe(f"    {body}", parameters, result, _constants)


def _constants(shape: Shape) -> dict[str, Value]:
    below = 0.5 - 2.0 ** (-25 if shape.bits == 32 else -54)
    return number_constants(shape) | {"BELOW_HALF": below}


PAIR = "$T a, $T b"

RECIPES: dict[str, Recipe] = {
    "abs": plain("return $real($bits(x) & $REST);"),
    "fabs": plain("return $real($bits(x) & $REST);"),
    "copysign": plain("return $real(($bits(a) & $REST) | ($bits(b) & $SIGN));", PAIR),
    "sign": plain("return $select(x > 0, $all(1), $select(x < 0, $all(-1), $select(x == 0, $all(0), x)));"),
    "floor": builtin("floor"),
    "ceil": builtin("ceil"),
    "trunc": builtin("trunc"),
    "round": plain("return $with_sign($trunc($abs(x) + $BELOW_HALF), x);"),
    "sqrt": builtin("sqrt"),
    "rsqrt": plain("return 1 / $sqrt(x);"),
    "fma": builtin("fma", "$T a, $T b, $T c"),
    "fdivide": plain("return a / b;", PAIR),
    "isnan": Recipe("    return x != x;", result="int", scalar_only=True),
    "isinf": Recipe("    return $abs(x) == $INF;", "$T x", "int", number_constants, scalar_only=True),
}

INTEGER_RECIPES: dict[str, Recipe] = {
    "all": primitive.PRIMITIVES["all"],
    "select": primitive.PRIMITIVES["select"],
    **extremes.INTEGER_RECIPES,
}
SIGNED_RECIPES: dict[str, Recipe] = {
    "abs": plain("return $select(x < 0, -x, x);"),
    "sign": plain("return $select(x > 0, $all(1), $select(x < 0, $all(-1), x));"),
    "relu": plain("return $select(x < 0, $all(0), x);"),
}
UNSIGNED_RECIPES: dict[str, Recipe] = {
    "abs": plain("return x;"),
    "sign": plain("return $select(x > 0, $all(1), x);"),
    "relu": plain("return x;"),
}
