"""Direct convolution, with the filters in the lanes.

Windows overlap, so the picture cannot be packed without copying its cells many times, and its rows are seldom as long
as registers are wide.  Filters can: they are copied into panels in which the cells that meet the same pixel are
neighbours, and a register tile is some pixels of a row times a vector of filters (Georganas et al. 2018, Zhang et al.
2018).  Pixels are only ever broadcast, so strides, dilations and short rows cost nothing.

Small and thin products of 8- and 16-bit numbers go this way, too.  Functions in C did them once; on a Zen 4 these
schedules take a quarter of their time to all of it, but for pictures of three channels (3 x 64 x 64 to 32: 1.1 in bytes
and bfloat16) and numbers of filters that leave a few over (37 filters: 1.05 in bfloat16, 1.2 in float16).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from workbench.errors import ScheduleError
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Index, Read, index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.programs.loop_names import fused_name, in_block, loop_of, loops_of, over_blocks
from workbench.records import record
from workbench.schedules import steps
from workbench.schedules.analysis.structure import Structure, multiplies, structure
from workbench.schedules.recipes.decisions import asked, decide
from workbench.schedules.recipes.loops.epilogue_fusion import nest_for_tiles, tiled
from workbench.schedules.recipes.loops.loop_collapse import run_along
from workbench.schedules.recipes.products.convolution_tiles import HIGHEST, TAPS, slots, tiles_of
from workbench.schedules.recipes.products.known_operands import is_known
from workbench.schedules.recipes.products.panels import by_instruction, in_words, plain_read, with_panel
from workbench.schedules.recipes.products.product_blocks import Words
from workbench.schedules.recipes.products.window_threads import Cut, candidates, divided
from workbench.schedules.recipes.try_steps import simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import parallelize
from workbench.target import Target

WORK = 1 << 21
"""Fewer multiplications are not worth a copy: of products of 128³ every operand stays in the second cache as it is."""

DEPTH = 100
"""Contributions to a cell that pay for storing it alone: the cells of a vector of filters are not neighbours."""

KNOWN_WORK, KNOWN_DEPTH = 1 << 16, 32
"""The same where filters are packed once for all calls."""

NARROWEST = 8
"""Filters that are worth lanes where an instruction multiplies them, even if they do not fill a register."""

SQUARE = 16
"""Pixels of a tile so that rows of the result are stored in whole cache lines."""

SHALLOW = 16
"""Steps of a reduction at most where it matters how the result is stored."""

TURN = 4
"""Exchanges between registers for a vector of cells that are no neighbours: squares of them are turned."""

LEAST = 3
"""Vectors of pixels that are worth lanes of their own."""


@record
class ConvolutionTile:
    """The filters `lanes`, `width` at a time, against the `pixels`, `height` at a time; `weights` are packed.

    The pixels are those of the dims of `run`, which are fused where there are several.  The loop `threads` is divided
    among the processors.
    """

    lanes: str
    width: int
    run: tuple[str, ...]
    height: int
    weights: Read
    threads: str = ""

    @property
    def pixels(self) -> str:
        """The loop over pixels."""
        first, *others = self.run
        return fused_name(*self.run) if others else first


def convolution_tile(shape: Structure, target: Target, *, group: int = 0) -> ConvolutionTile | None:
    """The register tile of a reduction of filters with overlapping windows, or None.

    Where an instruction adds a `group` of contributions at once, of filters with anything.
    """
    trips = dict(shape.trips)
    if not multiplies(shape.statement) or len(shape.writes) != 1 or any(t is None for t in trips.values()):
        return None
    depth = prod(trips[d] or 0 for d in shape.reduced)
    work = depth * prod(trips[d] or 0 for d in shape.free)
    if not group and (depth < min(DEPTH, KNOWN_DEPTH) or work < min(WORK, KNOWN_WORK)):
        return None
    vector = target.lanes(8 * max(4, *(v.dtype.bytes for v in shape.statement.values)))
    found = [*_filters(shape)]
    for lanes, weights, pixels in found:
        if (trips[lanes] or 0) >= vector and worth_panels(shape, weights, (depth, work), vector, target):
            return _tile(shape, weights, (lanes, vector), pixels, target)
    found = [x for x in found if group and (trips[x[0]] or 0) >= min(vector, NARROWEST)]
    if not found:
        return None

    def slots(filters: str) -> float:
        trip, turned = trips[filters] or 1, shape.writes[0].along(filters) != 1
        return -(-trip // vector) * vector / trip * (1 + turned * TURN * group / depth)

    lanes, weights, pixels = min(found, key=lambda x: slots(x[0]))
    return _tile(shape, weights, (lanes, vector), pixels, target, group)


def _filters(shape: Structure) -> Iterator[tuple[str, Read, str]]:
    """(filters, weights, pixels): dims that only one operand moves along, and those of the other, longest first."""
    for lanes in sorted(shape.free, key=lambda d: -(shape.trip(d) or 0)):
        weights = plain_read(shape, lanes)
        others = [r for r in shape.reads if weights is None or r.array != weights.tensor]
        if weights is None or len(others) != 1 or others[0].along(lanes) != 0:
            continue
        own = next(r for r in shape.reads if r.array == weights.tensor)
        moving = [d for d in shape.free if own.along(d) == 0 and others[0].along(d) not in (0, None)]
        if moving:
            yield lanes, weights, min(moving, key=lambda d: abs(others[0].along(d) or 0))


def _tile(
    shape: Structure, weights: Read, filters: tuple[str, int], pixels: str, target: Target, group: int = 1
) -> ConvolutionTile:
    """The tile that leaves the thread with most to do the least, and the loop that threads divide.

    A step of the reduction adds a `group` of contributions.
    """
    lanes, vector = filters
    run = run_along(shape, pixels, tuple(d for d in shape.free if d not in index_names(weights)))
    row, count, name = prod(shape.trip(d) or 1 for d in run), shape.trip(lanes) or 1, shape.statement.name
    depth = prod(shape.trip(d) or 1 for d in shape.reduced)
    batches, rows = outside(shape, weights, lanes, run)
    taps = (shape.trip(shape.reduced[-1]) or 1) <= TAPS
    turned = group > 1 and shape.writes[0].along(lanes) != 1 and depth <= SHALLOW * group

    def cut(tile: tuple[int, int]) -> Cut:
        computed = slots(tile, row, 4 * vector * depth // group, target, taps=taps) / group
        stored = TURN * vector / (tile[0] * depth) if turned else 0.0  # each line of the result so many times
        return Cut(batches, lanes, tile[1] * vector, rows, run, tile[0], computed + stored)

    tiles = tiles_of(row, count, target, SQUARE if turned else HIGHEST, taps=taps)
    height, vectors = min(tiles, key=lambda tile: divided(shape, cut(tile), target)[0])
    if asked():
        height = decide(f"{name}_tile_{pixels}", height, range(1, min(row, 16) + 1))
        vectors = decide(f"{name}_tile_vectors", vectors, range(1, max(1, min(4, count // vector)) + 1))
    chosen = cut((height, vectors))
    threads = decide(f"{name}_threads", divided(shape, chosen, target)[1], lambda: candidates(shape, chosen))
    return ConvolutionTile(lanes, vectors * vector, run, height, weights, threads)


def outside(
    shape: Structure, weights: Read, lanes: str, run: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The dims that filters have in common with the picture, and those that only the picture has and are no pixels."""
    free = [d for d in shape.free if d not in (lanes, *run)]
    batches = tuple(d for d in free if d in index_names(weights))
    return batches, tuple(d for d in free if d not in batches)


