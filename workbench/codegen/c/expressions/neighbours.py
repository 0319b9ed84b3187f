"""Copies of a few neighbours: an unrolled loop from cells beside one another to others is one move of memory.

    WB_UNROLL for l in 0:6: P(k, l) = A(k, l)

The compiler would move them one by one; of a move of 24 bytes it makes two wide loads and two wide stores.
"""

from __future__ import annotations

from workbench.codegen.c.expressions.lanes import address_stride
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.nest.nest import For, Write, only
from workbench.codegen.passes.register_tiles.accumulators import iterations
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Expr, Read, reads, substitute

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
    first = [f"&{values.element(array, _at(subscripts, loop))}" for array, subscripts in ways]
    return write, f"__builtin_memcpy({', '.join(first)}, {count * cell.dtype.bytes});"


def _at(subscripts: tuple[Expr, ...], loop: For) -> tuple[Expr, ...]:
    """Subscripts in the first iteration."""
    return tuple(simplify(substitute(s, {loop.variable: loop.lower})) for s in subscripts)
