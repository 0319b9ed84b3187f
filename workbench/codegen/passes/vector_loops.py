"""Vector loops: a loop marked `vector` becomes a loop over whole vectors and a scalar loop over the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    Define,
    For,
    If,
    Invoke,
    Nest,
    Write,
    only,
    rebuild,
    walk,
    writes,
)
from workbench.codegen.nest.nest import children as parts_of
from workbench.codegen.passes.register_tiles.accumulators import (
    SCALAR,
    Lane,
    alone,
    apart,
    chain,
    independent,
    iterations,
    keepable,
    registers,
    scalar_loop,
    separable,
    trip_count,
    untouched,
)
from workbench.codegen.passes.register_tiles.emission import emit_tile, stripped
from workbench.codegen.passes.register_tiles.epilogue import with_prologue_and_epilogue
from workbench.codegen.passes.register_tiles.partial_lanes import may_end_early
from workbench.codegen.passes.register_tiles.tiles import Tile, cells_in, cut, match_tile
from workbench.lang.algebra.normal_form import constant, depends, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Cast, Expr, Read, children
from workbench.lang.expr import walk as walk_expr
from workbench.poly.programs.tree import at_once
from workbench.target import Target

SHORTEST, NARROW = 128, 16
"""Bits of the shortest vectors, of elements that have so many bits at most: they are many to a long one."""

NARROWEST = 5
"""Iterations that are worth half a vector."""


def _one_by_one(nest: Nest) -> Iterator[Nest]:
    """The nests of a block and of the blocks in it."""
    for part in nest.body if isinstance(nest, Block) else (nest,):
        yield from _one_by_one(part) if isinstance(part, Block) else (part,)


def vectorize_loops(nest: Nest, target: Target) -> Nest:
    """Cut vector loops to the target's width and keep reductions in registers."""
    return _Rewriter(target).visit(nest, SCALAR)


