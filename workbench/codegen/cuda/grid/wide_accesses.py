"""Vector loops on a GPU: neighbouring elements move as one access of 8 or 16 bytes, where that is proven to fit.

    for n_v < 4: B_local(k, 4*t + n_v) = B(k, 4*t + n_v)      *(float4 *)&B_local[…] = *(const float4 *)&B[…]

What a wide access needs: its elements lie side by side, and the first one's offset in the array is a multiple of their
number.  Arrays of a block and of a thread begin where such an access may; whether a caller's array does is looked at
when the kernel starts.  The other vector loops are written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.codegen.nest.nest import Cell, For, If, Nest, Write, children, only, rebuild
from workbench.codegen.passes.register_tiles.tiles import bound
from workbench.lang.algebra.normal_form import polynomial, simplify
from workbench.lang.dtypes import BOOL, INT64, DType
from workbench.lang.expr import Binary, Const, Expr, Index, Read, Select, reads, substitute
from workbench.lang.expr import children as operands
from workbench.poly.programs.program import Array

WIDEST = 16
VECTORS = {
    "float": "float", "double": "double", "int32_t": "int", "uint32_t": "uint", "int64_t": "longlong",
    "uint64_t": "ulonglong", "int16_t": "short", "uint16_t": "ushort", "int8_t": "char", "uint8_t": "uchar",
}  # fmt: skip
COUNTS = (4, 2)
MOVED = (16, 8, 4, 2)  # elements that are not looked at
MOST_COPIES = 32  # longer loops are not written out


def vector_type(dtype: DType, count: int) -> str:
    """`float4`; for more elements, which are only moved, a type of their size."""
    if count > COUNTS[0]:
        return {16: "uint4", 8: "uint2"}[dtype.bytes * count]
    return f"{VECTORS[dtype.c_name]}{count}"


def wide(nest: Nest, arrays: Mapping[str, Array], own: frozenset[str] = frozenset()) -> Nest:
    """The nest with wide accesses, each an iteration of a loop with `lanes` > 1; `own` are arrays of single threads."""
    if isinstance(nest, For) and nest.kind == "vector":
        return _loop(nest, arrays, own)
    return rebuild(nest, tuple(wide(child, arrays, own) for child in children(nest)))


def _loop(loop: For, arrays: Mapping[str, Array], own: frozenset[str]) -> Nest:
    limits, write = bound(loop), only(loop.body)
    few = limits is not None and limits[0] <= MOST_COPIES
    scalar = replace(loop, kind="unroll" if few else "serial")
    if limits is None or not isinstance(write, Write):
        return replace(scalar, body=wide(loop.body, arrays, own))
    counts = MOVED if is_move(write) else COUNTS
    count = next((c for c in counts if limits[0] % c == 0 and _fits(write, loop.variable, c, arrays, own)), 0)
    if not count:
        return scalar
    whole = replace(loop, upper=Const(limits[0], INT64), kind="unroll", step=count, lanes=count)
    if limits[1] is None:
        return whole
    partial = replace(scalar, upper=limits[1], kind="serial")
    return If(Binary(">=", limits[1], Const(limits[0], INT64), BOOL), whole, partial)


def _fits(write: Write, variable: str, count: int, arrays: Mapping[str, Array], own: frozenset[str]) -> bool:
    """Whether so many iterations have a wide access of memory, and none reads what another one writes."""
    if write.reduction is not None or write.atomic or len(write.cells) != 1:
        return False
    cell = write.cells[0]
    if any(r.tensor == cell.array for r in reads(*write.values)):
        return False
    touched = (cell, *(Cell(r.tensor, r.subscripts, r.dtype) for v in write.values for r in certain_reads(v)))
    if count > COUNTS[0]:
        return all(c.array not in own and is_wide(c, variable, count, arrays) for c in touched)
    return any(c.array not in own and is_wide(c, variable, count, arrays) for c in touched)


def touched_wide(write: Write, loop: For, arrays: Mapping[str, Array]) -> frozenset[str]:
    """The arrays that the write of a loop with lanes touches several elements at once."""
    cells = [write.cells[0], *(Cell(r.tensor, r.subscripts, r.dtype) for r in certain_reads(write.values[0]))]
    return frozenset(c.array for c in cells if is_wide(c, loop.variable, loop.lanes, arrays))


def certain_reads(expr: Expr) -> Iterator[Read]:
    """The reads that evaluating an expression makes in any case: not those under conditions."""
    match expr:
        case Select(condition, _, _, _):
            yield from certain_reads(condition)
        case Binary("&&" | "||", left, _, _):
            yield from certain_reads(left)
        case Read(_, subscripts, _):
            yield expr
            yield from (r for s in subscripts for r in certain_reads(s))
        case _:
            yield from (r for operand in operands(expr) for r in certain_reads(operand))


def is_wide(cell: Cell, variable: str, count: int, arrays: Mapping[str, Array]) -> bool:
    """Whether `count` iterations touch neighbours of which the first one's offset is a multiple of `count`.

    A row that a gather names counts: its offset is what was read, whatever that is, times the length of rows.
    """
    array = arrays.get(cell.array)
    if array is None or not array.rank or cell.dtype.c_name not in VECTORS or cell.dtype.bytes * count > WIDEST:
        return False
    first = offset(array, cell.subscripts, {variable: Const(0, INT64)})
    second = offset(array, cell.subscripts, {variable: Const(1, INT64)})
    moved = simplify(Binary("-", offset(array, cell.subscripts, {}), first, INT64))
    one = simplify(Binary("-", second, first, INT64)) == Const(1, INT64)
    return one and moved == Index(variable, INT64) and all(f % count == 0 for _, f in polynomial(first).terms)


def offset(array: Array, subscripts: tuple[Expr, ...], names: Mapping[str, Expr]) -> Expr:
    """Elements from the first one of an array to a cell."""
    total: Expr = Const(0, INT64)
    for subscript, low, stride in zip(subscripts, array.lower, array.strides, strict=True):
        place = Binary("-", substitute(subscript, dict(names)), low, INT64)
        total = Binary("+", total, Binary("*", place, stride, INT64), INT64)
    return simplify(total)


def is_move(write: Write) -> bool:
    """Whether it moves elements as they are."""
    value = write.values[0]
    return isinstance(value, Read) and value.dtype == write.cells[0].dtype


def begins_at_multiples(array: Array, cell: Cell, strides: list[int], along: int, count: int) -> bool:
    """Whether elements along an axis lie side by side, and each row of them begins at a multiple of `count`."""
    first = polynomial(offset(array, cell.subscripts, {}))
    others = [s for axis, s in enumerate(strides) if axis != along]
    return strides[along] == 1 and not any(s % count for s in others) and all(f % count == 0 for _, f in first.terms)
