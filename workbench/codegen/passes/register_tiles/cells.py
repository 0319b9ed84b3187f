"""Loops over a tile's cells: unrolled inside the reduction where they are full, and walking outside where not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.codegen.nest.nest import Block, For, If, Nest, Write, map_write
from workbench.codegen.passes.register_tiles.accumulators import Lane, scalar_loop
from workbench.codegen.passes.register_tiles.partial_lanes import may_end_early, registers_may_end_early
from workbench.codegen.passes.register_tiles.tiles import Tile, bound, multiple
from workbench.lang.algebra.normal_form import constant, polynomial, remainder, simplify
from workbench.lang.algebra.polynomial import number
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, substitute
from workbench.records import record

Emit = Callable[[Tile, tuple[For, ...], Lane], Nest]


def over_cells(tile: Tile, lane: Lane, width: int, emit: Emit) -> Nest:
    """The tile in full and partial versions, the last of its vector loops in vectors of `width` lanes."""
    return _Part(tile, tile.cells, (), lane, width, emit).nest()


@record
class _Part:
    """A tile on the way: loops over cells that are `left` to be decided, and those that are unrolled `inside`."""

    tile: Tile
    left: tuple[For, ...]
    inside: tuple[For, ...]
    lane: Lane
    width: int
    emit: Emit

    def nest(self) -> Nest:
        if not self.left:
            return self.emit(self.tile, self.inside, self.lane)
        most, other = self.bounds
        if other is None:
            return self.full(most)
        complete = Binary(">=", other, Const(most, INT64), BOOL)
        return If(complete, self.full(most), self.partial(most, other))

    @property
    def first(self) -> For:
        return self.left[0]

    @property
    def bounds(self) -> tuple[int, Expr | None]:
        """The most iterations of the first loop, and what else bounds it."""
        found = bound(self.first)
        assert found is not None
        return found

    @property
    def vector(self) -> bool:
        """Whether the first loop left is the one in lanes."""
        later = any(x.kind == "vector" for x in self.left[1:])
        return self.first.kind == "vector" and self.width > 1 and not later

    @property
    def early(self) -> bool:
        tile, variable = self.tile, self.first.variable
        if may_end_early((*tile.before, tile.write, *tile.after), variable, self.width):
            return True
        return registers_may_end_early(tile.before, tile.write, tile.after, variable, self.width)

    def within(self, *loops: For, tile: Tile | None = None, lane: Lane | None = None) -> Nest:
        """What is left after the first loop; `loops` are unrolled inside."""
        inside = (*self.inside, *loops)
        return _Part(tile or self.tile, self.left[1:], inside, lane or self.lane, self.width, self.emit).nest()

    def full(self, most: int) -> Nest:
        upper = Const(most, INT64)
        if not self.vector:
            return self.within(replace(self.first, upper=upper, kind="unroll"))
        if most % self.width and most > self.width // 2 and self.early:
            return self.all_vectors(most, upper)
        parts: list[Nest] = []
        start = 0
        for lanes in narrowing(self.width):
            whole = (most - start) - (most - start) % lanes
            if whole:
                fixed = replace(self.first, upper=Const(whole, INT64), kind="unroll", step=lanes, lanes=lanes)
                moved = _moved(self.tile, self.first.variable, Const(start, INT64))
                parts.append(self.within(fixed, tile=moved, lane=Lane(self.first.variable, lanes)))
            start += whole
        if start < most:
            parts.append(self.outside(replace(self.first, lower=Const(start, INT64), upper=upper)))
        return parts[0] if len(parts) == 1 else Block(tuple(parts))

    def partial(self, most: int, limit: Expr) -> Nest:
        if not self.vector:
            rest = rest_of(limit, most)
            return self.in_pairs(most) if rest is None else self.in_one(rest, limit)
        if self.early:
            return self.early_vectors(most, limit)
        parts: list[Nest] = []
        first = self.first
        for lanes in narrowing(self.width)[:2]:
            end = multiple(first.upper, lanes)
            body = self.within(lane=Lane(first.variable, lanes))
            parts.append(replace(first, upper=end, body=body, step=lanes, lanes=lanes))
            first = replace(first, lower=end)
        return Block((*parts, self.outside(first)))

    def all_vectors(self, most: int, limit: Expr) -> Nest:
        """As many whole vectors as the loop may need; what reaches the limit is not there."""
        upper = Const(-(-most // self.width) * self.width, INT64)
        fixed = replace(self.first, upper=upper, kind="unroll", step=self.width, lanes=self.width, limit=limit)
        return self.within(fixed, lane=Lane(self.first.variable, self.width, limit))

    def early_vectors(self, most: int, limit: Expr) -> Nest:
        """All vectors of the tile if the last one is needed, else one vector after another."""
        body = self.within(lane=Lane(self.first.variable, self.width, limit))
        single = replace(self.first, upper=limit, body=body, step=self.width, lanes=self.width, limit=limit)
        before_last = (most - 1) // self.width * self.width
        if not before_last:
            return single
        needed = Binary(">", limit, Const(before_last, INT64), BOOL)
        return If(needed, self.all_vectors(most, limit), single)

    def in_one(self, rest: int, limit: Expr) -> Nest:
        """All cells at a time: where a tile is not full, there are so many, or none."""
        if rest == 1 or self.width < 2:
            return self.outside(self.first)
        return self.abreast(rest, limit)

    def in_pairs(self, most: int) -> Nest:
        """Two cells at a time, then one."""
        if most < 3 or self.width < 2:
            return self.outside(self.first)
        end = multiple(self.first.upper, 2)
        return Block((self.abreast(2, end), self.outside(replace(self.first, lower=end))))

    def abreast(self, count: int, end: Expr) -> Nest:
        """The loop around all that is left, so many cells at a time."""
        name = f"{self.first.variable}.2"
        moved = _moved(self.tile, self.first.variable, Index(name, INT64))
        these = replace(self.first, lower=Const(0, INT64), upper=Const(count, INT64), kind="unroll")
        body = self.within(these, tile=moved)
        return replace(scalar_loop(self.first), variable=name, upper=end, step=count, body=body)

    def outside(self, loop: For) -> Nest:
        """The loop around all that is left, one cell after another."""
        return replace(scalar_loop(loop), body=self.within())


def rest_of(limit: Expr, most: int) -> int | None:
    """What a limit below `most` is wherever it is positive; None if it may be several numbers.

    16 - 6 * x  is 4, if it is less than 6.
    """
    ends = limit.arguments if isinstance(limit, Call) and limit.function == "min" else (limit,)
    rests = {remainder(polynomial(end), number(most)).constant for end in ends} - {0}
    return rests.pop() if len(rests) == 1 else None


def narrowing(width: int) -> list[int]:
    """Numbers of lanes, each half of the one before: what is left of a row needs few narrow vectors."""
    return [width >> n for n in range(width.bit_length() - 1)]


def _moved(tile: Tile, variable: str, start: Expr) -> Tile:
    """The tile that begins so many cells later."""
    if constant(start) == 0:
        return tile
    later = simplify(Binary("+", start, Index(variable, INT64), INT64))

    def moved(write: Write) -> Write:
        return map_write(write, lambda e: substitute(e, {variable: later}))

    before, after = tuple(map(moved, tile.before)), tuple(map(moved, tile.after))
    return replace(tile, write=moved(tile.write), before=before, after=after)
