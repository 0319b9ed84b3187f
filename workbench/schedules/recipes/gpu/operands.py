"""The operands of a product: tiles copied by all threads of a block, ahead of their use where the GPU copies by itself.

for k_o: { copies of piece k_o + 2 begin;  z: for k_i: { A_own, B_own = registers;  C_own += A_own * B_own } }
"""

from __future__ import annotations

from workbench import poly
from workbench.lang.algebra.normal_form import constant
from workbench.poly.derive.buffers import loads_of
from workbench.poly.programs.loop_names import LoopName, loop_of
from workbench.records import record
from workbench.schedules.edit import own_loops
from workbench.schedules.recipes.gpu.fragments import (
    VALUES,
    Product,
    Tile,
    copied_by_threads,
    is_transposed,
    moves_with,
    side_contiguous,
    sides,
    staged,
    tile_cells,
    with_fragment,
)
from workbench.schedules.recipes.gpu.shared import legal_after, spelled
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import bind, fuse, pipeline, split


@record
class Blocking:
    """How a product is cut: the tile of a block, the places of each operand's tile (more than one: copies run ahead),
    contributions between two copies, elements that a copy moves at once; whether rows of shared memory are padded,
    copies that run ahead asynchronous, operands held in registers, and the innermost loop written out; in how many
    splits the reduction is added up at once, each by blocks of its own.
    """

    size: Tile
    stages: int = 1
    depth: int = 16
    moved: int = VALUES
    spaced: bool = True
    asynchronous: bool = True
    held: bool = True
    unrolled: bool = False
    splits: int = 1


def staged_operands(
    schedule: Schedule, identifier: str, plan: Product, size: Tile, home: str, lengths: dict[str, int],
    inner: list[LoopName], blocking: Blocking,
) -> tuple[Schedule, list[str]]:  # fmt: skip
    """The operands staged at the loop `home`, in tiles of `lengths`; and the names of the tiles.

    Each tile has as many places as the blocking has stages; ScheduleError for several where a tile is no box.
    """
    buffers: dict[str, tuple[str, list[int]]] = {}
    stages = blocking.stages
    for operand in plan.operands:
        schedule, buffer = staged(schedule, operand, home, _tile(operand))
        buffers[buffer] = operand, tile_cells(schedule, identifier, buffer, lengths, is_box=stages > 1)
    for buffer, (operand, cells) in buffers.items():
        schedule = _operand(schedule, identifier, (operand, buffer), (plan, size), (cells, inner), blocking)
    if stages > 1:
        schedule = pipeline(home, stages, async_=blocking.asynchronous).on(schedule)
    return schedule, [*buffers]


def _tile(operand: str) -> str:
    """What the tile of an operand is called, where nothing else is called so."""
    return f"{operand}_tile"


def _operand(
    schedule: Schedule,
    identifier: str,
    where: tuple[str, str],
    plan: tuple[Product, Tile],
    tile: tuple[list[int], list[LoopName]],
    blocking: Blocking,
) -> Schedule:
    """The copies of an operand's tile: by all threads, then what each needs in its registers, where these are boxes.

    Asynchronous copies turn a tile element by element: there is no register in between.
    """
    (operand, buffer), (cells, inner) = where, tile
    name, loads = schedule.program.statement(identifier).name, loads_of(schedule.program, buffer)
    if not cells:
        return _shared_out(schedule, loads[0].id, plan[1])
    moving = [side for side in sides(*plan) if moves_with(schedule, identifier, buffer, side.dim)]
    own = inner and len(moving) == 1
    ahead = blocking.stages > 1 and blocking.asynchronous
    most = 1 if ahead and own and is_transposed(schedule, identifier, buffer, moving[0]) else blocking.moved
    for load in loads:
        schedule = copied_by_threads(schedule, load.name, cells, plan[1].axes, most)
    if own:
        schedule = side_contiguous(schedule, identifier, buffer, moving[0])
    if own and blocking.held:
        home = loop_of(name, inner[-1])
        wanted = f"{operand if buffer == _tile(operand) else buffer}_own"
        schedule = with_fragment(schedule, identifier, buffer, moving[0], home, wanted)
    return schedule


def _shared_out(schedule: Schedule, statement: str, size: Tile) -> Schedule:
    """A copy divided among the threads of a block, neighbours in memory on neighbouring threads."""
    own = schedule.program.statement(statement)
    loops = own_loops(schedule.tree, statement)
    counts = dict(zip(loops, _extents(schedule, own.targets[0][0]), strict=True))
    lane = next((x for x in reversed(loops) if counts[x] > 1), loops[-1])
    while counts[lane] < size.width and loops.index(lane):
        outer = loops[loops.index(lane) - 1]
        both = fuse(spelled(schedule, statement, outer), spelled(schedule, statement, lane))
        after = legal_after(schedule, both)
        if after is None:
            break
        schedule, joined = after, LoopName(both.fused.loop)
        counts[joined] = counts[outer] * counts[lane]
        loops[loops.index(outer) : loops.index(lane) + 1] = [joined]
        lane = joined
    rows = [x for x in loops if x != lane]
    row = max(rows, key=lambda x: counts[x], default=None)
    for loop, axis, count in ((lane, "thread.x", size.width), (row, "thread.y", size.height)):
        if loop:
            name = spelled(schedule, statement, loop)
            pieces = split(name, count, names=(loop.part("piece"), loop.part("lane")))
            schedule = bind(pieces.inner, axis).on(pieces.on(schedule))
    return schedule


def _extents(schedule: Schedule, buffer: str) -> list[int]:
    """How many cells of a buffer there are along each dimension of the array that it copies."""
    storage = next(s for s in poly.storage_of(schedule.program, schedule.tree) if s.array.name == buffer)
    kept = {d: constant(extent) or 1 << 20 for d, _, extent in storage.kept}
    return [kept.get(d, 1) for d in range(storage.array.times, storage.array.rank)]
