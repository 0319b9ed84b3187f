"""Register tiles: a reduction whose innermost loops are unrolled or vectorised keeps its cells in registers.

    for k: for m_i < 6 (unroll): for n_i < 16 (vector): C(m,n) += A(m,k) * B(k,n)

becomes, where the tile is full, a loop over k around twelve vector accumulators.  Where it is partial, the loop that
is cut short moves outside: rows one by one, columns one vector and then one cell at a time.  That is another
interleaving of independent cells; each cell still receives its contributions in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.codegen.accumulators import (
    SCALAR,
    Lane,
    chain,
    computable,
    fresh,
    independent,
    registers,
    scalar_loop,
    separable,
    trip,
    untouched,
)
from workbench.codegen.nest import Block, For, If, Nest, Write, map_expressions, map_write
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, substitute
from workbench.lang.normal_form import constant, depends, simplify
from workbench.records import record


@record
class Tile:
    """A matched reduction: its loops, the loops over its cells, and the one write.

    `before` gives the cells their first values, `after` computes with the last ones (`tile_company`).
    """

    reductions: tuple[For, ...]
    cells: tuple[For, ...]
    write: Write
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
    if not fixed or not fixed[0] or any(x.kind == "parallel" for x in loops):
        return None
    if any(x.step != 1 for x in loops) or not untouched(write, write) or not computable(write):
        return None
    if not _free_standing(reductions, cells) or not _movable(reductions):
        return None
    if any(x.kind not in ("unroll", "vector") or bound(x) is None for x in cells):
        return None
    if not all(separable(c, [x.variable for x in cells]) for c in write.cells):
        return None
    return Tile(reductions, cells, write)


def _free_standing(reductions: tuple[For, ...], cells: tuple[For, ...]) -> bool:
    """Whether no bound of one group moves with a variable of the other, nor within the cells."""
    names = [x.variable for x in cells]
    mixed = any(depends(e, v) for x in (*reductions, *cells) for e in (x.lower, x.upper) for v in names)
    return not mixed and not any(
        depends(e, r.variable) for x in cells for e in (x.lower, x.upper) for r in reductions
    )


def _movable(reductions: tuple[For, ...]) -> bool:
    """Whether a reduction loop in lanes may go inside the others: none of their bounds moves with it."""
    vectors = [x.variable for x in reductions if x.kind == "vector"]
    return not any(depends(e, v) for x in reductions for e in (x.lower, x.upper) for v in vectors)


def bound(loop: For) -> tuple[int, Expr | None] | None:
    """(constant bound, the other bound of `min(constant, other)` or None); None if it has no constant bound."""
    if constant(loop.lower) != 0:
        return None
    fixed = trip(loop)
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


def emit_tile(tile: Tile, lanes: Callable[[Write], int], lane: Lane, used: set[str]) -> Nest:
    """The tile in full and partial versions."""
    vectors = [x for x in (*tile.reductions, *tile.cells) if x.kind == "vector"]
    if lane.variable or not vectors:
        return _cells(tile, tile.cells, (), lane, lambda t, d, ln: _sum(t, d, ln, used), 1)
    width = lanes(tile.write)
    if width < 2:
        return _cells(tile, tile.cells, (), lane, lambda t, d, ln: _sum(t, d, ln, used), 1)
    if vectors[-1].variable in {x.variable for x in tile.reductions}:
        return _cells(tile, tile.cells, (), lane, lambda t, d, ln: _dot(t, d, vectors[-1], width, used), 1)
    return _cells(tile, tile.cells, (), lane, lambda t, d, ln: _sum(t, d, ln, used), width)


Emit = Callable[[Tile, tuple[For, ...], Lane], Nest]


def _cells(
    tile: Tile, left: tuple[For, ...], inside: tuple[For, ...], lane: Lane, emit: Emit, width: int
) -> Nest:
    """Decide for each loop over cells whether it is unrolled inside or walks outside."""
    if not left:
        return emit(tile, inside, lane)
    first, rest = left[0], left[1:]
    limits = bound(first)
    assert limits is not None
    vector = first.kind == "vector" and width > 1 and not any(x.kind == "vector" for x in rest)
    full = _full(tile, first, rest, inside, lane, emit, width, limits[0], vector)
    if limits[1] is None:
        return full
    partial = _partial(tile, first, rest, inside, lane, emit, width, vector)
    complete = Binary(">=", limits[1], Const(limits[0], INT64), BOOL)
    return If(complete, full, partial)


def _full(
    tile: Tile, first: For, rest: tuple[For, ...], inside: tuple[For, ...], lane: Lane, emit: Emit, width: int,
    count: int, vector: bool,
) -> Nest:  # fmt: skip
    upper = Const(count, INT64)
    if not vector:
        fixed = replace(first, upper=upper, kind="unroll")
        return _cells(tile, rest, (*inside, fixed), lane, emit, width)
    parts: list[Nest] = []
    start = 0
    for lanes in narrowing(width):
        whole = (count - start) - (count - start) % lanes
        if whole:
            fixed = replace(first, upper=Const(whole, INT64), kind="unroll", step=lanes, lanes=lanes)
            moved = _moved(tile, first.variable, start)
            parts.append(_cells(moved, rest, (*inside, fixed), Lane(first.variable, lanes), emit, width))
        start += whole
    if start < count:
        tail = replace(first, lower=Const(start, INT64), upper=upper)
        parts.append(_outside(tile, tail, rest, inside, lane, emit, width))
    return parts[0] if len(parts) == 1 else Block(tuple(parts))


def narrowing(width: int) -> list[int]:
    """Numbers of lanes, each half of the one before: what is left of a row needs few narrow vectors."""
    return [width >> n for n in range(width.bit_length() - 1)]


def _moved(tile: Tile, variable: str, start: int) -> Tile:
    """The tile that begins so many cells later."""
    if not start:
        return tile
    later = simplify(Binary("+", Index(variable, INT64), Const(start, INT64), INT64))

    def moved(write: Write) -> Write:
        return map_write(write, lambda e: substitute(e, {variable: later}))

    before, after = tuple(map(moved, tile.before)), tuple(map(moved, tile.after))
    return replace(tile, write=moved(tile.write), before=before, after=after)


def _partial(
    tile: Tile, first: For, rest: tuple[For, ...], inside: tuple[For, ...], lane: Lane, emit: Emit, width: int,
    vector: bool,
) -> Nest:  # fmt: skip
    if not vector:
        return _outside(tile, first, rest, inside, lane, emit, width)
    parts: list[Nest] = []
    for lanes in narrowing(width)[:2]:
        end = multiple(first.upper, lanes)
        body = _cells(tile, rest, inside, Lane(first.variable, lanes), emit, width)
        parts.append(replace(first, upper=end, body=body, step=lanes, lanes=lanes))
        first = replace(first, lower=end)
    return Block((*parts, _outside(tile, first, rest, inside, lane, emit, width)))


def _outside(
    tile: Tile, first: For, rest: tuple[For, ...], inside: tuple[For, ...], lane: Lane, emit: Emit, width: int
) -> Nest:
    return replace(scalar_loop(first), body=_cells(tile, rest, inside, lane, emit, width))


def _sum(tile: Tile, dims: tuple[For, ...], lane: Lane, used: set[str]) -> Nest:
    """Reduction loops around the unrolled cells, between their first values and what is computed with the last."""
    nest = _each((tile.write,), dims)
    for loop in reversed(tile.reductions):
        nest = replace(loop, body=nest, kind="unroll" if loop.kind == "unroll" else "serial")
    parts = [nest]
    if tile.before:
        parts.insert(0, _each(tile.before, dims))
    if tile.after:
        parts.append(_each(tile.after, dims))
    body = nest if len(parts) == 1 else Block(tuple(parts))
    return registers(tile.write, dims, lane, body, used, loads=not tile.before)


def _each(writes: tuple[Write, ...], dims: tuple[For, ...]) -> Nest:
    """The writes in the unrolled loops over cells."""
    nest: Nest = writes[0] if len(writes) == 1 else Block(writes)
    for loop in reversed(dims):
        nest = replace(loop, body=nest)
    return nest


def _dot(tile: Tile, dims: tuple[For, ...], vector: For, width: int, used: set[str]) -> Nest:
    """The reduction itself runs in lanes: partial sums, then a scalar pass over what is left."""
    unrolled = 1 if dims else 4
    others = tuple(x for x in tile.reductions if x is not vector)
    last = cut(vector, width * unrolled)
    main = _lanes(tile, dims, vector, last, width, unrolled, others, used)
    parts = [main]
    if unrolled > 1 and _may_remain(vector.lower, vector.upper, width * unrolled):
        middle = replace(vector, lower=last)
        end = cut(middle, width)
        if end != last:
            parts.append(_lanes(tile, dims, middle, end, width, 1, others, used))
        last = end
    if _may_remain(vector.lower, vector.upper, width):
        tail = scalar_loop(replace(vector, lower=last))
        scalar = replace(tile, reductions=(*others, tail))
        parts.append(_sum(scalar, dims, SCALAR, used))
    return parts[0] if len(parts) == 1 else Block(tuple(parts))


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


def _may_remain(lower: Expr, upper: Expr, block: int) -> bool:
    count = constant(simplify(Binary("-", upper, lower, INT64)))
    return count is None or count % block != 0


def _lanes(
    tile: Tile, dims: tuple[For, ...], vector: For, last: Expr, width: int, unrolled: int, others: tuple[For, ...],
    used: set[str],
) -> Nest:  # fmt: skip
    nest, extra = stripped(tile.write, vector.variable, width, unrolled, used)
    for loop in reversed(dims):
        nest = replace(loop, body=nest)
    if extra is not None:
        nest = replace(extra, body=nest)
    nest = replace(vector, upper=last, body=nest, step=width * unrolled, lanes=width, kind="vector")
    for loop in reversed(others):
        nest = replace(scalar_loop(loop), body=nest)
    kept_in = (*((extra,) if extra is not None else ()), *dims)
    return registers(tile.write, kept_in, Lane(vector.variable, width), nest, used)


def stripped(nest: Nest, variable: str, width: int, unrolled: int, used: set[str]) -> tuple[Nest, For | None]:
    """The nest shifted by `width * u` and the loop over u, when several vectors are processed at once."""
    if unrolled == 1:
        return nest, None
    name = fresh(f"{variable}.u", used)
    step = Binary("*", Const(width, INT64), Index(name, INT64), INT64)
    moved = Binary("+", Index(variable, INT64), step, INT64)
    shifted = map_expressions(nest, lambda e: substitute(e, {variable: moved}))
    return shifted, For(name, name, Const(0, INT64), Const(unrolled, INT64), nest, 1, "unroll")
