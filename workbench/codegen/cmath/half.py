"""float16 and bfloat16: 16 bits to and from float32, rounding to nearest even, with integer operations only.

Adding 0.5 makes the adder round a denormal float16 at its last bit; all other results round in integers,
where a carry may run into the exponent, up to infinity.  Multiplying by a power of two normalises denormals.
"""

from __future__ import annotations

from workbench.codegen.cmath.primitive import number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value
from workbench.lang.dtypes import UINT16

TO_BF16 = """
    $U u = $bits(x);
    $U r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    r = $bits($select(x == x, $real(r), $real((u >> 16) | 0x40u)));
    return ${NARROW}(r${END});
"""
FROM_BF16 = "    return $real(${WIDEN}(h${WIDE_END}) << 16);"
TO_F16 = """
    $T a = $at_most($abs(x), $all(65536.0f));
    $U u = $bits(a);
    $U r = (u - 0x38000000u + 0xfffu + ((u >> 13) & 1u)) >> 13;
    $U small = $bits(a + 0.5f) - 0x3f000000u;
    r = $bits($select(a < 0x1p-14f, $real(small), $real(r)));
    r = $bits($select(x == x, $real(r), $real(0x7e00u | (u >> 13 & 0x3ffu))));
    r = r | ($bits(x) >> 16 & 0x8000u);
    return ${NARROW}(r${END});
"""
FROM_F16 = """
    $U u = ${WIDEN}(h${WIDE_END});
    $T y = $real((u & 0x7fffu) << 13) * 0x1p112f;
    y = $select(y < 65536.0f, y, $real($bits(y) | 0x7f800000u));
    return $real($bits(y) | (u & 0x8000u) << 16);
"""


def half_constants(shape: Shape) -> dict[str, Value]:
    """The stored type, and the conversions between 16 and 32 bits."""
    stored = Shape(UINT16, shape.lanes).type
    own: dict[str, Value] = {"NARROW": f"({stored})", "WIDEN": "(uint32_t)", "END": "", "WIDE_END": ""}
    if shape.lanes > 1:
        convert = "__builtin_convertvector"
        own |= {"NARROW": convert, "WIDEN": convert, "END": f", {stored}", "WIDE_END": f", {shape.unsigned}"}
    return number_constants(shape) | own


def _recipe(body: str, parameters: str, result: str) -> Recipe:
    return Recipe(body, parameters, result, half_constants)


FLOAT32_RECIPES: dict[str, Recipe] = {
    "to_bf16": _recipe(TO_BF16, "$T x", "$H"),
    "from_bf16": _recipe(FROM_BF16, "$H h", "$T"),
    "to_f16": _recipe(TO_F16, "$T x", "$H"),
    "from_f16": _recipe(FROM_F16, "$H h", "$T"),
}