def worth_panels(shape: Structure, weights: Read, amount: tuple[int, int], lanes: int, target: Target) -> bool:
    """Whether windows overlap and there is enough to do, or filters are packed once and pixels do not suit lanes.

    `amount` are the contributions to a cell and to all.  Nor do pixels suit rows of a product where all filters would
    be read for each row of a picture, and the first cache does not hold them.
    """
    if amount[0] >= DEPTH and amount[1] >= WORK and overlapping(shape, weights):
        return True
    (written,) = shape.writes
    picture = next(r for r in shape.reads if r.array != weights.tensor)
    pixels = [d for d in shape.free if written.along(d) not in (0, None) and d not in index_names(weights)]
    few = prod(shape.trip(d) or 1 for d in pixels) < LEAST * lanes
    apart = any(written.along(d) == 1 != picture.along(d) for d in pixels)
    rows = [d for d in pixels if (shape.trip(d) or 1) > 1]
    filters = amount[0] * max((shape.trip(d) or 1 for d in shape.free if d in index_names(weights)), default=1)
    again = len(rows) > 1 and 4 * filters > target.cache_bytes[0] and not any(written.along(d) == 1 for d in rows)
    return is_known(weights.tensor) and (few or apart or again)


def overlapping(shape: Structure, weights: Read) -> bool:
    """Whether some cell of the picture is read for several cells of the result by one filter."""
    picture = next(r for r in shape.reads if r.array != weights.tensor)
    trips = dict(shape.trips)
    inner = [d for d in shape.reduced if (trips[d] or 0) > 1]
    outer = [d for d in shape.free if picture.along(d) not in (0, None)]
    return any(
        abs(picture.along(i) or 0) * ((trips[i] or 1) - 1) >= abs(picture.along(o) or 0) > 0
        and abs(picture.along(i) or 0) <= abs(picture.along(o) or 0) * ((trips[o] or 1) - 1)
        for i in inner
        for o in outer
    )


