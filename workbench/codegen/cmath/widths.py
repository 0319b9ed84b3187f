"""Conversions between the numbers of a vector: integers step by step from width to width, floats by way of int32.

Of `__builtin_convertvector` from 32 bits to 8 in one step GCC makes sixteen extractions and insertions; by way of 16
bits it is two instructions.  AVX-512 and AVX2 have one instruction for most pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from workbench.codegen.cmath.helper import Helper
from workbench.codegen.cmath.shape import Shape, vector_types
from workbench.codegen.cmath.to_integers import holds_ends, lanes_within, numeric_lanes, whole_lanes
from workbench.lang.dtypes import FLOAT32, INT32, DType, dtype

LETTERS = {8: "b", 16: "w", 32: "d", 64: "q"}
SMALLEST = 16  # bytes of the smallest register: what is shorter has no constraint that every compiler takes


def converted(source: DType, target: DType, lanes: int, *, fits: bool = False) -> tuple[Helper, ...]:
    """The functions to be called one after the other; what `fits` lies between the ends of the target, or is NaN.

    >>> from workbench.lang.dtypes import FLOAT32, INT8
    >>> [helper.name for helper in converted(FLOAT32, INT8, 16)]
    ['wb_v16f32_in_i8', 'wb_v16i32_of_f32_within', 'wb_v16i8_of_i32']
    """
    places = (source, *_by_way_of(source, target), target)
    steps = tuple(_step(a, b, lanes) for a, b in pairwise(places))
    if not source.is_float or not target.is_integral:
        return steps
    if fits:  # NaN becomes 0 or the smallest int32, whose last 16 bits are 0
        return steps if target.bits <= 16 and source.bits == 32 else (numeric_lanes(source, lanes), *steps)
    if holds_ends(source, target):
        return (lanes_within(source, target, lanes), *steps)
    return (whole_lanes(source, target, lanes),)


def _by_way_of(source: DType, target: DType) -> tuple[DType, ...]:
    """int32, between floats and integers of fewer bits."""
    whole = [t for t in (source, target) if not t.is_float]
    return (INT32,) if len(whole) == 1 and whole[0].bits < 32 else ()


def _step(source: DType, target: DType, lanes: int) -> Helper:
    """`wb_v16i8_of_i32`: one conversion of all lanes."""
    x, y = Shape(source, lanes), Shape(target, lanes)
    name = f"{y.type}_of_{Shape(source).suffix}" + ("_within" if source.is_float and target.is_integral else "")
    chain = "x"
    for place in _widths(source, target):
        chain = f"__builtin_convertvector({chain}, {Shape(place, lanes).type})"
    body, native = f"    return {chain};\n", _native(x, y)
    if native is not None:
        feature, instruction = native
        assembly = f'    {y.type} r;\n    __asm__("{instruction} %1, %0" : "=v"(r) : "v"(x));\n    return r;\n'
        body = f"#if defined({feature})\n{assembly}#else\n{body}#endif\n"
    needed = tuple(vector_types(t, lanes) for t in (source, *_widths(source, target)))
    return Helper(name, f"WB_INLINE {y.type} {name}({x.type} x) {{\n{body}}}\n", needed)


def _widths(source: DType, target: DType) -> Iterator[DType]:
    """Integer types on the way, each twice or half as wide as the one before, and the target."""
    bits = source.bits
    while source.is_integral and target.is_integral and bits != target.bits:
        bits = 2 * bits if bits < target.bits else bits // 2
        if bits != target.bits:
            yield dtype(f"{source.kind}{bits}")
    yield target


def _native(x: Shape, y: Shape) -> tuple[str, str] | None:
    """What a compiler defines, and the instruction, where one does it."""
    small, large = sorted((x.lanes * x.dtype.bytes, y.lanes * y.dtype.bytes))
    if (x.dtype, y.dtype) == (FLOAT32, INT32) and large in (16, 32, 64):
        return "__AVX512F__" if large == 64 else "__AVX__", "vcvttps2dq"
    if x.dtype.is_float or y.dtype.is_float or small < SMALLEST or small == large:
        return None
    if x.bits < y.bits and large <= 64:
        feature = "__AVX2__" if large == 32 else "__AVX512BW__" if x.bits == 8 and y.bits == 16 else "__AVX512F__"
        return feature, f"vpmov{'s' if x.dtype.kind == 'int' else 'z'}x{LETTERS[x.bits]}{LETTERS[y.bits]}"
    if x.bits > y.bits and large == 64:
        return "__AVX512BW__" if x.bits == 16 else "__AVX512F__", f"vpmov{LETTERS[x.bits]}{LETTERS[y.bits]}"
    return None
