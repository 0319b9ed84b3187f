"""Atomic updates: a pragma where OpenMP has one for it, else a loop that tries until nobody came between."""

from __future__ import annotations

from workbench.codegen.c_values import Values
from workbench.lang.dtypes import FLOAT32, DType

NAMES = {"+": "add", "*": "multiply"}


def atomic_update(values: Values, reduction: str, cell: str, text: str, dtype: DType) -> list[str]:
    """Lines that combine a value with a cell that other threads may be updating."""
    plain = reduction in NAMES and not dtype.is_half and dtype.kind != "bool"
    if values.threads == "openmp" and plain and cell not in text:  # OpenMP forbids a value that looks at the cell
        return ["#pragma omp atomic", f"{cell} {reduction}= {text};"]
    return [f"{_helper(values, reduction, dtype)}(&{cell}, {text});"]


def _helper(values: Values, reduction: str, dtype: DType) -> str:
    """Name of the function, noted as used.  gcc and clang (and what is built on it) know these builtins."""
    stored = "uint16_t" if dtype.is_half else dtype.c_name
    name = f"wb_atomic_{NAMES.get(reduction, reduction)}_{dtype.name}"
    if dtype.is_half:
        up, down = values.helpers.conversion(dtype, FLOAT32), values.helpers.conversion(FLOAT32, dtype)
        combined = f"{down}({values.joined(reduction, f'{up}(old)', f'{up}(value)', FLOAT32)})"
    else:
        combined = f"({stored})({values.joined(reduction, 'old', 'value', dtype)})"
    relaxed = "__ATOMIC_RELAXED"
    return values.helpers.text(
        name,
        f"WB_INLINE void {name}({stored} *cell, {stored} value) {{\n"
        f"    {stored} old, next;\n"
        f"    __atomic_load(cell, &old, {relaxed});\n"
        f"    do next = {combined};\n"
        f"    while (!__atomic_compare_exchange(cell, &old, &next, 1, {relaxed}, {relaxed}));\n"
        "}\n",
    )
