"""Transpositions: read along one loop and written along another, through a tile in shared memory."""

from __future__ import annotations

from workbench.errors import ScheduleError
from workbench.poly.derive.buffers import loads_of
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.tree import Loop
from workbench.schedules.analysis.structure import structure
from workbench.schedules.edit import own_loops
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.gpu.padding.banks import padded
from workbench.schedules.recipes.gpu.shared import (
    WARP,
    in_one,
    most_iterations,
    outer_loops_of,
    parallel,
    spelled,
    stays_legal,
    walked_dim,
)
from workbench.schedules.recipes.staging import staged
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import bind, reorder, split, tile
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
    loops = [x for x in outer_loops_of(schedule, ids) if x.name not in host]
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
    return after if after is not None and stays_legal(schedule, after) else None


def crossing(schedule: Schedule, statement: str, loops: list[Loop]) -> tuple[str, Loop, Loop] | None:
    """An array read along one loop where what is written goes along another: (array, the write's loop, the read's)."""
    shape = structure(schedule.program, statement)
    dims = {x.name: walked_dim(x, statement) for x in loops}
    written = {t.array for t in shape.writes}
    long = [x for x in loops if dims[x.name] and (most_iterations(schedule, x) or WARP) >= WARP // 2]
    along = next((x for x in long if shape.writes[0].along(dims[x.name] or "") == 1), None)
    if along is None:
        return None
    for read in (r for r in shape.reads if r.array not in written):
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
    x, y = loop_of(own, along.name), loop_of(own, across.name)
    side = decide(f"{own}_tile", WARP, SIDES)
    rows = min(decide(f"{own}_tile_rows", ROWS, ROW_COUNTS), side, MOST_THREADS // side)
    after = tile({y: side, x: side}).on(schedule)
    rest = [spelled(schedule, statement, o.name) for o in others]
    after = applied(after, reorder(*rest, y.outer, x.outer, y.inner, x.inner))
    after, rest = in_one(after, rest)
    after, buffer = staged(after, array, x.outer)
    after = split(y.inner, rows).on(after)
    after = bind(y.inner.inner, "thread.y").on(after)
    after = bind(x.inner, "thread.x").on(after)
    after = _copied(after, buffer, rows)
    after = bind(x.outer, "block.x").on(after)
    after = bind(y.outer, "block.y").on(after)
    after = bind(rest[0], "block.z").on(after) if rest else after
    return padded(after, [buffer]) if decide(f"{own}_padded", True, (True, False)) else after


def _copied(schedule: Schedule, buffer: str, rows: int) -> Schedule:
    """The threads of the block copy neighbours."""
    load = loads_of(schedule.program, buffer)[0]
    row, lane = own_loops(schedule.tree, load.id)[-2:]
    pieces = split(loop_of(load.name, row), rows, names=(row.part("piece"), row.part("lane")))
    schedule = bind(pieces.inner, "thread.y").on(pieces.on(schedule))
    return bind(loop_of(load.name, lane), "thread.x").on(schedule)
