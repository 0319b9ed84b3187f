"""Copies as whole moves: rows put side by side, and a few neighbours at once.

    WB_UNROLL for k_i < 4: for n < 32: P(n, k_i) = B(k_i, n)

writes its elements apart, one by one; some neighbours of every row are read at once and exchanged in registers.

    WB_UNROLL for l in 0:6: P(k, l) = A(k, l)

is one move of memory.  The compiler would move them one by one; of 24 bytes it makes two wide loads and stores."""

from __future__ import annotations

from workbench.codegen.c.expressions.lanes import address_stride
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.nest.nest import For, Write, only
from workbench.codegen.passes.register_tiles.accumulators import iterations
from workbench.lang.algebra.normal_form import constant, depends, simplify
from workbench.lang.dtypes import BOOL, DType
from workbench.lang.expr import Cast, Expr, Read, reads, substitute
from workbench.schedules.kernels.lane_instructions import WORD_BYTES

VECTOR_BYTES = 16
FEW = 4
"""Elements of every row in the short vectors, for what long ones leave."""


def interleaved_copy(values: Values, loop: For) -> tuple[Write, str] | None:
    """What an unrolled loop over rows copies, and the statement that copies all of it, if a copy is all it does."""
    inner, count = only(loop.body), iterations(loop)
    if loop.kind != "unroll" or loop.step != 1 or not isinstance(inner, For) or values.check is not None:
        return None
    write = only(inner.body)
    if inner.kind != "serial" or inner.step != 1 or constant(inner.lower) != 0 or not isinstance(write, Write):
        return None
    if write.reduction is not None or len(write.cells) != 1 or write.atomic or write.nontemporal:
        return None
    cell, source = write.cells[0], write.values[0]
    if isinstance(source, Cast) and source.dtype == cell.dtype and not cell.dtype.is_float:
        source = source.operand
    if not isinstance(source, Read) or not source.subscripts or source.tensor == cell.array:
        return None
    if source.dtype != cell.dtype and not (source.dtype.kind in ("int", "uint") and source.dtype.bits == 8):
        return None
    if count is None or count * cell.dtype.bytes != WORD_BYTES or count < 2:
        return None
    if any(reads(*source.subscripts, *cell.subscripts)) or depends(inner.upper, loop.variable):
        return None
    if {source.tensor, cell.array} & {held.cell.array for held in values.held}:
        return None
    steps = [
        address_stride(values, array, subscripts, x.variable)
        for array, subscripts in ((cell.array, cell.subscripts), (source.tensor, source.subscripts))
        for x in (loop, inner)
    ]
    if steps[:2] != [1, count] or steps[2] is None or steps[3] != 1:
        return None
    first = {loop.variable: loop.lower, inner.variable: inner.lower}
    target, start = (
        values.element(array, _at(subscripts, first))
        for array, subscripts in ((cell.array, cell.subscripts), (source.tensor, source.subscripts))
    )
    if source.dtype != cell.dtype:
        name = values.helpers.text(*_widening(count, source.dtype, cell.dtype))
        return write, f"{name}(&{target}, &{start}, {steps[2]}, {values.text(inner.upper)});"
    name = values.helpers.text(*_function(count, cell.dtype.bytes))
    of = f"uint{cell.dtype.bits}_t"
    return write, f"{name}(({of} *)&{target}, (const {of} *)&{start}, {steps[2]}, {values.text(inner.upper)});"


def _at(subscripts: tuple[Expr, ...], first: dict[str, Expr]) -> tuple[Expr, ...]:
    """Subscripts in the first iteration."""
    return tuple(simplify(substitute(s, first)) for s in subscripts)


def _function(rows: int, size: int) -> tuple[str, str]:
    """Name and text of the function `(to, from, step, count)` for elements of `size` bytes; rows are `step` apart."""
    name, bits, lanes = f"wb_interleaved_{rows}x{8 * size}", 8 * size, VECTOR_BYTES // size
    of, part = f"uint{bits}_t", f"uint{bits * FEW}_t"
    parts, text = _side_by_side(lanes, [f"v{q}" for q in range(rows)])
    loads = [f"const V v{q} = *(const U *)(from + {q}*step + i);" for q in range(rows)]
    stores = [f"*(U *)(to + {rows}*i + {n * lanes}) = (U){x};" for n, x in enumerate(parts)]
    words = [f"__builtin_memcpy(&p{q}, from + {q}*step + i, {FEW * size});" for q in range(rows)]
    order = ", ".join(str(FEW * q + r) for r in range(FEW) for q in range(rows))
    names = ", ".join(f"p{q}" for q in range(rows))
    lines = [
        f"typedef {of} V __attribute__((vector_size({VECTOR_BYTES}), may_alias));",
        f"typedef {of} U __attribute__((vector_size({VECTOR_BYTES}), aligned({size}), may_alias));",
        f"typedef uint16_t V16 __attribute__((vector_size({VECTOR_BYTES}), may_alias));",
        f"typedef {part} P __attribute__((vector_size({VECTOR_BYTES}), may_alias));",
        "int64_t i = 0;",
        f"for (; i + {lanes} <= count; i += {lanes}) {{",
        *(f"    {x}" for x in (*loads, *text, *stores)),
        "}",
        f"for (; i + {FEW} <= count; i += {FEW}) {{",
        f"    {part} {names};",
        *(f"    {x}" for x in words),
        f"    const V v = (V)(P){{{names}}};",
        f"    *(U *)(to + {rows}*i) = (U)__builtin_shufflevector(v, v, {order});",
        "}",
        "for (; i < count; i++)",
        f"    WB_UNROLL for (int q = 0; q < {rows}; q++) to[{rows}*i + q] = from[q*step + i];",
    ]
    head = f"void {name}({of} *restrict to, const {of} *restrict from, int64_t step, int64_t count)"
    return name, f"WB_INLINE {head} {{\n" + "".join(f"    {x}\n" for x in lines) + "}\n"


