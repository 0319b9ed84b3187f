"""Minimum, maximum, clamps and ReLU: one instruction of x86 each, and one more where NaN has to come through.

`min` and `max` pass NaN on from either side, `fmin` and `fmax` take the number.  `vminps` and `vmaxps` give their
second operand where a comparison fails, which settles one side; the other one's NaN goes around them.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.codegen.cmath.primitive import number_constants
from workbench.codegen.cmath.shape import Shape
from workbench.codegen.cmath.template import Recipe, Value, alike

SHORT = {16: "__AVX__", 32: "__AVX__"}
FLOATS = SHORT | {64: "__AVX512F__"}
PAIR = "$T a, $T b"


def _bounded(body: str, instruction: str, operands: str, parameters: str) -> Recipe:
    """One instruction: of two numbers, or the second operand if either is NaN."""
    native = f"    $T r;\n{_assembly(instruction, operands)}    return r;"
    return Recipe(f"    return {body};", parameters, constants=number_constants, native=alike(native, FLOATS))


def _assembly(instruction: str, operands: str) -> str:
    return f'    __asm__("{instruction}p$KIND %1, %2, %0" : "=v"(r) : {operands});\n'


def _extreme(comparison: str, instruction: str, watched: str) -> Recipe:
    """The lesser or greater; a, if `watched` is NaN; b, if the other one is."""
    body = f"    return $select((a {comparison} b) | ({watched} != {watched}), a, b);"
    chosen = _assembly(instruction, '"vm"(b), "v"(a)')
    short = f"    $T r;\n{chosen}    return $select({watched} != {watched}, a, r);"
    masked = (
        f'    uint16_t k;\n    __asm__("vcmpordp$KIND %1, %1, %0" : "=Yk"(k) : "v"({watched}));\n'
        f'    __asm__("{instruction}p$KIND %1, %0, %0%{{%2%}}" : "+v"(a) : "vm"(b), "Yk"(k));\n    return a;'
    )
    native = alike(short, SHORT) | alike(masked, {64: "__AVX512F__"})
    return Recipe(body, PAIR, constants=number_constants, native=native)


RECIPES: dict[str, Recipe] = {
    "at_most": _bounded("$select(x > bound, bound, x)", "vmin", '"vm"(x), "v"(bound)', "$T x, $T bound"),
    "at_least": _bounded("$select(x < bound, bound, x)", "vmax", '"vm"(x), "v"(bound)', "$T x, $T bound"),
    "relu": _bounded("$select(x < 0, $all(0), x)", "vmax", '"vm"(x), "v"($all(0))', "$T x"),
    "min": _extreme("<", "vmin", "a"),
    "max": _extreme(">", "vmax", "a"),
    "fmin": _extreme("<", "vmin", "b"),
    "fmax": _extreme(">", "vmax", "b"),
}

INTEGERS: Mapping[int, str] = {16: "$SHORT", 32: "$SHORT", 64: "$LONG"}


def _integer_constants(shape: Shape) -> dict[str, Value]:
    """The letters of an instruction's name, and what a compiler defines where there is one."""
    wide = shape.bits == 64
    return {
        "SHORT": "__AVX512VL__" if wide else "__AVX2__",
        "LONG": "__AVX512F__" if shape.bits >= 32 else "__AVX512BW__",
        "SIGN": "s" if shape.dtype.kind == "int" else "u",
        "WIDTH": {8: "b", 16: "w", 32: "d", 64: "q"}[shape.bits],
    }


def _whole(comparison: str, instruction: str) -> Recipe:
    native = (
        f'    $T r;\n    __asm__("{instruction}$SIGN$WIDTH %1, %2, %0" : "=v"(r) : "vm"(b), "v"(a));\n    return r;'
    )
    body = f"    return $select(a {comparison} b, a, b);"
    return Recipe(body, PAIR, constants=_integer_constants, native=alike(native, INTEGERS))


INTEGER_RECIPES: dict[str, Recipe] = {"min": _whole("<", "vpmin"), "max": _whole(">", "vpmax")}
