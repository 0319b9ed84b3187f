"""Products on tensor cores: warps multiply fragments of tiles in shared memory, their lanes hold the result.

    for k_o: { copies of both tiles by all threads;  z (warp), y, x (lanes): mma(C_own, A_tile, B_tile) }

The loops over cells are cut so that each lane has the cells that the instruction leaves there; the schedule is right
without the instruction, which `replace` puts in.  Other loops of the reduction stay around the copies: a convolution is
a sum of products.
"""

from __future__ import annotations

from math import prod

from workbench import poly
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.lang.expr import Index
from workbench.lang.expr import reads as reads_of
from workbench.poly.dependence.questions import statement_id
from workbench.poly.derive.buffers import loads_of
from workbench.poly.programs.loop_names import LoopName, loop_of, loops_of
from workbench.schedules.analysis.structure import structure
from workbench.schedules.edit import own_loops
from workbench.schedules.kernels.matching import unified
from workbench.schedules.kernels.tensor_cores import EXACT
from workbench.schedules.kernels.warp_instructions import WarpInstruction
from workbench.schedules.recipes.gpu.fragments import Product, copied_by_threads, shared_among, tile_cells
from workbench.schedules.recipes.gpu.lanes import (
    WarpTile,
    in_fragments,
    in_tiles,
    lane_loops,
    on_lanes,
    result_in_lanes,
)
from workbench.schedules.recipes.gpu.padding.fragment_padding import padded_for_fragments
from workbench.schedules.recipes.gpu.shared import in_one
from workbench.schedules.recipes.staging import staged
from workbench.schedules.recipes.try_steps import ordered, simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    bind,
    decompose_reduction,
    merge,
    pipeline,
    replace,
    split,
    unroll,
)
from workbench.schedules.steps.order.decompose_reduction import enclosing_sequence
from workbench.target import Target

OPERATIONS = 3_000_000
"""Polyhedral operations of one question: a product that needs more is not worth the wait."""

STAGES = (4, 3)
"""Places of a tile: one is multiplied while the others are on their way.  Four are found by bits of a number."""

APART = 16
"""Bytes that may stand between two rows of a tile."""

# Three blocks of 128 x 128 on a multiprocessor are faster than one of 256 x 128: 523 and 560 µs on an H200 (4096³).
TILES = (
    WarpTile(128, 128, 4, 32), WarpTile(256, 128, 8, 32), WarpTile(64, 64, 2, 32), WarpTile(32, 64, 2, 32),
    WarpTile(32, 32, 2, 16),
)  # fmt: skip


def tensor_product(schedule: Schedule, identifier: str, plan: Product, target: Target) -> Schedule | None:
    """One product on tensor cores; None where the target, the types or the structure have none, or nothing fits."""
    found = first_fragments(schedule, identifier, plan, target)
    return None if found is None else found[2]


def first_fragments(
    schedule: Schedule, identifier: str, plan: Product, target: Target
) -> tuple[WarpTile, int, Schedule] | None:
    """The first tile that fits and is legal, the places of its operands' tiles, and the schedule."""
    depth = reduction_depth(schedule, identifier, plan)
    if _instruction_for(schedule, identifier, target) is None or depth is None:
        return None
    if not simple(schedule.program, schedule.tree, identifier):
        return None
    for size in _tiles(schedule, identifier, plan, target):
        stages = _stages(schedule, identifier, plan, size, depth, target)
        try:
            after = fragmented(schedule, identifier, plan, size, stages, target)
        except BudgetExceeded:
            break
        if after is not None:
            return size, stages, after
    return None


def fragmented(
    schedule: Schedule, identifier: str, plan: Product, size: WarpTile, stages: int, target: Target
) -> Schedule | None:
    """The product in such tiles on tensor cores; None where that does not fit or is not legal.  BudgetExceeded where it
    takes too long to say.
    """
    kernel, depth = _instruction_for(schedule, identifier, target), reduction_depth(schedule, identifier, plan)
    assert kernel is not None
    assert depth is not None
    try:
        with poly.budget(OPERATIONS):
            after = _scheduled(schedule, identifier, plan, size, depth, kernel, stages)
            return after if after.verdict else None
    except ScheduleError:
        return None


def _stages(schedule: Schedule, identifier: str, plan: Product, size: WarpTile, depth: str, target: Target) -> int:
    """How many places each tile has: as many as fit a block's shared memory, and no more than pieces; 0 for two."""
    fits = (s for s in STAGES if stages_fit(schedule, identifier, plan, size, s, depth, target))
    return next(fits, 0)


