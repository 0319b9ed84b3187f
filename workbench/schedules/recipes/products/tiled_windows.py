"""Convolutions, and products with rows of a picture as columns, by an instruction that multiplies tiles.

before → after:  for f, y, x: for c, r, s: O(f,y,x) += I(c, y+r, x+s) * K(f,c,r,s)
                 → for f_o, y, x_o: for r, s: wb_tdpbssd(K, …, I, …, O, …)   for tiles of f and x, and all c

Filters and picture are copied once, with the channels side by side: all of them where they are the rows of a tile, a
group of them where they are its columns.  The columns are what lies side by side in the result.
"""

from __future__ import annotations

from math import prod

from workbench.errors import ScheduleError
from workbench.lang.expr import Read, index_names
from workbench.poly.programs.loop_names import in_block, loop_of, over_blocks
from workbench.records import record
from workbench.schedules.analysis.structure import Structure, multiplies, structure
from workbench.schedules.recipes.loops.epilogue_fusion import nest_for_tiles, tiled
from workbench.schedules.recipes.products.direct_convolution import outside, picture_of, summed_channels
from workbench.schedules.recipes.products.panels import by_instruction, channels_last, grouped, plain_read, with_panel
from workbench.schedules.recipes.products.product_blocks import Words
from workbench.schedules.recipes.products.window_threads import Cut, divided
from workbench.schedules.recipes.try_steps import simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import parallelize
from workbench.target import Target

WORK = 1 << 18
"""Fewer multiplications are not worth the copies."""


@record
class Windows:
    """`filters` against the `pixels` of a row; the `weights` are read along the first, the `picture` along the others.

    `across`: the filters are the columns of a tile.
    """

    filters: str
    pixels: str
    weights: Read
    picture: Read
    across: bool

    @property
    def rows(self) -> Read:
        """What is read along the rows of a tile."""
        return self.picture if self.across else self.weights


def tile_windows(shape: Structure, words: Words) -> Windows | None:
    """What of a sum an instruction multiplies; None where there are no such operands, or they lie otherwise."""
    if not multiplies(shape.statement) or len(shape.writes) != 1 or any(t is None for _, t in shape.trips):
        return None
    if prod(t or 0 for _, t in shape.trips) < WORK:
        return None
    for filters in sorted(shape.free, key=lambda d: -(shape.trip(d) or 0)):
        weights = plain_read(shape, filters)
        others = [r for r in shape.reads if weights is None or r.array != weights.tensor]
        if weights is None or len(others) != 1 or others[0].along(filters) != 0:
            continue
        moving = [d for d in shape.free if d not in index_names(weights) and others[0].along(d) not in (0, None)]
        pixels = min(moving, key=lambda d: abs(others[0].along(d) or 0), default=None)
        if pixels is None:
            continue
        usual = shape.writes[0].along(filters) == 1
        for across in (usual, not usual) if words.anyhow else (usual,):
            plan = Windows(filters, pixels, weights, picture_of(shape, weights), across)
            in_a_row = across or shape.writes[0].along(pixels) == others[0].along(pixels) == 1
            if (words.anyhow or in_a_row) and plan.rows.dtype.name == words.of_rows:
                return plan
    return None


def windowed(schedule: Schedule, identifier: str, target: Target, *, words: Words) -> Schedule:
    """One sum over windows in tiles, not judged yet; unchanged if it is none, or words are not multiplied in tiles."""
    if not words.tiles or not simple(schedule.program, schedule.tree, identifier):
        return schedule
    shape = structure(schedule.program, identifier)
    plan = tile_windows(shape, words)
    channel = None if plan is None else summed_channels(shape, plan.weights)
    if plan is None or channel is None:
        return schedule
    try:
        return _scheduled(schedule, identifier, plan, (channel, words), target)
    except ScheduleError:
        return schedule


def _scheduled(
    schedule: Schedule, identifier: str, plan: Windows, group: tuple[str, Words], target: Target
) -> Schedule:
    (channel, words), name = group, schedule.program.statement(identifier).name
    shape = structure(schedule.program, identifier)
    row, column = (plan.pixels, plan.filters) if plan.across else (plan.filters, plan.pixels)
    sizes = {d: min(shape.trip(d) or 1, size) for d, size in ((row, words.rows), (column, words.columns))}
    batches, rows = outside(shape, plan.weights, plan.filters, (plan.pixels,))
    cut = Cut(batches, plan.filters, sizes[plan.filters], rows, (plan.pixels,), sizes[plan.pixels], 1 / words.count)
    threads = divided(shape, cut, target)[1]
    inside = [*rows, over_blocks(plan.pixels)]
    outer = [*batches, over_blocks(plan.filters), *sorted(inside, key=lambda x: x != threads)]
    schedule = nest_for_tiles(schedule, identifier, together=True)
    cells = in_block(row), in_block(column)
    schedule = tiled(schedule, identifier, sizes, (outer, shape.reduced, cells))
    home = loop_of(name, over_blocks(plan.filters))
    for operand, is_row in ((plan.weights, not plan.across), (plan.picture, plan.across)):
        if is_row:
            schedule = channels_last(schedule, operand, home, channel)
        elif operand == plan.picture:
            schedule = grouped(schedule, operand, home, (channel, words.count))
        else:
            panel, deep = (plan.filters, sizes[plan.filters]), (channel, words.count)
            schedule = with_panel(schedule, operand, home, panel, batches=batches, lanes=True, group=deep)
    full = (shape.trip(channel) or 1) % words.count == 0
    schedule = by_instruction(schedule, name, (channel, *cells), words, full=full)
    return parallelize(loop_of(name, threads)).on(schedule)