def convolved(schedule: Schedule, identifier: str, target: Target, *, words: Words | None = None) -> Schedule:
    """One convolution with its filters packed, not judged yet; unchanged if it is none.

    With `words` an instruction multiplies groups of channels, which the picture is copied for, too.
    """
    shape = structure(schedule.program, identifier)
    plan = convolution_tile(shape, target, group=0 if words is None else words.count)
    if plan is None or not simple(schedule.program, schedule.tree, identifier):
        return schedule
    channels = None if words is None else summed_channels(shape, plan.weights)
    if words is not None and channels is None:
        return schedule
    try:
        return _scheduled(schedule, identifier, plan, None if words is None else (channels or "", words), target)
    except ScheduleError:
        return schedule


def summed_channels(shape: Structure, weights: Read) -> str | None:
    """The longest dim that is summed up and is a subscript of the picture by itself, and no part of another."""
    picture = picture_of(shape, weights)
    found = [d for d in shape.reduced if Index(d, INT32) in picture.subscripts and d in index_names(weights)]
    found = [d for d in found if sum(d in index_names(s) for s in picture.subscripts) == 1]
    return max(found, key=lambda d: shape.trip(d) or 0, default=None)


def picture_of(shape: Structure, weights: Read) -> Read:
    """What is multiplied by the weights."""
    return next(r for r in reads_of(*shape.statement.values) if r.subscripts and r.tensor != weights.tensor)


def _scheduled(
    schedule: Schedule, identifier: str, plan: ConvolutionTile, group: tuple[str, Words] | None, target: Target
) -> Schedule:
    name, shape = schedule.program.statement(identifier).name, structure(schedule.program, identifier)
    batches, rows = outside(shape, plan.weights, plan.lanes, plan.run)
    inside = [*rows, over_blocks(plan.pixels)]
    if plan.threads in inside:
        inside = [plan.threads, *(x for x in inside if x != plan.threads)]
    outer = [*batches, over_blocks(plan.lanes), *inside]
    cells = in_block(plan.pixels), in_block(plan.lanes)
    sizes = {plan.lanes: plan.width, plan.pixels: plan.height}
    schedule = nest_for_tiles(schedule, identifier, together=True)
    schedule = steps.fuse(*loops_of(name, plan.run)).on(schedule) if len(plan.run) > 1 else schedule
    schedule = tiled(schedule, identifier, sizes, (outer, shape.reduced, cells))
    home, cut = loop_of(name, over_blocks(plan.lanes)), (plan.lanes, plan.width)
    count = None if group is None or group[1].count == 1 else (group[0], group[1].count)
    before = {*schedule.program.arrays}
    schedule = with_panel(schedule, plan.weights, home, cut, batches=batches, lanes=True, group=count)
    if group is not None:
        dim, words = group
        full = (shape.trip(dim) or 1) % words.count == 0
        schedule = in_words(schedule, picture_of(shape, plan.weights), home, group, target, full=full)
        for buffer in [a for a in schedule.program.arrays if a not in before and words.wide]:
            schedule = steps.widen(buffer, words.wide).on(schedule)
        schedule = by_instruction(schedule, name, (dim, *cells), words, full=full)
    return parallelize(loop_of(name, plan.threads)).on(schedule)
