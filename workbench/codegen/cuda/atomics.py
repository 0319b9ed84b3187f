"""Atomic updates in CUDA: `atomicAdd` where there is one for the type, else a loop that compares and swaps."""

from __future__ import annotations

from workbench.codegen.c.expressions.values import Values
from workbench.lang.dtypes import FLOAT32, DType

ADDED = frozenset({"float32", "float64", "int32", "uint32"})
WORDS = {32: "unsigned int", 64: "unsigned long long"}


def cuda_atomic(values: Values, reduction: str, cell: str, text: str, dtype: DType) -> list[str]:
    """Lines that combine a value with a cell that other threads may be updating."""
    if reduction == "+" and dtype.name in ADDED:
        return [f"atomicAdd(&{cell}, {text});"]
    return [f"{_helper(values, reduction, dtype)}(&{cell}, {text});"]


def _helper(values: Values, reduction: str, dtype: DType) -> str:
    """Name of the function, noted as used."""
    word = {"+": "add", "*": "multiply"}.get(reduction, reduction)
    name = f"wb_atomic_{word}_{dtype.name}"
    text = _wide if dtype.bits >= 32 else _narrow
    return values.helpers.text(name, text(name, dtype, _combined(values, reduction, dtype)))


def _combined(values: Values, reduction: str, dtype: DType) -> str:
    """C++ text that combines `old` and `value`."""
    if not dtype.is_half:
        return f"({dtype.c_name})({values.joined(reduction, 'old', 'value', dtype)})"
    up, down = values.helpers.conversion(dtype, FLOAT32), values.helpers.conversion(FLOAT32, dtype)
    return f"{down}({values.joined(reduction, f'{up}(old)', f'{up}(value)', FLOAT32)})"


def _wide(name: str, dtype: DType, combined: str) -> str:
    word, kind = WORDS[dtype.bits], dtype.c_name
    return (
        f"WB_INLINE void {name}({kind} *cell, {kind} value) {{\n"
        f"    {word} *const place = ({word} *)cell;\n"
        f"    {word} seen = *(volatile {word} *)place, expected;\n"
        "    do {\n"
        "        expected = seen;\n"
        f"        {kind} old;\n"
        "        __builtin_memcpy(&old, &expected, sizeof old);\n"
        f"        const {kind} next = {combined};\n"
        f"        {word} bits;\n"
        "        __builtin_memcpy(&bits, &next, sizeof bits);\n"
        "        seen = atomicCAS(place, expected, bits);\n"
        "    } while (seen != expected);\n"
        "}\n"
    )


def _narrow(name: str, dtype: DType, combined: str) -> str:
    """The word of 32 bits around a smaller cell is swapped."""
    kind, bits = dtype.c_name, 8 * dtype.bytes
    mask = f"{(1 << bits) - 1:#x}u"
    return (
        f"WB_INLINE void {name}({kind} *cell, {kind} value) {{\n"
        f"    const unsigned int inside = (unsigned int)((uint64_t)cell & 3u), shift = 8u * inside;\n"
        f"    unsigned int *const place = (unsigned int *)((unsigned char *)cell - inside);\n"
        f"    unsigned int seen = *(volatile unsigned int *)place, expected;\n"
        "    do {\n"
        "        expected = seen;\n"
        f"        const {kind} old = ({kind})(expected >> shift & {mask});\n"
        f"        const {kind} next = {combined};\n"
        f"        const unsigned int bits = (unsigned int)next & {mask};\n"
        f"        seen = atomicCAS(place, expected, (expected & ~({mask} << shift)) | bits << shift);\n"
        "    } while (seen != expected);\n"
        "}\n"
    )
