"""Transposed copies, from rows into lanes: whole vectors and what is left of them get loops of their own.

    for k: { for n_lane in lanes: P(k, n_lane) = B(n_lane, k); for n_lane: P(k, n_lane) = B(n_lane, k) }
    →   for k: for n_lane in lanes: …;   for k: for n_lane: …

Then the loop over whole vectors holds nothing else, and four of its iterations read groups of four neighbours together.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import Block, For, Nest, Write, children, only, rebuild
from workbench.lang.algebra.normal_form import depends, growth
from workbench.lang.expr import Cast, Expr, Read, reads


def split_transposed_copies(nest: Nest) -> Nest:
    """The nest with such loops divided, wherever their iterations write cells of their own."""
    nest = rebuild(nest, tuple(map(split_transposed_copies, children(nest))))
    if isinstance(nest, For) and isinstance(nest.body, Block) and _turns(nest, nest.body.body):
        return Block(tuple(replace(nest, body=part) for part in nest.body.body))
    return nest


def _turns(loop: For, parts: tuple[Nest, ...]) -> bool:
    """Whether the parts are one copy whose source runs along the loop, its cells along the loops inside."""
    if loop.kind != "serial" or loop.lanes > 1 or not all(isinstance(x, For) for x in parts):
        return False
    inner = [x for x in parts if isinstance(x, For)]
    writes = [only(x.body) for x in inner]
    first = writes[0]
    if inner[0].lanes == 1 or not isinstance(first, Write) or any(w != first for w in writes):
        return False
    lane = inner[0].variable
    bounds = [e for x in inner for e in (x.lower, x.upper)]
    if any(x.variable != lane for x in inner) or any(depends(e, loop.variable) for e in bounds):
        return False
    return _is_transposed(first, loop.variable, lane)


def _is_transposed(write: Write, along: str, lane: str) -> bool:
    if write.reduction is not None or write.atomic or len(write.cells) != 1:
        return False
    cell, source = write.cells[0], write.values[0]
    source = source.operand if isinstance(source, Cast) and source.operand.dtype.is_half else source
    if not isinstance(source, Read) or source.tensor == cell.array or any(reads(*source.subscripts, *cell.subscripts)):
        return False
    if not source.subscripts or growth(source.subscripts[-1], along) != 1 or depends(source.subscripts[-1], lane):
        return False
    return _tells(cell.subscripts, along, lane) and _tells(cell.subscripts, lane, along)


def _tells(subscripts: tuple[Expr, ...], variable: str, other: str) -> bool:
    """Whether some subscript alone says which iteration of a variable writes the cell."""
    return any(growth(s, variable) == 1 and not depends(s, other) for s in subscripts)