def _widening(rows: int, source: DType, target: DType) -> tuple[str, str]:
    """The same for integers that are converted to a wider type on the way."""
    lanes = VECTOR_BYTES // target.bytes
    name = f"wb_interleaved_{rows}x{source.name}_{target.name}"
    parts, text = _side_by_side(lanes, [f"v{q}" for q in range(rows)])
    lines = [
        f"typedef {target.c_name} V __attribute__((vector_size({VECTOR_BYTES})));",
        f"typedef {target.c_name} U __attribute__((vector_size({VECTOR_BYTES}), aligned({target.bytes}), may_alias));",
        f"typedef {source.c_name} S __attribute__((vector_size({lanes * source.bytes}), aligned(1), may_alias));",
        "int64_t i = 0;",
        f"for (; i + {lanes} <= count; i += {lanes}) {{",
        *(f"    const V v{q} = __builtin_convertvector(*(const S *)(from + {q}*step + i), V);" for q in range(rows)),
        *(f"    {x}" for x in text),
        *(f"    *(U *)(to + {rows}*i + {n * lanes}) = (U){x};" for n, x in enumerate(parts)),
        "}",
        "for (; i < count; i++)",
        f"    WB_UNROLL for (int q = 0; q < {rows}; q++) to[{rows}*i + q] = from[q*step + i];",
    ]
    given = f"{target.c_name} *restrict to, const {source.c_name} *restrict from, int64_t step, int64_t count"
    return name, f"WB_INLINE void {name}({given}) {{\n" + "".join(f"    {x}\n" for x in lines) + "}\n"


def _side_by_side(lanes: int, rows: list[str]) -> tuple[list[str], list[str]]:
    """Names of vectors of the elements of all rows in turn, and the statements that make them."""
    if len(rows) == 2:
        lines, parts = [], []
        for half, start in (("l", 0), ("h", lanes // 2)):
            order = ", ".join(f"{start + i}, {lanes + start + i}" for i in range(lanes // 2))
            lines.append(f"const V {rows[0]}{half} = __builtin_shufflevector({rows[0]}, {rows[1]}, {order});")
            parts.append(f"{rows[0]}{half}")
        return parts, lines
    first, lines = _side_by_side(lanes, rows[:2])
    second, more = _side_by_side(lanes, rows[2:])
    lines += more
    parts = []
    for low, high in zip(first, second, strict=True):
        for half, start in (("l", 0), ("h", lanes // 4)):
            order = ", ".join(f"{start + i}, {lanes // 2 + start + i}" for i in range(lanes // 4))
            lines.append(f"const V16 {low}{half} = __builtin_shufflevector((V16){low}, (V16){high}, {order});")
            parts.append(f"{low}{half}")
    return parts, lines


FEWEST, MOST = 2, 32


def neighbours_copied(values: Values, loop: For) -> tuple[Write, str] | None:
    """What an unrolled loop copies, and the statement that copies all of it at once, if a copy is all it does."""
    if values.check is not None:  # each access is checked by itself
        return None
    count, write = iterations(loop), only(loop.body)
    if loop.kind != "unroll" or loop.lanes > 1 or loop.step != 1 or count is None or not FEWEST <= count <= MOST:
        return None
    if not isinstance(write, Write) or write.reduction is not None or len(write.cells) != 1:
        return None
    if write.atomic or write.nontemporal:
        return None
    cell, source = write.cells[0], write.values[0]
    if not isinstance(source, Read) or source.tensor == cell.array or source.dtype != cell.dtype or cell.dtype == BOOL:
        return None
    if any(reads(*source.subscripts, *cell.subscripts)) or {source.tensor, cell.array} & {
        held.cell.array for held in values.held
    }:
        return None
    ways = ((cell.array, cell.subscripts), (source.tensor, source.subscripts))
    if not all(subscripts and address_stride(values, a, subscripts, loop.variable) == 1 for a, subscripts in ways):
        return None
    first = [f"&{values.element(array, _cells_at(subscripts, loop))}" for array, subscripts in ways]
    return write, f"__builtin_memcpy({', '.join(first)}, {count * cell.dtype.bytes});"


def _cells_at(subscripts: tuple[Expr, ...], loop: For) -> tuple[Expr, ...]:
    """Subscripts in the first iteration."""
    return tuple(simplify(substitute(s, {loop.variable: loop.lower})) for s in subscripts)
