"""Copies that turn rows into columns of words: a few neighbours of every row come to lie side by side.

    for k_o: for n < 32: WB_UNROLL for k_i < 4: P(k_o, n, k_i) = B(n, 4 * k_o + k_i)

moves words of four bytes one by one; four words of four rows are read at once and exchanged in registers.
"""

from __future__ import annotations

from workbench.codegen.c.expressions.lanes import address_stride
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.nest.nest import For, Write, only
from workbench.codegen.passes.register_tiles.accumulators import iterations
from workbench.lang.algebra.normal_form import constant, depends, simplify
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Binary, Cast, Expr, Read, reads, substitute
from workbench.schedules.kernels.lane_instructions import WORD_BYTES

FOUR = 4
"""Rows and words of a square."""


def turned_words(values: Values, loop: For) -> tuple[Write, str] | None:
    """What a loop over words of some rows copies, and the statement that copies all of it; None if it does more."""
    rows = only(loop.body)
    terms = only(rows.body) if isinstance(rows, For) else None
    write = only(terms.body) if isinstance(terms, For) else None
    if not isinstance(rows, For) or not isinstance(terms, For) or not isinstance(write, Write):
        return None
    loops, count = (loop, rows, terms), iterations(terms)
    if any(x.step != 1 or x.lanes > 1 for x in loops) or [x.kind for x in loops] != ["serial", "serial", "unroll"]:
        return None
    if constant(terms.lower) != 0 or any(depends(e, loop.variable) for e in (rows.lower, rows.upper)):
        return None
    copied = _copied(values, write)
    if copied is None or count is None or count * write.cells[0].dtype.bytes != WORD_BYTES:
        return None
    cell, source = write.cells[0], copied
    to, start = (
        [address_stride(values, a, subscripts, x.variable) for x in loops]
        for a, subscripts in ((cell.array, cell.subscripts), (source.tensor, source.subscripts))
    )
    if to[0] is None or to[1:] != [count, 1] or start[1] is None or (start[0], start[2]) != (count, 1):
        return None
    first = {x.variable: x.lower for x in loops}
    places = (
        values.element(a, tuple(simplify(substitute(s, first)) for s in subscripts))
        for a, subscripts in ((cell.array, cell.subscripts), (source.tensor, source.subscripts))
    )
    name = values.helpers.text(*_function(source.dtype, cell.dtype, count))
    extents = (values.text(_extent(x)) for x in (loop, rows))
    return write, f"{name}({', '.join(f'&{p}' for p in places)}, {to[0]}, {start[1]}, {', '.join(extents)});"


def _copied(values: Values, write: Write) -> Read | None:
    """What a write copies, perhaps from bytes to integers of 16 bits; None if it is no such copy."""
    if write.reduction is not None or len(write.cells) != 1 or write.atomic or write.nontemporal:
        return None
    cell, source = write.cells[0], write.values[0]
    if isinstance(source, Cast) and source.dtype == cell.dtype and not cell.dtype.is_float:
        source = source.operand
    if values.check is not None or not isinstance(source, Read) or not source.subscripts:
        return None
    if source.dtype != cell.dtype and not (source.dtype.kind in ("int", "uint") and source.dtype.bits == 8):
        return None
    held = {x.cell.array for x in values.held}
    if source.tensor == cell.array or {source.tensor, cell.array} & held or any(reads(*source.subscripts)):
        return None
    return source if cell.dtype.kind in ("int", "uint") or cell.dtype == source.dtype else None


def _extent(loop: For) -> Expr:
    return simplify(Binary("-", loop.upper, loop.lower, INT64))


def _function(source: DType, target: DType, count: int) -> tuple[str, str]:
    """Name and text of `(to, from, apart, step, words, rows)`: words lie `apart`, rows are `step` elements apart."""
    of, to = (f"uint{x.bits}_t" if source == target else x.c_name for x in (source, target))
    kind = str(target.bits) if source == target else f"{source.name}_{target.name}"
    name = f"wb_turned_{count}x{kind}"
    values = {"NAME": name, "FROM": of, "TO": to, "COUNT": str(count), "PART": str(FOUR * count * source.bytes)}
    text = _TURNED
    for key, value in values.items():
        text = text.replace(f"${key}$", value)
    return name, text


_TURNED = """\
WB_INLINE void $NAME$(void *target, const void *source, int64_t apart, int64_t step, int64_t words, int64_t rows) {
    typedef $FROM$ S __attribute__((vector_size($PART$), aligned(1), may_alias));
    typedef $TO$ T __attribute__((vector_size(16)));
    typedef uint32_t V __attribute__((vector_size(16)));
    typedef uint32_t U __attribute__((vector_size(16), aligned(1), may_alias));
    int64_t k = 0;
    for (; k + 4 <= words;) {
        const int64_t end = k + 16 <= words ? k + 16 : k + 4;
        for (int64_t n = 0; n + 4 <= rows; n += 4) {
            const $FROM$ *from = (const $FROM$ *)source + n*step + k*$COUNT$;
            $TO$ *to = ($TO$ *)target + n*$COUNT$ + k*apart;
            for (int64_t j = k; j < end; j += 4, from += 4*$COUNT$, to += 4*apart) {
                const V a = (V)__builtin_convertvector(*(const S *)from, T);
                const V b = (V)__builtin_convertvector(*(const S *)(from + step), T);
                const V c = (V)__builtin_convertvector(*(const S *)(from + 2*step), T);
                const V d = (V)__builtin_convertvector(*(const S *)(from + 3*step), T);
                const V ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
                const V cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
                *(U *)to = (U)__builtin_shufflevector(ab, cd, 0, 1, 4, 5);
                *(U *)(to + apart) = (U)__builtin_shufflevector(ab, cd, 2, 3, 6, 7);
                *(U *)(to + 2*apart) = (U)__builtin_shufflevector(AB, CD, 0, 1, 4, 5);
                *(U *)(to + 3*apart) = (U)__builtin_shufflevector(AB, CD, 2, 3, 6, 7);
            }
        }
        for (int64_t n = rows / 4 * 4; n < rows; n++)
            for (int64_t j = k; j < end; j++)
                WB_UNROLL for (int q = 0; q < $COUNT$; q++)
                    (($TO$ *)target)[j*apart + n*$COUNT$ + q] = ((const $FROM$ *)source)[n*step + j*$COUNT$ + q];
        k = end;
    }
    for (; k < words; k++)
        for (int64_t n = 0; n < rows; n++)
            WB_UNROLL for (int q = 0; q < $COUNT$; q++)
                (($TO$ *)target)[k*apart + n*$COUNT$ + q] = ((const $FROM$ *)source)[n*step + k*$COUNT$ + q];
}
"""
