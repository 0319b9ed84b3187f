"""Register tiles on slanted domains: where no border of the domain cuts a tile it is a box, and stays in registers.

    for k: for m_i in max(e, 0) .. 6 (unroll): for n_i < min(f + m_i, 8) (vector): C(m,n) += A(m,k) * B(k,n)

becomes

    if (e <= 0 && f >= 8)
        for k: for m_i < 6 (unroll): for n_i < 8 (vector): S
    else
        for m_i in max(e, 0) .. 6: for k: for n_i < min(f + m_i, 8) (vector): S

A bound that moves with the reduction, as in a product with a triangle, divides the reduction where it stops to matter:
some steps at one end, the box in the others.  Each cell receives its contributions in the same order.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import Block, For, If, Nest, Write, children, map_write, rebuild
from workbench.codegen.passes.register_tiles.accumulators import alone, chain, independent, keepable, separable
from workbench.lang.algebra.normal_form import constant, depends, growth, is_index_arithmetic, simplify
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Read, conjunction, substitute, transform
from workbench.poly.programs.tree import at_once
from workbench.records import record

WIDEST = 64  # cells of a box along one loop
TILE = ("unroll", "vector")

Pair = tuple[int, tuple[Expr, ...]]


@record
class Slanted:
    """A reduction whose tile is a box but where a border of the domain cuts it.

    `boxes` are the loops over cells, at their full length where they are cut by what moves with another loop; `least`
    are expressions that are at least 0 in a box.
    """

    reductions: tuple[For, ...]
    cells: tuple[For, ...]
    boxes: tuple[For, ...]
    least: tuple[Expr, ...]
    write: Write


def slanted_tiles(nest: Nest) -> Nest:
    """The nest with a box of its own for every tile that may be one."""
    if isinstance(nest, For) and not at_once(nest.kind):
        found = match_slanted(nest)
        if found is not None:
            return _divided(found) or nest
    return rebuild(nest, tuple(map(slanted_tiles, children(nest))))


def match_slanted(nest: For) -> Slanted | None:
    """The tile whose outermost loop is `nest`, if its cells are cut by what moves with another of its loops."""
    found = chain(nest)
    if found is None or found[1].reduction is None:
        return None
    loops, write = found
    fixed = [all(independent(c, x.variable) for c in write.cells) for x in loops]
    reductions, cells = tuple(loops[: sum(fixed)]), tuple(loops[sum(fixed) :])
    if not reductions or not cells or not all(fixed[: sum(fixed)]):
        return None
    if any(at_once(x.kind) or x.step != 1 for x in loops) or any(x.kind not in TILE for x in cells):
        return None
    if not _movable(reductions, cells, write) or not any(_slants(x, loops) for x in cells):
        return None
    return _boxed(reductions, cells, write)


def _movable(reductions: tuple[For, ...], cells: tuple[For, ...], write: Write) -> bool:
    """Whether the cells may be taken in any order, each with its contributions in theirs; the latter form a box."""
    names = [x.variable for x in cells]
    variables = [x.variable for x in (*reductions, *cells)]
    moved = any(depends(e, v) for x in reductions for e in (x.lower, x.upper) for v in variables)
    free = alone(write, (*reductions, *cells)) and keepable(write)
    return free and not moved and all(separable(c, names) for c in write.cells)


def _boxed(reductions: tuple[For, ...], cells: tuple[For, ...], write: Write) -> Slanted | None:
    """The loops at their full length, and where they have it; None if that cannot be said."""
    limits = [found for found in map(_limits, cells) if found is not None]
    if len(limits) < len(cells):
        return None
    lengths = [Const(most, INT64) for most, _ in limits]
    full = tuple(replace(x, lower=Const(0, INT64), upper=n) for x, n in zip(cells, lengths, strict=True))
    slants = [_slants(x, [*reductions, *cells]) for x in cells]
    boxes = tuple(box if cut else x for x, box, cut in zip(cells, full, slants, strict=True))
    least = [_least(e, full) for (_, own), cut in zip(limits, slants, strict=True) if cut for e in own]
    known = tuple(e for e in least if e is not None)
    return Slanted(reductions, cells, boxes, known, _undivided(write, full)) if len(known) == len(least) else None


def _slants(loop: For, loops: list[For]) -> bool:
    """Whether it does not begin at 0, or ends where another loop says."""
    return constant(loop.lower) != 0 or any(depends(loop.upper, x.variable) for x in loops)


def _limits(loop: For) -> Pair | None:
    """How long a loop is at most, and what is at least 0 where it is so long; None if it does not begin at 0 then."""
    least: list[Expr] = []
    if constant(loop.lower) != 0:
        numbers, others = _sides(loop.lower, "max")
        if not numbers or max(numbers) != 0:
            return None
        least += [simplify(Binary("-", Const(0, INT64), e, INT64)) for e in others]
    numbers, others = _sides(loop.upper, "min")
    if not numbers or not 1 <= min(numbers) <= WIDEST:
        return None
    most = min(numbers)
    return most, (*least, *(simplify(Binary("-", e, Const(most, INT64), INT64)) for e in others))


def _sides(bound: Expr, function: str) -> tuple[list[int], list[Expr]]:
    """The constants of a minimum or maximum, and the others."""
    parts = bound.arguments if isinstance(bound, Call) and bound.function == function else (bound,)
    flat: list[Expr] = []
    numbers: list[int] = []
    for part in parts:
        number = constant(part)
        if number is not None:
            numbers.append(number)
        elif isinstance(part, Call) and part.function == function and part is not bound:
            inner = _sides(part, function)
            numbers, flat = numbers + inner[0], flat + inner[1]
        else:
            flat.append(part)
    return numbers, flat


def _least(expr: Expr, boxes: tuple[For, ...]) -> Expr | None:
    """Its smallest value over the cells of a box; None if that is not known."""
    for loop in boxes:
        if not depends(expr, loop.variable):
            continue
        step = growth(expr, loop.variable)
        most = constant(loop.upper)
        if step is None or most is None:
            return None
        expr = simplify(substitute(expr, {loop.variable: Const(0 if step > 0 else most - 1, INT64)}))
    return expr


def _divided(tile: Slanted) -> Nest | None:
    """The box and what is cut, by a test outside or along one loop of the reduction."""
    variables = [x.variable for x in tile.reductions]
    moving = [e for e in tile.least if any(depends(e, v) for v in variables)]
    steady = _strongest([e for e in tile.least if e not in moving and constant(e) is None])
    if any((constant(e) or 0) < 0 for e in tile.least):
        return None
    box = _along(tile, moving) if moving else _box(tile)
    if box is None or not steady:
        return box
    return If(conjunction([Binary(">=", e, Const(0, INT64), BOOL) for e in steady]), box, _cut(tile))


def _strongest(least: list[Expr]) -> list[Expr]:
    """Without what is at least another one, or the same."""
    kept: list[Expr] = []
    for expr in least:
        apart = [constant(simplify(Binary("-", expr, other, INT64))) for other in kept]
        if not any(number is not None and number >= 0 for number in apart):
            kept = [o for o, number in zip(kept, apart, strict=True) if number is None] + [expr]
    return kept


def _cut(tile: Slanted) -> Nest:
    """A tile that a border cuts: its loops one by one, outside the reduction where they may stand there."""
    moving = [x for x in tile.cells if _slants(x, [*tile.reductions, *tile.cells])]
    names = [x.variable for x in tile.reductions]
    stuck = any(depends(e, v) for x in moving for e in (x.lower, x.upper) for v in names)
    if stuck:
        return _nested(tile, tuple(replace(x, kind="serial") if x in moving else x for x in tile.cells))
    inner = tile.cells[-1:] if constant(tile.cells[-1].lower) == 0 else ()
    outer = tile.cells[: len(tile.cells) - len(inner)]
    nest = _nested(tile, inner)
    for loop in reversed(outer):
        lanes = loop is tile.cells[-1] and loop.kind == "vector"
        nest = replace(loop, body=nest, kind="vector" if lanes else "serial")
    return nest


def _along(tile: Slanted, moving: list[Expr]) -> Nest | None:
    """The reduction in three pieces: before the box, the box, after it."""
    loop, *others = tile.reductions
    if others:
        return None
    first, last = loop.lower, loop.upper
    for expr in moving:
        step = growth(expr, loop.variable)
        if step not in (1, -1):
            return None
        start = simplify(substitute(expr, {loop.variable: Const(0, INT64)}))
        if step == 1:
            first = _of("max", first, simplify(Binary("-", Const(0, INT64), start, INT64)))
        else:
            last = _of("min", last, simplify(Binary("+", start, Const(1, INT64), INT64)))
    begins, ends = first != loop.lower, last != loop.upper
    first = _of("min", first, loop.upper) if begins else first
    last = _of("max", first, last) if ends else last
    parts = [_piece(tile, loop, loop.lower, first)] if begins else []
    parts.append(_box(replace(tile, reductions=(replace(loop, lower=first, upper=last),))))
    parts += [_piece(tile, loop, last, loop.upper)] if ends else []
    return Block(tuple(parts))


def _of(function: str, a: Expr, b: Expr) -> Expr:
    return simplify(Call(function, (a, b), INT64))


def _piece(tile: Slanted, loop: For, lower: Expr, upper: Expr) -> Nest:
    return _cut(replace(tile, reductions=(replace(loop, lower=lower, upper=upper),)))


def _box(tile: Slanted) -> Nest:
    """The tile as a box; without contributions its cells may lie outside the array, and must not be touched."""
    filled: list[Expr] = []
    for loop in tile.reductions:
        steps = constant(simplify(Binary("-", loop.upper, loop.lower, INT64)))
        if steps is None or steps <= 0:
            filled.append(Binary("<", loop.lower, loop.upper, BOOL))
    nest = _nested(tile, tile.boxes)
    return If(conjunction(filled), nest) if filled else nest


def _undivided(write: Write, boxes: tuple[For, ...]) -> Write:
    """The write without divisions of a box's variables by what these do not reach: `j / 16` is 0 where j < 16."""
    most = {x.variable: constant(x.upper) for x in boxes}

    def change(node: Expr) -> Expr:
        match node:
            case Binary("/" | "%" as op, Index(name, _) as index, Const(by, _), dtype):
                end = most.get(name)
                if end is not None and end <= by:
                    return index if op == "%" else Const(0, dtype)
        return node

    return map_write(write, lambda e: _simple(transform(e, change)))


def _simple(expr: Expr) -> Expr:
    """Index arithmetic in its shortest form; values as they are but for their subscripts."""
    if is_index_arithmetic(expr):
        return simplify(expr, expr.dtype)
    return transform(expr, _addressed)


def _addressed(node: Expr) -> Expr:
    """A read with its subscripts in their shortest form."""
    if isinstance(node, Read) and all(map(is_index_arithmetic, node.subscripts)):
        return replace(node, subscripts=tuple(map(simplify, node.subscripts)))
    return node


def _nested(tile: Slanted, cells: tuple[For, ...]) -> Nest:
    nest: Nest = tile.write
    for loop in reversed((*tile.reductions, *cells)):
        nest = replace(loop, body=nest)
    return nest
