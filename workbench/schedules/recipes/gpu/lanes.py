"""Loops and layouts for the lanes of warps that execute matrix instructions.

`m` becomes m_o (block), m_z (warp), m_g (fragment), m_h (half of it) and m_y (lane); `n` n_o, n_g, n_x (lane) and n_v.
"""

from __future__ import annotations

from workbench.poly.derive.buffers import copies_of
from workbench.poly.programs.loop_names import LoopName, loop_of
from workbench.records import record
from workbench.schedules.edit import own_loops
from workbench.schedules.recipes.gpu.fragments import Product, position_of
from workbench.schedules.recipes.try_steps import ordered
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import bind, split, transform_layout, unroll, vectorize

ROWS, COLUMNS = 16, 8
"""Cells of one fragment of the result; a lane has two neighbours in each of two rows."""


@record
class WarpTile:
    """What a block computes: `rows` x `columns` cells, the rows divided among `warps`; `depth` contributions a copy."""

    rows: int
    columns: int
    warps: int
    depth: int

    @property
    def axes(self) -> tuple[tuple[str, int], ...]:
        """The threads of a block along each axis, x last."""
        return ("z", self.warps), ("y", 8), ("x", 4)


def lane_loops(plan: Product) -> tuple[list[LoopName], list[LoopName]]:
    """The loops over warp and lanes, and those over the cells of a lane."""
    m, n = plan.row, plan.column
    return [m.part("z"), m.part("y"), n.part("x")], [m.part("g"), n.part("g"), m.part("h"), n.part("v")]


def in_tiles(
    schedule: Schedule, name: str, plan: Product, size: WarpTile, loops: tuple[str, str], outer: str = "o"
) -> Schedule:
    """The loops of a statement over rows and columns in tiles: `m_o`, `m_i`."""
    for loop, dim, length in ((loops[0], plan.row, size.rows), (loops[1], plan.column, size.columns)):
        schedule = split(loop_of(name, loop), length, names=(dim.part(outer), dim.inner)).on(schedule)
    return schedule


def in_fragments(schedule: Schedule, name: str, plan: Product, size: WarpTile) -> Schedule:
    """The loops over a tile cut into warps, fragments and lanes."""
    m, n = plan.row, plan.column
    warps = split(loop_of(name, m.inner), size.rows // size.warps, names=(m.part("z"), m.part("w")))
    rows = split(warps.inner, ROWS, names=(m.part("g"), m.part("r")))
    halves = split(rows.inner, 8, names=(m.part("h"), m.part("y")))
    columns = split(loop_of(name, n.inner), COLUMNS, names=(n.part("g"), n.part("r")))
    pairs = split(columns.inner, 2, names=(n.part("x"), n.part("v")))
    for step in (warps, rows, halves, columns, pairs):
        schedule = step.on(schedule)
    return schedule


def on_lanes(schedule: Schedule, name: str, plan: Product) -> Schedule:
    """The loops over warp and lanes bound."""
    for loop, letter in zip(lane_loops(plan)[0], "zyx", strict=True):
        schedule = bind(loop_of(name, loop), f"thread.{letter}").on(schedule)
    return schedule


def result_in_lanes(schedule: Schedule, identifier: str, result: str, plan: Product, size: WarpTile) -> Schedule:
    """The buffer of the result laid out by lanes, and its copy to memory by them, two neighbours at once."""
    array = schedule.program.arrays[result]
    own = schedule.program.statement(identifier).targets[0][1][array.times :]
    at = [position_of(own, d) for d in (plan.row, plan.column)]
    names = [f"d{i}" for i in range(len(own))]
    m, n, warp = names[at[0]], names[at[1]], size.rows // size.warps
    lanes = [f"{m} / {warp} % {size.warps}", f"{m} % 8", f"{n} / 2 % 4"]
    across, down = size.columns // COLUMNS, warp // ROWS
    cells = [f"{m} / {ROWS} % {down}", f"{n} / {COLUMNS} % {across}", f"{m} / 8 % 2", f"{n} % 2"]
    rest = [x for i, x in enumerate(names) if i not in at]
    layout = f"({', '.join(names)}) -> ({', '.join([*rest, *lanes, *cells])})"
    schedule = transform_layout(result, layout).on(schedule)
    for copy in copies_of(schedule.program, result):
        loops = own_loops(schedule.tree, copy.id)[-len(own) :]
        schedule = in_tiles(schedule, copy.name, plan, size, (loops[at[0]], loops[at[1]]), "t")
        schedule = in_fragments(schedule, copy.name, plan, size)
        first, values = lane_loops(plan)
        tiles = [*(x for i, x in enumerate(loops) if i not in at), plan.row.part("t"), plan.column.part("t")]
        schedule = ordered(schedule, copy.name, (*tiles, *first, *values))
        for loop in values[:-1]:
            schedule = unroll(loop_of(copy.name, loop)).on(schedule)
        schedule = on_lanes(vectorize(loop_of(copy.name, values[-1])).on(schedule), copy.name, plan)
    return schedule
