"""float16 and bfloat16: 16 bits to and from float32, rounding to nearest even, by integer operations or F16C.

Adding 0.5 makes the adder round a denormal float16 at its last bit; all other results round in integers,
where a carry may run into the exponent, up to infinity.  Multiplying by a power of two normalises denormals.
The instructions of AVX512-BF16 are not used: they take denormal numbers for zero.
"""

from __future__ import annotations

from workbench.codegen.cmath.primitive import number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value, alike

TO_BF16 = """
    $U u = $bits(x);
    $U r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    r = $bits($select(x == x, $real(r), $real((u >> 16) | 0x40u)));
    return $narrow_half(r);
"""
FROM_BF16 = "    return $real($widen_half(h) << 16);"
TO_F16 = """
    $T a = $at_most($abs(x), $all(65536.0f));
    $U u = $bits(a);
    $U r = (u - 0x38000000u + 0xfffu + ((u >> 13) & 1u)) >> 13;
    $U small = $bits(a + 0.5f) - 0x3f000000u;
    r = $bits($select(a < 0x1p-14f, $real(small), $real(r)));
    r = $bits($select(x == x, $real(r), $real(0x7e00u | (u >> 13 & 0x3ffu))));
    r = r | ($bits(x) >> 16 & 0x8000u);
    return $narrow_half(r);
"""
TO_F16_NATIVE = """
    $H r;
    __asm__("vcvtps2ph $ZERO, %1, %0" : "=v"(r) : "v"(x));
    return r;
"""
FROM_F16_NATIVE = """
    $T r;
    __asm__("vcvtph2ps %1, %0" : "=v"(r) : "vm"(h));
    return r;
"""
F16C = {32: "__F16C__", 64: "__AVX512F__"}
FROM_F16 = """
    $U u = $widen_half(h);
    $T y = $real((u & 0x7fffu) << 13) * 0x1p112f;
    y = $select(y < 65536.0f, y, $real($bits(y) | 0x7f800000u));
    return $real($bits(y) | (u & 0x8000u) << 16);
"""


def half_constants(shape: Shape) -> dict[str, Value]:
    """Those of all numbers, and an immediate operand."""
    return number_constants(shape) | {"ZERO": "$0"}


def _half(scalar: str, vector: str, parameters: str, result: str, instruction: str, features: dict[int, str]) -> Recipe:
    """16 bits to and from 32: compilers make several instructions of a vector's conversion, where one does it."""
    given = '"vm"(h)' if parameters.endswith("h") else '"v"(u)'
    native = f'    {result} r;\n    __asm__("{instruction} %1, %0" : "=v"(r) : {given});\n    return r;'
    return Recipe(
        f"    return {scalar};", parameters, result, number_constants, f"    return {vector};",
        native=alike(native, features),
    )  # fmt: skip


def _recipe(body: str, parameters: str, result: str, native: str | None = None) -> Recipe:
    return Recipe(body, parameters, result, half_constants, native=alike(native, F16C) if native else {})


FLOAT32_RECIPES: dict[str, Recipe] = {
    "widen_half": _half(
        "(uint32_t)h", "__builtin_convertvector(h, $U)", "$H h", "$U", "vpmovzxwd", {32: "__AVX2__", 64: "__AVX512F__"}
    ),
    "narrow_half": _half(
        "($H)u", "__builtin_convertvector(u, $H)", "$U u", "$H", "vpmovdw", {32: "__AVX512VL__", 64: "__AVX512F__"}
    ),
    "to_bf16": _recipe(TO_BF16, "$T x", "$H"),
    "from_bf16": _recipe(FROM_BF16, "$H h", "$T"),
    "to_f16": _recipe(TO_F16, "$T x", "$H", TO_F16_NATIVE),
    "from_f16": _recipe(FROM_F16, "$H h", "$T", FROM_F16_NATIVE),
}
