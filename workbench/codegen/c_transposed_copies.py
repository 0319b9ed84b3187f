"""Copies that turn rows into lanes: four rows of neighbours are read at once and exchanged in registers.

    for k: for n_lane in lanes: P(k, n_lane) = B(n_lane, k)

reads its lanes far apart, one by one; four iterations of k together read groups of four neighbours.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.accumulators import iterations
from workbench.codegen.c_lanes import address_stride
from workbench.codegen.c_transposes import FOUR, squares
from workbench.codegen.c_turned_squares import SIZES, turn
from workbench.codegen.c_values import Values
from workbench.codegen.nest import For, Prefetch, Write, only
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Binary, Const, Expr, Index, Read, reads, substitute
from workbench.lang.normal_form import depends, simplify
from workbench.records import record


@record
class TransposedCopy:
    """The vector loop inside, what is read, and the elements between its lanes.

    `rows` iterations are copied at once; where that is a whole square, its rows come to lie `apart` elements apart.
    Before each of them the cache is asked for what `asked` says.
    """

    inner: For
    write: Write
    source: Read
    step: int
    rows: int = FOUR
    apart: int = 0
    asked: Prefetch | None = None


def transposed_copy(values: Values, loop: For) -> TransposedCopy | None:
    """What a loop copies from rows into lanes, if it does nothing else."""
    asked = loop.body if isinstance(loop.body, Prefetch) else None
    inner = only(loop.body if asked is None else asked.body)
    if loop.kind != "serial" or loop.lanes > 1 or loop.step != 1 or not isinstance(inner, For) or inner.lanes % FOUR:
        return None
    write = only(inner.body)
    if not isinstance(write, Write) or write.reduction is not None or len(write.cells) != 1:
        return None
    cell, source = write.cells[0], write.values[0]
    if not isinstance(source, Read) or not source.subscripts or source.tensor == cell.array:
        return None
    if source.dtype != cell.dtype or cell.dtype.bits != 32 or any(reads(*source.subscripts, *cell.subscripts)):
        return None
    if {source.tensor, cell.array} & {x.cell.array for x in values.held} or _moves(inner, loop):
        return None
    step = address_stride(values, source.tensor, source.subscripts, inner.variable)
    across = address_stride(values, source.tensor, source.subscripts, loop.variable) == 1
    along = address_stride(values, cell.array, cell.subscripts, inner.variable) == 1
    if not across or not along or step in (None, 0, 1):
        return None
    apart, count = address_stride(values, cell.array, cell.subscripts, loop.variable), iterations(loop)
    if apart is None or inner.lanes not in SIZES or (count is not None and count < inner.lanes):
        return TransposedCopy(inner, write, source, step, asked=asked)
    return TransposedCopy(inner, write, source, step, inner.lanes, apart, asked)


def _moves(inner: For, loop: For) -> bool:
    return depends(inner.lower, loop.variable) or depends(inner.upper, loop.variable)


def pieces(loop: For, copy: TransposedCopy) -> tuple[list[TransposedCopy], bool]:
    """The copy in squares, then in fours of what they leave; whether nothing is left after that."""
    count = iterations(loop)
    ways = [copy, replace(copy, rows=FOUR, apart=0)] if copy.apart else [copy]
    for number, way in enumerate(ways, start=1):
        if count is not None and count % way.rows == 0:
            return ways[:number], True
    return ways, False


def get_rows(values: Values, copy: TransposedCopy, variable: str) -> str:
    """The call that copies some iterations of the loop over `variable`, for the lanes of one vector."""
    if not copy.apart:
        return get_four(values, copy, variable)
    cell = copy.write.cells[0]
    name = turn(values.helpers, cell.dtype, copy.inner.lanes, past=copy.write.nontemporal)
    source = values.element(copy.source.tensor, copy.source.subscripts)
    return f"{name}(&{source}, {copy.step}, &{values.element(cell.array, cell.subscripts)}, {copy.apart});"


def get_four(values: Values, copy: TransposedCopy, variable: str) -> str:
    """The call that copies four iterations of the loop over `variable`, for the lanes of one vector."""
    cell, lanes = copy.write.cells[0], copy.inner.lanes
    name = values.helpers.text(*_function(values, cell.dtype, lanes))
    targets = []
    for k in range(FOUR):
        later: Expr = Binary("+", Index(variable, INT64), Const(k, INT64), INT64)
        subscripts = tuple(simplify(substitute(s, {variable: later})) for s in cell.subscripts)
        targets.append(f"&{values.element(cell.array, subscripts)}")
    source = values.element(copy.source.tensor, copy.source.subscripts)
    return f"{name}(&{source}, {copy.step}, {', '.join(targets)});"


def _function(values: Values, dtype: DType, lanes: int) -> tuple[str, str]:
    """Name and text of the function that loads four neighbours of each lane and stores four vectors."""
    vector, four = values.helpers.type(dtype, lanes), values.helpers.type(dtype, FOUR)
    name, lines = f"{vector}_get_four", []
    for row, letter in enumerate("abcd"):
        parts = [f"*(const {four}_u *)(p + {s + row} * step)" for s in range(0, lanes, FOUR)]
        lines.append(f"{vector} {letter} = {_joined(parts, FOUR)};")
    lines += squares(vector, lanes)
    lines += [f"*({vector}_u *)t{k} = r{k};" for k in range(FOUR)]
    body, targets = "".join(f"    {line}\n" for line in lines), ", ".join(f"{dtype.c_name} *t{k}" for k in range(FOUR))
    return name, f"WB_INLINE void {name}(const {dtype.c_name} *p, int64_t step, {targets}) {{\n{body}}}\n"


def _joined(parts: list[str], lanes: int) -> str:
    """Vectors of so many lanes as one."""
    if len(parts) == 1:
        return parts[0]
    places = ", ".join(map(str, range(2 * lanes)))
    pairs = [f"__builtin_shufflevector({a}, {b}, {places})" for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return _joined(pairs, 2 * lanes)
