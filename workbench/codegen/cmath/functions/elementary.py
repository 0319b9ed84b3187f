"""Absolute value, sign, rounding, roots: exact functions, on floats and some on integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.codegen.cmath import primitive
from workbench.codegen.cmath.functions import extremes
from workbench.codegen.cmath.primitive import lanewise, number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value, Variants, alike, either


def builtin(name: str, native: Mapping[int, Variants], parameters: str = "$T x") -> Recipe:
    """A compiler builtin (`sqrt`, `floor`) on every lane; compilers put nothing into lanes by themselves."""
    arguments = ", ".join(f"{{{p.split()[-1]}}}" for p in parameters.split(","))
    own = lanewise(f"__builtin_{name}$F({arguments})".replace("$F(", "${F}("), parameters)
    return replace(own, native=native, constants=_constants)


def _instruction(text: str, register: str, size: int, feature: str) -> Mapping[int, Variants]:
    """One instruction on x, for vectors of `size` bytes; `register` is the constraint of its operands."""
    body = f'    $T r;\n    __asm__("{text}" : "={register}"(r) : "{register}"(x));\n    return r;'
    return alike(body, {size: feature})


def _rounding(mode: str, arm: str) -> Mapping[int, Variants]:
    """Rounding to an integer: down, up, or towards zero."""
    return either(
        _instruction(f"vrndscalep$KIND ${mode}, %1, %0", "v", 64, "__AVX512F__"),
        _instruction(f"vroundp$KIND ${mode}, %1, %0", "x", 32, "__AVX__"),
        _instruction(f"vroundp$KIND ${mode}, %1, %0", "x", 16, "__AVX__"),
        _instruction(f"roundp$KIND ${mode}, %1, %0", "x", 16, "__SSE4_1__"),
        _instruction(f"{arm} %0.$ARRANGED, %1.$ARRANGED", "w", 16, "__aarch64__"),
    )


ROOTS = either(
    _instruction("vsqrtp$KIND %1, %0", "v", 64, "__AVX512F__"),
    _instruction("vsqrtp$KIND %1, %0", "v", 32, "__AVX__"),
    _instruction("vsqrtp$KIND %1, %0", "v", 16, "__AVX__"),
    _instruction("sqrtp$KIND %1, %0", "x", 16, "__SSE2__"),
    _instruction("fsqrt %0.$ARRANGED, %1.$ARRANGED", "w", 16, "__aarch64__"),
)
_FUSED = '    __asm__("{}" : "+{}"(c) : "{}"(a), "{}"(b));\n    return c;'
FUSED = either(
    alike(_FUSED.format("vfmadd231p$KIND %2, %1, %0", *"vvv"), {16: "__FMA__", 32: "__FMA__", 64: "__AVX512F__"}),
    alike(_FUSED.format("fmla %0.$ARRANGED, %1.$ARRANGED, %2.$ARRANGED", *"www"), {16: "__aarch64__"}),
)


def plain(body: str, parameters: str = "$T x", result: str = "$T") -> Recipe:
    """A one-line recipe that is the same for scalars and vectors."""
    return Recipe(f"    {body}", parameters, result, _constants)


def _constants(shape: Shape) -> dict[str, Value]:
    below = 0.5 - 2.0 ** (-25 if shape.bits == 32 else -54)
    own: dict[str, Value] = {"BELOW_HALF": below, "ARRANGED": "4s" if shape.bits == 32 else "2d"}
    return number_constants(shape) | own | {"DOWN": "$9", "UP": "$10", "TO_ZERO": "$11"}


PAIR = "$T a, $T b"

RECIPES: dict[str, Recipe] = {
    "abs": plain("return $real($bits(x) & $REST);"),
    "fabs": plain("return $real($bits(x) & $REST);"),
    "copysign": plain("return $real(($bits(a) & $REST) | ($bits(b) & $SIGN));", PAIR),
    "sign": plain("return $select(x > 0, $all(1), $select(x < 0, $all(-1), $select(x == 0, $all(0), x)));"),
    "floor": builtin("floor", _rounding("DOWN", "frintm")),
    "ceil": builtin("ceil", _rounding("UP", "frintp")),
    "trunc": builtin("trunc", _rounding("TO_ZERO", "frintz")),
    "round": plain("return $with_sign($trunc($abs(x) + $BELOW_HALF), x);"),
    "sqrt": builtin("sqrt", ROOTS),
    "rsqrt": plain("return 1 / $sqrt(x);"),
    "fma": builtin("fma", FUSED, "$T a, $T b, $T c"),
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
    "abs": plain("return $select(x < 0, ($T)(-($U)x), x);"),
    "sign": plain("return $select(x > 0, $all(1), $select(x < 0, $all(-1), x));"),
    "relu": plain("return $select(x < 0, $all(0), x);"),
}
UNSIGNED_RECIPES: dict[str, Recipe] = {
    "abs": plain("return x;"),
    "sign": plain("return $select(x > 0, $all(1), x);"),
    "relu": plain("return x;"),
}
