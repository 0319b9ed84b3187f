"""Wavefronts: nests whose loops all carry dependences, in tiles of which those on a diagonal go to different threads.

    for i: for j: S   →   for w: for i_o (parallel), with j_o = w - i_o: for i_i: for j_i: S

Tables of dynamic programs (Lamport's hyperplanes, 1974, over tiles).
"""

from __future__ import annotations

from math import prod

from workbench.poly.programs.loop_names import loops_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, loops, statements
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.try_steps import attempt, dim_of
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import parallelize, reorder, skew, tile
from workbench.schedules.transform import Transform
from workbench.target import Target

SIZES = (16, 64)
"""Rows and columns of a tile: some lines of memory, each used for all of its cells."""

LEAST = 256
"""Parallel regions in whose time the nest must keep a core busy, a turn of a loop for each instance: every wave ends
with a barrier, and a table of so many instances has about half as many wavefront."""


def in_wavefronts(schedule: Schedule, nest: Band, target: Target) -> Schedule:
    """The two outer loops of a nest in tiles, in wavefronts; unchanged where that is not legal or too little work."""
    program, own = schedule.program, statements(nest)
    if len(nest.loops) < 2 or any(x.kind == "parallel" for x in loops(nest)):
        return schedule
    if _instances(program, own) < LEAST * target.costs.turns_a_region:
        return schedule
    trips = []
    for s in own:
        dims = [dim_of(nest, position, s) for position in (0, 1)]
        if None in dims or any(x.kind != "serial" for x in nest.loops[:2]):
            return schedule
        trips += [(structure(program, s).trip(d or "") or 0) // size for d, size in zip(dims, SIZES, strict=True)]
    if max(trips) < 8:
        return schedule
    names, (i, j) = [program.statement(s).name for s in own], (x.name for x in nest.loops[:2])
    tiles = tile(dict(zip(loops_of(names[0], (i, j)), SIZES, strict=True)))
    rows, columns = tiles.blocks
    wavefront: list[Transform] = [skew(columns.around(name), by=rows.around(name)) for name in names]
    return attempt(schedule, tiles, *wavefront, reorder(columns, rows), parallelize(rows))


def _instances(program: Program, own: tuple[str, ...]) -> int:
    """About how many instances the statements have; 0 where that is not known."""
    return sum(prod(trip or 0 for _, trip in structure(program, s).trips) for s in own)
