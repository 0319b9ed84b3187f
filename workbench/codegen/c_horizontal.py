"""The lanes of a vector combined into one value."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.codegen.c_values import Values
from workbench.lang.dtypes import DType

SMALLEST = 16
"""Bytes of the shortest register: lanes change places inside of it cheaply."""


def joined_vectors(values: Values, reduction: str, a: str, b: str, dtype: DType, lanes: int) -> str:
    """Two vectors of partial results as one."""
    if reduction in ("+", "*"):
        return f"({a} {reduction} {b})"
    return f"{values.helpers.vector(reduction, dtype, lanes)}({a}, {b})"


def horizontal(values: Values, reduction: str, dtype: DType, lanes: int) -> str:
    """Name of the function: half with half down to the shortest register, then its lanes with one another."""
    word = {"+": "sum", "*": "product", "min": "min", "max": "max"}[reduction]
    vector, held = values.helpers.type(dtype, lanes), "v"
    name, body = f"{vector}_{word}", []
    left = lanes
    while left * dtype.bytes > SMALLEST:
        left //= 2
        low, high = (_shuffled(held, range(first, first + left)) for first in (0, left))
        held = f"v{left}"
        short = values.helpers.type(dtype, left)
        body.append(f"{short} {held} = {joined_vectors(values, reduction, low, high, dtype, left)};")
    distance = left // 2
    while distance:
        moved = _shuffled(held, [lane ^ distance for lane in range(left)])
        body.append(f"{held} = {joined_vectors(values, reduction, held, moved, dtype, left)};")
        distance //= 2
    lines = "".join(f"    {line}\n" for line in [*body, f"return {held}[0];"])
    return values.helpers.text(name, f"WB_INLINE {dtype.c_name} {name}({vector} v) {{\n{lines}}}\n")


def _shuffled(vector: str, places: Iterable[int]) -> str:
    return f"__builtin_shufflevector({vector}, {vector}, {', '.join(map(str, places))})"
