"""Transpositions: read along one loop and written along another, through a tile in shared memory."""

from __future__ import annotations

from workbench.errors import ScheduleError
from workbench.poly.programs.tree import Loop, path
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.gpu.padding.banks import padded
from workbench.schedules.recipes.gpu.shared import WARP, around, dim_of, kept, parallel, spelled, trip
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import bind, fuse, reorder, split, stage, tile
from workbench.schedules.transform import applied
from workbench.target import Target

ROWS, ROW_COUNTS = 8, (4, 8, 16, 32)
"""Rows of a tile that the threads of a block handle at once, and others."""

MOST_THREADS = 1024

SIDES = (16, 32, 64)
"""Cells of a tile along either loop."""


def transposed(schedule: Schedule, ids: tuple[str, ...], host: set[str], target: Target) -> Schedule | None:
    """Tiles of a copy that crosses memory; None where nothing is read across."""
    if len(ids) != 1 or len(schedule.program.statement(ids[0]).targets) != 1:
        return None
    loops = [x for x in around(schedule, ids) if x.name not in host]
    if not all(parallel(schedule, ids[0], x.name) for x in loops):
        return None
    found = crossing(schedule, ids[0], loops)
    if found is None:
        return None
    array, along, across = found
    try:
        after = _tiled(schedule, ids[0], array, along, across, [x for x in loops if x not in (along, across)])
    except ScheduleError:
        return None
    return after if after is not None and kept(schedule, after) else None


def crossing(schedule: Schedule, statement: str, loops: list[Loop]) -> tuple[str, Loop, Loop] | None:
    """An array read along one loop where what is written goes along another: (array, the write's loop, the read's)."""
    shape = structure(schedule.program, statement)
    dims = {x.name: dim_of(x, statement) for x in loops}
    long = [x for x in loops if dims[x.name] and (trip(schedule, x) or WARP) >= WARP // 2]
    along = next((x for x in long if shape.writes[0].along(dims[x.name] or "") == 1), None)
    if along is None:
        return None
    for read in shape.reads:
        own = dims[along.name] or ""
        for other in long:
            dim = dims[other.name] or ""
            if other is not along and read.along(dim) == 1 and read.along(own) not in (0, 1, None):
                return read.array, along, other
    return None


def _tiled(
    schedule: Schedule, statement: str, array: str, along: Loop, across: Loop, others: list[Loop]
) -> Schedule | None:
    own = schedule.program.statement(statement).name
    x, y = f"{own}/{along.name}", f"{own}/{across.name}"
    side = decide(f"{own}_tile", WARP, SIDES)
    rows = min(decide(f"{own}_tile_rows", ROWS, ROW_COUNTS), side, MOST_THREADS // side)
    after = tile({y: side, x: side}).on(schedule)
    rest = [spelled(schedule, statement, o.name) for o in others]
    after = applied(after, reorder(*rest, f"{y}_o", f"{x}_o", f"{y}_i", f"{x}_i"))
    while len(rest) > 1:
        after = fuse(rest[0], rest[1]).on(after)
        rest = [f"{rest[0]}_{rest[1].rpartition('/')[2]}", *rest[2:]]
    before = {*after.program.arrays}
    after = stage(array, f"{x}_o").on(after)
    (buffer,) = {*after.program.arrays} - before
    after = split(f"{y}_i", rows).on(after)
    after = bind(f"{y}_i_i", "thread.y").on(after)
    after = bind(f"{x}_i", "thread.x").on(after)
    after = _copied(after, buffer, rows)
    after = bind(f"{x}_o", "block.x").on(after)
    after = bind(f"{y}_o", "block.y").on(after)
    after = bind(rest[0], "block.z").on(after) if rest else after
    return padded(after, [buffer]) if decide(f"{own}_padded", True, (True, False)) else after


def _copied(schedule: Schedule, buffer: str, rows: int) -> Schedule:
    """The threads of the block copy neighbours."""
    load = next(s for s in schedule.program.statements if s.name == f"{buffer}.load")
    loops = [x.name for x in path(schedule.tree, load.id) if [s for s, _ in x.rows] == [load.id]]
    row, lane = f"{load.name}/{loops[-2]}", f"{load.name}/{loops[-1]}"
    schedule = split(row, rows, names=(f"{loops[-2]}_piece", f"{loops[-2]}_lane")).on(schedule)
    schedule = bind(f"{row}_lane", "thread.y").on(schedule)
    return bind(lane, "thread.x").on(schedule)
