"""Own windows: what a thread reads of a temporary, it computes itself, where blocks of rows share only a few.

    for c (parallel): for y, x: P(c, y, x) = …;   for y (parallel): for x, c: O(y, x) += P(c, y + kh, x + kw) * K(c, …)
    →   for y_o (parallel): { for c, y, x: P_local(c, y, x) = …;  for y_i: for x, c: O(y, x) += P_local(…) * K(c, …) }

A thread waits for no other in between, and the rows that it writes are in its own cache when it reads them: of a
convolution that is padded, the copy costs no region of its own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import prod

from workbench import poly
from workbench.errors import ScheduleError
from workbench.lang.expr import Index
from workbench.poly.programs.loop_names import LoopName, loop_of, loops_of
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import Loop, path
from workbench.poly.regions.storage import array_bytes
from workbench.schedules.analysis.structure import structure
from workbench.schedules.edit import find_loop
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.memory.tile_fusion import computed_at, deepest, maker_and_user
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import parallelize, reorder, serial, split
from workbench.schedules.transform import Transform
from workbench.target import Target

LEAST = 4
"""Rows of a block."""

SMALL = 16
"""Parallel regions that a core could begin and end in a nest's time, a turn of a loop for each instance: fewer, and its
lanes leave too little for a second thread."""

MOST_RECOMPUTED = 1.3
"""Times as many instances as before, at most: blocks share the rows at their borders."""


def with_own_windows(schedule: Schedule, target: Target) -> Schedule:
    """Every temporary that one nest reads, in blocks of that nest's parallel loop, one for each core.

    One that the first cache does not hold is made in the loops that ask for each of its parts once, if there are any.
    """
    for array in reversed(schedule.program.arrays.values()):
        if array.role == "temporary" and array.scope == "global":
            schedule = _inside(schedule, array.name, target)
    return schedule


def _inside(schedule: Schedule, array: str, target: Target) -> Schedule:
    pair = maker_and_user(schedule.program, array)
    if pair is None:
        return schedule
    maker, user = pair
    near = target.cache_bytes[0] // 2
    loop = deepest(schedule, maker, user, array) if _held(schedule, array) > near else None
    if loop is not None and decide(f"{user.name}_own_parts", True, (True, False)):
        return computed_at(schedule, array, loop_of(user.name, loop.name), 1) or schedule
    rows = _rows(schedule, user, array, target)
    if rows is None or target.cores < 2 or any(x.kind == "parallel" for x in path(schedule.tree, maker.id)):
        return schedule
    if rows.kind == "serial" and _divided_outside(schedule, loop_of(user.name, rows.name), target):
        return schedule
    trip = structure(schedule.program, user.id).trip(rows.name) or 0
    size = -(-trip // target.cores)
    if size < LEAST or not decide(f"{user.name}_own_windows", True, (True, False)):
        return schedule
    return _in_blocks(schedule, array, loop_of(user.name, rows.name), size) or schedule


def _rows(schedule: Schedule, user: ProgramStatement, array: str, target: Target) -> Loop | None:
    """The outermost loop along which the array's windows move, where threads divide it, or will, or could as well.

    They divide another loop where each would otherwise read more than its part of the array: the filters of a
    convolution, of which each thread takes some.
    """
    shape, around = structure(schedule.program, user.id), path(schedule.tree, user.id)
    (read,) = [r for r in shape.reads if r.array == array][:1] or (None,)
    plain = [x for x in around if isinstance(row := x.row(user.id), Index) and row.name == x.name]
    rows = next((x for x in plain if (shape.trip(x.name) or 2) > 1), None)
    if read is None or rows is None or rows.kind not in ("serial", "parallel") or read.along(rows.name) in (0, None):
        return None
    divided = next((x for x in around if x.kind == "parallel"), None)
    if divided is None:
        return rows if prod(trip or 0 for _, trip in shape.trips) >= SMALL * target.costs.turns_a_region else None
    if divided is rows:
        return rows
    others = {r.array for r in shape.reads if r.array != array}
    return rows if sum(_held(schedule, name) for name in others) <= _held(schedule, array) else None


def _divided_outside(schedule: Schedule, rows: LoopName, target: Target) -> bool:
    """Whether a loop around the band of the rows has an iteration for each core, and none that waits for another.

    Threads divide that one: inside it, they would be woken and waited for in each iteration.
    """
    program, site = schedule.program, find_loop(schedule.program, schedule.tree, rows)
    for loop in path(schedule.tree, program.statement(rows.statement).id):
        if loop in site.band.loops:
            return False
        between = poly.row_range(program, loop)
        enough = between is None or between[1] - between[0] + 1 >= target.cores
        if enough and poly.can_parallelize(program, schedule.tree, rows.beside(loop.name)):
            return True
    return False


def _held(schedule: Schedule, array: str) -> int:
    """The bytes of an array, or of one of the buffers that iterations have each for itself."""
    found = schedule.program.arrays[array]
    return array_bytes(replace(found, extent=found.extent[found.times :], padding=())) or 0


def _in_blocks(schedule: Schedule, array: str, rows: LoopName, size: int) -> Schedule | None:
    """A block of rows for each core, with what it reads of the array computed in it; None where that does not help."""
    site = find_loop(schedule.program, schedule.tree, rows)
    outside = site.band.loops[: site.position]
    blocks = split(rows, size)
    steps: list[Transform] = [serial(rows.beside(x.name)) for x in (*outside, site.loop) if x.kind == "parallel"]
    steps.append(blocks)
    if outside:
        steps.append(reorder(blocks.outer, *loops_of(rows.statement, (x.name for x in outside))))
    try:
        after = reduce(lambda found, step: step.on(found), [*steps, parallelize(blocks.outer)], schedule)
    except ScheduleError:
        return None
    return computed_at(after, array, blocks.outer, MOST_RECOMPUTED)
