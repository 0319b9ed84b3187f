"""Loops and layouts for the lanes of warps that execute matrix instructions.

`m` becomes m_o (block), m_z (warp), m_g (fragment), m_h (half of it) and m_y (lane); `n` n_o, n_g, n_x (lane) and n_v.
"""

from __future__ import annotations

from workbench.records import record
from workbench.schedules.recipes.gpu.fragments import Product, own_loops, position_of
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import bind, interchange, split, transform_layout, unroll, vectorize

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


def lane_loops(plan: Product) -> tuple[list[str], list[str]]:
    """The loops over warp and lanes, and those over the cells of a lane."""
    m, n = plan.row, plan.column
    return [f"{m}_z", f"{m}_y", f"{n}_x"], [f"{m}_g", f"{n}_g", f"{m}_h", f"{n}_v"]


def in_tiles(
    schedule: Schedule, name: str, plan: Product, size: WarpTile, loops: tuple[str, str], outer: str = "o"
) -> Schedule:
    """The loops of a statement over rows and columns in tiles: `m_o`, `m_i`."""
    for loop, dim, length in ((loops[0], plan.row, size.rows), (loops[1], plan.column, size.columns)):
        schedule = split(f"{name}/{loop}", length, names=(f"{dim}_{outer}", f"{dim}_i")).on(schedule)
    return schedule


def in_fragments(schedule: Schedule, name: str, plan: Product, size: WarpTile) -> Schedule:
    """The loops over a tile cut into warps, fragments and lanes."""
    m, n = plan.row, plan.column
    for step in (
        split(f"{name}/{m}_i", size.rows // size.warps, names=(f"{m}_z", f"{m}_w")),
        split(f"{name}/{m}_w", ROWS, names=(f"{m}_g", f"{m}_r")),
        split(f"{name}/{m}_r", 8, names=(f"{m}_h", f"{m}_y")),
        split(f"{name}/{n}_i", COLUMNS, names=(f"{n}_g", f"{n}_r")),
        split(f"{name}/{n}_r", 2, names=(f"{n}_x", f"{n}_v")),
    ):
        schedule = step.on(schedule)
    return schedule


def on_lanes(schedule: Schedule, name: str, plan: Product) -> Schedule:
    """The loops over warp and lanes bound."""
    for loop, letter in zip(lane_loops(plan)[0], "zyx", strict=True):
        schedule = bind(f"{name}/{loop}", f"thread.{letter}").on(schedule)
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
    for copy in [s for s in schedule.program.statements if s.name.rpartition(".")[0] == result]:
        loops = own_loops(schedule, copy.id)[-len(own) :]
        schedule = in_tiles(schedule, copy.name, plan, size, (loops[at[0]], loops[at[1]]), "t")
        schedule = in_fragments(schedule, copy.name, plan, size)
        first, values = lane_loops(plan)
        tiles = [*(x for i, x in enumerate(loops) if i not in at), f"{plan.row}_t", f"{plan.column}_t"]
        schedule = interchange(*(f"{copy.name}/{x}" for x in (*tiles, *first, *values))).on(schedule)
        for loop in values[:-1]:
            schedule = unroll(f"{copy.name}/{loop}").on(schedule)
        schedule = on_lanes(vectorize(f"{copy.name}/{values[-1]}").on(schedule), copy.name, plan)
    return schedule
