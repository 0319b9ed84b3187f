"""Register tiles: a reduction whose innermost loops are unrolled or vectorised keeps its cells in registers.

    for k: for m_i < 6 (unroll): for n_i < 16 (vector): C(m,n) += A(m,k) * B(k,n)

becomes, where the tile is full, a loop over k around twelve vector accumulators.  Where it is partial, the loop that
is cut short moves outside: rows all at once, or two by two where nobody knows how many are left, columns in vectors of
which the last ends early (`partial_lanes`), or one vector and then one cell at a time.  That is another interleaving of
independent cells; each cell still receives its contributions in the same order.
"""

from __future__ import annotations

from math import prod

from workbench.codegen.nest.nest import For, Nest, Write
from workbench.codegen.passes.register_tiles.accumulators import (
    alone,
    chain,
    independent,
    keepable,
    separable,
    trip_count,
)
from workbench.lang.algebra.normal_form import constant, depends, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const, Expr
from workbench.poly.programs.tree import at_once
from workbench.records import record


@record
class Tile:
    """A matched reduction: its loops, the loops over its cells, and the one write.

    `terms`: the innermost loop is a reduction, which adds up what is the sum of one cell anyway.  `before` gives the
    cells their first values, `after` computes with the last ones (`epilogue`).
    """

    reductions: tuple[For, ...]
    cells: tuple[For, ...]
    write: Write
    terms: bool = False
    before: tuple[Write, ...] = ()
    after: tuple[Write, ...] = ()


def match_tile(nest: Nest) -> Tile | None:
    """The tile whose outermost loop is `nest`, if it has that shape."""
    found = chain(nest)
    if found is None or found[1].reduction is None:
        return None
    loops, write = found
    fixed = [all(independent(c, x.variable) for c in write.cells) for x in loops]
    reductions = tuple(x for x, f in zip(loops, fixed, strict=True) if f)
    cells = tuple(x for x, f in zip(loops, fixed, strict=True) if not f)
    if not fixed or not fixed[0] or any(at_once(x.kind) for x in loops):
        return None
    if any(x.step != 1 for x in loops) or not alone(write, loops) or not keepable(write):
        return None
    if not _free_standing(reductions, cells) or not _movable(reductions):
        return None
    if any(x.kind not in ("unroll", "vector") or bound(x) is None for x in cells):
        return None
    if not all(separable(c, [x.variable for x in cells]) for c in write.cells):
        return None
    return Tile(reductions, cells, write, fixed[-1])


def cells_in(tile: Tile) -> int:
    """Cells of a full tile."""
    return prod(found[0] for found in map(bound, tile.cells) if found is not None)


def _free_standing(reductions: tuple[For, ...], cells: tuple[For, ...]) -> bool:
    """Whether no bound of one group moves with a variable of the other, nor within the cells."""
    names = [x.variable for x in cells]
    mixed = any(depends(e, v) for x in (*reductions, *cells) for e in (x.lower, x.upper) for v in names)
    return not mixed and not any(depends(e, r.variable) for x in cells for e in (x.lower, x.upper) for r in reductions)


def _movable(reductions: tuple[For, ...]) -> bool:
    """Whether a reduction loop in lanes may go inside the others: none of their bounds moves with it."""
    vectors = [x.variable for x in reductions if x.kind == "vector"]
    return not any(depends(e, v) for x in reductions for e in (x.lower, x.upper) for v in vectors)


def bound(loop: For) -> tuple[int, Expr | None] | None:
    """(constant bound, the other bound of `min(constant, other)` or None); None if it has no constant bound."""
    if constant(loop.lower) != 0:
        return None
    fixed = trip_count(loop)
    if fixed is not None:
        return fixed, None
    match loop.upper:
        case Call("min", arguments, _):
            constants = [c for c in map(constant, arguments) if c is not None]
            others = tuple(a for a in arguments if constant(a) is None)
            if constants and min(constants) <= 64:
                other = others[0] if len(others) == 1 else Call("min", others, INT64)
                return min(constants), other
    return None


def cut(loop: For, block: int) -> Expr:
    """Where whole blocks of a loop end."""
    if constant(loop.lower) == 0:
        count: Expr = loop.upper
    else:
        count = Binary("-", loop.upper, loop.lower, INT64)
    return simplify(Binary("+", loop.lower, multiple(count, block), INT64))


def multiple(count: Expr, block: int) -> Expr:
    """The largest multiple of `block` that is at most `count`, 0 for a negative count."""
    number = constant(simplify(count))
    if number is not None:
        return Const(max(0, number - number % block), INT64)
    return Call("whole", (simplify(count), Const(block, INT64)), INT64)