class _Rewriter:
    def __init__(self, target: Target) -> None:
        self.target = target
        self.used: set[str] = set()

    def visit(self, nest: Nest, lane: Lane) -> Nest:
        """Rewrite top-down; `lane` is the vector loop around, if any."""
        if isinstance(nest, Block) and not lane.variable:
            return self.sequence(tuple(_one_by_one(nest)))
        if not isinstance(nest, For):
            return rebuild(nest, tuple(self.visit(child, lane) for child in parts_of(nest)))
        if not at_once(nest.kind):
            tile = match_tile(nest)
            if tile is not None and self.fits(tile, lane):
                return emit_tile(tile, self.lanes, lane, self.used)
        if nest.kind == "vector" and not lane.variable and self.possible(nest):
            return self.vector(nest)
        kind = "serial" if nest.kind == "vector" else nest.kind
        return replace(nest, kind=kind, body=self.visit(nest.body, lane))

    def sequence(self, parts: tuple[Nest, ...]) -> Nest:
        """One nest after the other; a tile takes its neighbours along where they compute with its cells."""
        done: list[Nest] = []
        while parts:
            for first, count in ((1, 3), (1, 2), (0, 2)):
                tile = self.accompanied(parts[:count], first) if len(parts) >= count else None
                if tile is not None:
                    done.append(emit_tile(tile, self.lanes, SCALAR, self.used))
                    parts = parts[count:]
                    break
            else:
                done.append(self.visit(parts[0], SCALAR))
                parts = parts[1:]
        return done[0] if len(done) == 1 else Block(tuple(done))

    def accompanied(self, parts: tuple[Nest, ...], at: int) -> Tile | None:
        """The tile at a place among nests, with all the others, if that is possible."""
        own = parts[at]
        tile = match_tile(own) if isinstance(own, For) and not at_once(own.kind) else None
        if tile is None or not self.fits(tile, SCALAR) or any(x.kind == "vector" for x in tile.reductions):
            return None
        after = parts[at + 1] if at + 1 < len(parts) else None
        found = with_prologue_and_epilogue(parts[0] if at else None, tile, after)
        if found is None or any(self.lanes(w) < self.lanes(tile.write) for w in (*found.before, *found.after)):
            return None
        return found

    def fits(self, tile: Tile, lane: Lane) -> bool:
        """Not inside a vector loop whose lanes may add to the same cells, nor one too short for a vector.

        Nor where its cells are more than registers hold, but those of the innermost loops alone are not.
        """
        if lane.variable:
            return all(apart(c, lane, tile.cells) for c in tile.write.cells)
        if tile.terms and cells_in(tile) > self.target.vector_registers * self.lanes(tile.write):
            return False
        vectors = [x for x in tile.reductions if x.kind == "vector"]
        return not any(_is_small(x, self.lanes(tile.write)) for x in vectors)

    def lanes(self, nest: Nest) -> int:
        """Lanes that fill a register with the widest element computed in the nest."""
        return self.target.lanes(max([8, *(widest(w) for w in writes(nest))]))

    def width(self, loop: For) -> int:
        """Lanes of a loop's vectors; of narrow elements that do not fill a register those of a shorter one."""
        lanes, shortest = self.lanes(loop.body), self.shortest(loop)
        while shortest and lanes > shortest and _is_small(loop, lanes):
            lanes //= 2
        return lanes

    def shortest(self, loop: For) -> int:
        """Lanes of the shortest vectors of elements of 8 or 16 bits that are worth it; 0 for others and for sums."""
        bits = max([8, *(widest(w) for w in writes(loop.body))])
        plain = not any(w.reduction for w in writes(loop.body))
        return SHORTEST // bits if plain and bits <= NARROW else 0

    def possible(self, loop: For) -> bool:
        """Whether the body can run in lanes of this loop."""
        lanes = self.width(loop)
        short = _is_small(loop, lanes) and not self.part(loop)
        if loop.step != 1 or lanes < 2 or short or interleaves(loop):
            return False
        for node in walk(loop.body):
            match node:
                case If() if depends(node.condition, loop.variable):
                    return False
                case Invoke():
                    return False
                case For() if at_once(node.kind):
                    return False
                case For() if depends(node.lower, loop.variable) or depends(node.upper, loop.variable):
                    return False
                case Define() if depends(node.value, loop.variable):
                    return False
        return all(self.storable(loop, w) for w in writes(loop.body))

    def storable(self, loop: For, write: Write) -> bool:
        """Whether each lane writes its own cell, or the write is a reduction that can be kept in lanes."""
        fixed = [independent(c, loop.variable) for c in write.cells]
        if not any(fixed):
            return True
        if write.reduction is None or not all(fixed) or not keepable(write):
            return False
        if not untouched(loop.body, write) and not (chain(loop) and alone(write, [loop, *_around(loop.body, write)])):
            return False
        inner = _around(loop.body, write)
        moving = [x for x in inner if any(depends(s, x.variable) for c in write.cells for s in c.subscripts)]
        if any(trip_count(x) is None or x.kind != "unroll" for x in moving):
            return False
        return all(separable(c, [x.variable for x in moving]) for c in write.cells)

    def part(self, loop: For) -> int:
        """The lanes of the one vector that a short loop is, of which some may not exist; 0 if it is none."""
        count, bits = iterations(loop) or 0, max([8, *(widest(w) for w in writes(loop.body))])
        lanes = 1 << max(0, count - 1).bit_length()
        plain = not any(w.reduction for w in writes(loop.body)) and NARROWEST <= count <= lanes < self.lanes(loop.body)
        return lanes if plain and may_end_early(tuple(writes(loop.body)), loop.variable, lanes) and bits == 32 else 0

    def vector(self, loop: For) -> Nest:
        """Whole vectors (several at a time in light reductions), then the rest one by one."""
        width = self.width(loop)
        if lanes := self.part(loop):
            end = None if lanes == iterations(loop) else loop.upper
            return self.strip(loop, loop.upper, lanes, 1, [], limit=end)
        reductions = [w for w in writes(loop.body) if w.reduction and independent(w.cells[0], loop.variable)]
        unrolled = 4 if reductions and light(loop.body) else 1
        parts: list[Nest] = []
        start = loop.lower
        shortest, count = self.shortest(loop), iterations(loop)
        ways = [(width, unrolled), (width, 1)] if unrolled > 1 else [(width, 1)]
        ways += [(shortest, 1)] if shortest and shortest <= (count or 0) % width else []
        for lanes, times in ways:
            piece = replace(loop, lower=start)
            end = cut(piece, lanes * times)
            if end == start:
                continue
            parts.append(self.strip(piece, end, lanes, times, reductions))
            start = end
        if count is None or count % ways[-1][0]:
            rest = replace(loop, lower=start)
            early = not reductions and may_end_early(tuple(writes(loop.body)), loop.variable, width)
            last = self.strip(rest, loop.upper, width, 1, [], limit=loop.upper) if early else None
            parts.append(last or self.visit(scalar_loop(rest), SCALAR))
        return parts[0] if len(parts) == 1 else Block(tuple(parts))

    def strip(
        self, loop: For, end: Expr, width: int, unrolled: int, reductions: list[Write], limit: Expr | None = None
    ) -> Nest:
        lane = Lane(loop.variable, width, limit)
        body, extra = stripped(loop.body, loop.variable, width, unrolled, self.used)
        body = self.visit(body, lane)
        if extra is not None:
            body = replace(extra, body=body)
        nest: Nest = replace(loop, upper=end, body=body, step=width * unrolled, lanes=width, limit=limit)
        for write in reductions:
            inner = _around(loop.body, write)
            moving = tuple(x for x in inner if not all(independent(c, x.variable) for c in write.cells))
            dims = (*((extra,) if extra is not None else ()), *moving)
            nest = registers(write, dims, lane, nest, self.used)
        return nest


