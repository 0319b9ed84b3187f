"""Transpositions: one loop runs along what is read, another along what is written.

    for m: for n: B(n, m) = A(m, n)

Squares as wide as a register are transposed in registers.  Around them stand blocks that write several lines of few
rows and read few lines of many: few pages are written at once, and the next block reads the lines beside these.
"""

from __future__ import annotations

from itertools import takewhile

from workbench.poly.programs.loop_names import LoopName, loops_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, statements
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.loops.loop_collapse import run_along
from workbench.schedules.recipes.memory.nontemporal_stores import FULL, beyond_caches, touched_once
from workbench.schedules.recipes.try_steps import dim_of
from workbench.schedules.steps import fuse, nontemporal, prefetch, reorder, split, tile, vectorize
from workbench.schedules.transform import Transform
from workbench.target import Target

LINES = 8
"""Cache lines of a row that a block writes."""

LINES_BEYOND, READ_BEYOND = 4, 2
"""Lines of a row that a block writes past the caches and reads: what two columns of squares share is still near."""

AHEAD = 2
"""Blocks from which a line is asked for to that in which it is read."""

APART = 2048
"""Bytes from row to row that leave a column two sets of a first-level cache at most."""

COLLIDING = 0.125
"""The part of the last cache from which on copies go past it where rows collide, which throw one another out."""


def across(program: Program, band: Band, read: int, written: int, target: Target) -> list[list[Transform]]:
    """Ways to copy across two loops of a band, given by their places; the best first."""
    names = loops_of(program.statement(statements(band)[-1]).name, (x.name for x in band.loops))
    near = collides(program, band, (written, read), target)
    far = beyond_caches(program, target, COLLIDING if near else FULL)
    found: list[list[Transform]] = []
    joined = joint(program, band, read, target) if read < written else 1
    if joined > 1:
        long = fuse(*names[read + 1 - joined : read + 1])
        steps = transpositions(long.fused, names[written], target)
        found += [[long, *x] for x in steps[0 if near else 1 :]]
    if far:
        found += _nontemporal(program, band, names[read], names[written], target)
    return found + transpositions(names[read], names[written], target)[0 if near else 1 :]


def _nontemporal(
    program: Program, band: Band, read: LoopName, written: LoopName, target: Target
) -> list[list[Transform]]:
    """The blocks of a copy that goes past the caches, and is asked for before."""
    ids, line = statements(band), target.line_bytes // 4
    sources = list(dict.fromkeys(r.array for s in ids for r in structure(program, s).reads))
    own = program.statement(ids[0])
    if len(ids) != 1 or len(sources) != 1 or not touched_once(program, own):
        return []
    blocks = _blocks(read, written, (READ_BEYOND * line, LINES_BEYOND * line), target)
    distance = AHEAD * READ_BEYOND * line
    return [[*blocks, nontemporal(own.name), prefetch(sources[0], read.inner, distance)]]


def transpositions(read: LoopName, written: LoopName, target: Target) -> list[list[Transform]]:
    """Blocks of long runs of what is written, then squares alone."""
    lanes, line = target.lanes(32), target.line_bytes // 4
    squares: list[Transform] = [tile({read: lanes, written: lanes}), vectorize(written.inner)]
    return [_blocks(read, written, (line, LINES * line), target), squares]


def _blocks(read: LoopName, written: LoopName, sides: tuple[int, int], target: Target) -> list[Transform]:
    """Squares in blocks of these sides; lines are full before they leave the first cache."""
    blocks, squares = tile({read: sides[0], written: sides[1]}), split(written.inner, target.lanes(32))
    return [
        blocks,
        reorder(written.outer, read.outer),
        squares,
        reorder(squares.outer, read.inner, squares.inner),
        vectorize(squares.inner),
    ]


def collides(program: Program, band: Band, positions: tuple[int, ...], target: Target) -> bool:
    """Whether the rows that a transposition reads or writes start pages apart, over more than a few blocks.

    Then the lines of a column share few sets of the cache, and small squares throw one another out.
    """
    blocks = LINES * target.line_bytes // 4
    for s in statements(band):
        shape, dims = structure(program, s), [dim_of(band, p, s) for p in positions]
        if not all(d and (shape.trip(d) or 0) >= blocks for d in dims):
            return False
        jumps = {t.along(d) for t in (*shape.reads, *shape.writes) for d in dims if d} - {0, 1, None}
        if not any(4 * (jump or 1) % APART == 0 for jump in jumps):
            return False
    return True


def joint(program: Program, band: Band, position: int, target: Target) -> int:
    """How many loops that end with this one every access walks as one, if its rows alone do not fill registers."""
    counts = []
    for s in statements(band):
        dim, shape = dim_of(band, position, s), structure(program, s)
        trip = shape.trip(dim) if dim else None
        if dim is None or trip is None or trip % target.lanes(32) == 0:
            return 1
        run = run_along(shape, dim, shape.statement.dims)
        around = [dim_of(band, p, s) for p in range(position, -1, -1)]
        counts.append(len(list(takewhile(lambda pair: pair[0] == pair[1], zip(reversed(run), around, strict=False)))))
    return min(counts)