def stages_fit(
    schedule: Schedule, identifier: str, plan: Product, size: WarpTile, stages: int, depth: str, target: Target
) -> bool:
    """Whether a block's shared memory holds so many places, and there are so many pieces."""
    pieces = -(-(structure(schedule.program, identifier).trip(depth) or 4096) // size.depth)
    widest = max(schedule.program.arrays[x].dtype.bytes for x in plan.operands)
    rows, columns = max(size.rows, size.depth), max(size.columns, size.depth)
    one = (rows + columns) * (size.depth * widest + APART)
    return stages <= max(3, pieces - 1) <= pieces and stages * one <= target.device.block_shared_bytes


def _instruction_for(schedule: Schedule, identifier: str, target: Target) -> WarpInstruction | None:
    """The instruction of the target that multiplies what a statement multiplies."""
    own = schedule.program.statement(identifier)
    capability = tuple(map(int, target.device.capability.split(".")))
    if not target.language.warps or own.reduction != "+":
        return None
    fits = (k for k in EXACT if capability >= k.capability)
    return next((k for k in fits if any(unified(k.statement.values[0], own.values[0], {}))), None)


def reduction_depth(schedule: Schedule, identifier: str, plan: Product) -> LoopName | None:
    """The longest dim of the reduction that is a subscript of both operands."""
    own, shape = schedule.program.statement(identifier), structure(schedule.program, identifier)
    reads = [r for r in reads_of(*own.values) if r.subscripts]
    plain = [{e.name for e in r.subscripts if isinstance(e, Index)} for r in reads]
    both = [d for d in plan.reduced if all(d in names for names in plain)]
    return max(both, key=lambda d: shape.trip(d) or 1 << 20, default=None)


def _tiles(schedule: Schedule, identifier: str, plan: Product, target: Target) -> list[WarpTile]:
    """Tiles worth trying, the largest first that still gives every multiprocessor a block."""
    shape = structure(schedule.program, identifier)
    rows, columns = shape.trip(plan.row) or 4096, shape.trip(plan.column) or 4096
    around = prod(shape.trip(d) or 1 for d in plan.others)

    def blocks(t: WarpTile) -> int:
        return around * -(-rows // t.rows) * -(-columns // t.columns)

    tiles = TILES if shape.trip(plan.row) and shape.trip(plan.column) else TILES[1:]
    fits = [t for t in tiles if t.rows < 2 * rows and t.columns < 2 * columns] or [TILES[-1]]
    return [t for t in fits if blocks(t) >= target.device.multiprocessors][:2] or fits[-2:]


def _scheduled(
    schedule: Schedule, identifier: str, plan: Product, size: WarpTile, depth: LoopName, kernel: WarpInstruction,
    stages: int,
) -> Schedule:  # fmt: skip
    name, first = schedule.program.statement(identifier).name, ""
    array = schedule.program.statement(identifier).targets[0][0]
    if enclosing_sequence(schedule.tree, identifier):
        schedule, first = decompose_reduction(name).on(schedule), f"{name}.init"
    threads, values = lane_loops(plan)
    tile, blocks = [plan.row.inner, plan.column.inner], [*plan.others, plan.row.outer, plan.column.outer]
    for own in filter(None, (first, name)):
        schedule = in_tiles(schedule, own, plan, size, (plan.row, plan.column))
    schedule = split(loop_of(name, depth), size.depth).on(schedule)
    outer = [*(d for d in plan.reduced if d != depth), depth.outer]
    schedule = ordered(schedule, name, [*blocks, *outer, *tile, depth.inner])
    if first:
        schedule = ordered(schedule, first, [*blocks, *tile])
        schedule = merge(first, name, depth=len(blocks)).on(schedule)
    schedule, others = in_one(schedule, loops_of(name, plan.others))
    schedule, result = staged(schedule, array, loop_of(name, blocks[-1]), f"{array}_own")
    lengths: dict[str, int] = {plan.row: size.rows, plan.column: size.columns, depth: size.depth}
    buffers: dict[str, list[int]] = {}
    for operand in plan.operands:
        schedule, buffer = staged(schedule, operand, loop_of(name, outer[-1]), f"{operand}_tile")
        buffers[buffer] = tile_cells(schedule, identifier, buffer, lengths)
    if stages:
        schedule = pipeline(loop_of(name, outer[-1]), stages, async_=True).on(schedule)
    schedule = padded_for_fragments(schedule, identifier, buffers, kernel, depth, size)
    for own in filter(None, (first, name)):
        schedule = in_fragments(schedule, own, plan, size)
        schedule = ordered(schedule, own, [*threads, *values, *([depth.inner] if own == name else [])])
    schedule = result_in_lanes(schedule, identifier, result, plan, size)
    for buffer, cells in buffers.items():
        for load in loads_of(schedule.program, buffer):
            schedule = _copy(schedule, load.name, cells, size)
    for own in filter(None, (first, name)):
        schedule = on_lanes(schedule, own, plan)
    for loop in values if first else ():
        schedule = unroll(loop_of(first, loop)).on(schedule)
    for loop, axis in zip((*loops_of(name, (blocks[-1], blocks[-2])), *others), "xyz", strict=False):
        schedule = bind(loop, f"block.{axis}").on(schedule)
    return replace(loop_of(name, values[0]), kernel.name).on(schedule)


def _copy(schedule: Schedule, load: str, cells: list[int], size: WarpTile) -> Schedule:
    """A copy into a tile divided among all threads of a block, as many neighbours at once as rows hold."""
    whole = max((n for n in cells if n > 1), default=1)
    if cells and whole > 1:
        return copied_by_threads(schedule, load, cells, size.axes, 8)
    last = own_loops(schedule.tree, statement_id(schedule.program, load))[-1]
    return shared_among(schedule, load, last, size.axes)