def _is_small(loop: For, width: int) -> bool:
    """Whether the loop surely has fewer iterations than one vector has lanes."""
    arguments = loop.upper.arguments if isinstance(loop.upper, Call) else (loop.upper,)
    limits = [constant(simplify(Binary("-", a, loop.lower, INT64))) for a in arguments]
    return any(limit is not None and limit < width for limit in limits)


def interleaves(loop: For) -> bool:
    """Whether it only copies short elements to places that are apart: rows that are put side by side have a better
    way (`interleaved_copies`), and single ones gain nothing.
    """
    write = only(loop.body)
    if not isinstance(write, Write) or write.reduction is not None or len(write.cells) != 1:
        return False
    value, (cell,) = write.values[0], write.cells
    moved = value.operand if isinstance(value, Cast) else value
    apart = not any(depends(s, loop.variable) for s in cell.subscripts[-1:])
    return isinstance(moved, Read) and cell.dtype.bytes <= 2 and apart and not independent(cell, loop.variable)


def _around(nest: Nest, write: Write) -> list[For]:
    """The loops of `nest` around `write`, from the outside in."""
    for child in parts_of(nest):
        if any(w is write for w in writes(child)):
            own = [nest] if isinstance(nest, For) else []
            return own + _around(child, write)
    return []


def widest(write: Write) -> int:
    """Bits of the widest element that the write computes with."""
    bits = [c.dtype.bits for c in write.cells]
    for value in write.values:
        bits += [32 if node.dtype.is_half else node.dtype.bits for node in values_in(value)]
    halves = any(c.dtype.is_half for c in write.cells)
    return max([32 if halves else 8, *bits])


def values_in(expr: Expr) -> list[Expr]:
    """The nodes computed as values: subscripts of reads are not among them."""
    if isinstance(expr, Read):
        return [expr]
    if expr.dtype == INT64 and index_arithmetic(expr):
        return []
    return [expr, *(n for child in children(expr) for n in values_in(child))]


def index_arithmetic(expr: Expr) -> bool:
    """Whether it is made of loop variables and sizes only: lanes hold it in 32 bits."""
    return not any(isinstance(node, Read) for node in walk_expr(expr))


def light(nest: Nest) -> bool:
    """Few writes and no function but min and max: the loop waits for its accumulator, not for its arithmetic."""
    found = list(writes(nest))
    calls = [
        n for w in found for v in w.values for n in walk_expr(v)
        if isinstance(n, Call) and n.function not in ("min", "max", "select", "abs")
    ]  # fmt: skip
    loops = any(isinstance(n, For | Accumulate) for n in walk(nest))
    plain = all(w.reduction in (None, "+", "*", "min", "max") for w in found)
    return len(found) <= 3 and not calls and not loops and plain
