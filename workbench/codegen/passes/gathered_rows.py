"""Rows that are found through data, asked for some iterations before they are used.

    for l < L: for d: O(d) += table(I(l), d)   →   prefetch each line of row I(min(l + 8, L - 1))

The index is read of an iteration that takes place, so nothing is read that the program does not read.  Where the
loop goes through a whole row of the indices, and these lie one after another, the next row follows the last one:
I(b, min(l + 8, (B - b) * L - 1)).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from workbench.codegen.nest.nest import Cell, Define, For, Hold, If, Nest, Write, walk
from workbench.lang.algebra.normal_form import constant, growth, mentions, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Read, Select, children, reads, substitute
from workbench.poly.programs.program import Array

LINE = 64
"""Bytes of a cache line on the processors this is for."""

MOST = 8
"""Lines of a row; the processor itself looks ahead in longer ones."""


def rows_ahead(loop: For, arrays: Mapping[str, Array], array: str, distance: int) -> tuple[Cell, ...]:
    """The beginnings of the lines that the iteration `distance` later reads of an array through data."""
    if loop.step != 1 or any(isinstance(x, If | Define) for x in walk(loop.body)):
        return ()
    inner = [x for x in walk(loop.body) if isinstance(x, For)]
    if any(_count(x) < 1 for x in inner):
        return ()
    later = Binary("+", Index(loop.variable, INT64), Const(distance, INT64), INT64)
    last = simplify(Binary("-", loop.upper, Const(1, INT64), INT64))
    found: dict[Cell, None] = {}
    for read in _gathered(loop.body, array):
        end = _end_of_indices(loop, arrays, read) or last
        known: dict[str, Expr] = {loop.variable: Call("min", (later, end), INT64)}
        for starts in product(*(_starts(x, read) for x in inner)):
            here = known | {x.variable: start for x, start in zip(inner, starts, strict=True)}
            found[Cell(array, tuple(_placed(s, here) for s in read.subscripts), read.dtype)] = None
    return tuple(found)[:MOST]


def _end_of_indices(loop: For, arrays: Mapping[str, Array], read: Read) -> Expr | None:
    """The last value of the loop's variable for which there is an index, counted on from the row in use."""
    indices = list(reads(*read.subscripts))
    if len(indices) != 1 or not isinstance(index := indices[0], Read):
        return None
    array = arrays[index.tensor]
    sides = _sides(array)
    if sides is None or (constant(loop.lower), constant(loop.upper)) != (0, sides[-1]):
        return None
    *outer, own = index.subscripts
    if own != Index(loop.variable, INT64) or any(mentions(e, loop.variable) or any(reads(e)) for e in outer):
        return None
    left: Expr = Const(prod(sides) - 1, INT64)
    for subscript, stride in zip(outer, array.strides, strict=False):
        left = Binary("-", left, Binary("*", subscript, stride, INT64), INT64)
    return simplify(left)


def _sides(array: Array) -> list[int] | None:
    """The extents of a dense block in the order of its subscripts, which begin at 0; None if it is something else."""
    sides = [side for side in map(constant, array.extent) if side is not None]
    if len(sides) != array.rank or any(constant(e) != 0 for e in array.lower):
        return None
    dense = all(constant(s) == prod(sides[d + 1 :]) for d, s in enumerate(array.strides))
    return sides if dense else None


def _count(loop: For) -> int:
    lower, upper = constant(loop.lower), constant(loop.upper)
    return 0 if lower is None or upper is None else upper - lower


def _gathered(nest: Nest, array: str) -> Iterator[Read]:
    """Reads of an array at places that data tells, wherever they happen in every iteration."""
    for node in walk(nest):
        roots = node.values if isinstance(node, Write) else (node.value,) if isinstance(node, Hold) else ()
        for root in roots:
            yield from (r for r in _certain(root) if r.tensor == array and any(reads(*r.subscripts)))


def _certain(expr: Expr) -> Iterator[Read]:
    if isinstance(expr, Read):
        yield expr
    if not isinstance(expr, Select) and not (isinstance(expr, Binary) and expr.op in ("&&", "||")):
        for child in children(expr):
            yield from _certain(child)


def _starts(loop: For, read: Read) -> list[Expr]:
    """The iterations of a loop that begin a line of the row; the first one if the loop does not run along it."""
    lower = constant(loop.lower) or 0
    along = growth(read.subscripts[-1], loop.variable) == 1
    step = max(1, LINE // read.dtype.bytes) if along else _count(loop)
    starts: list[Expr] = [Const(x, INT64) for x in range(lower, lower + _count(loop), step)]
    return starts[:MOST]


def _placed(subscript: Expr, known: dict[str, Expr]) -> Expr:
    moved = substitute(subscript, known)
    return moved if any(reads(moved)) else simplify(moved)
