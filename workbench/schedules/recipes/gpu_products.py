"""Products: tiles of the result, whose operands a block of threads copies into shared memory.

A block computes a tile of the result; piece by piece of the reduction its threads copy what the tile needs, neighbours
in memory by neighbouring threads, and each thread multiplies a small tile of its own in registers (Volkov and Demmel
2008; Nath, Tomov and Dongarra 2010).  Windows that overlap (convolutions) are the same: what a tile touches is copied
once.
"""

from __future__ import annotations

from math import prod

from workbench import poly
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.lang.expr import Index, index_names
from workbench.lang.expr import reads as reads_of
from workbench.lang.normal_form import constant
from workbench.poly.tree import path
from workbench.records import record
from workbench.schedules.recipes.blocks import simple
from workbench.schedules.recipes.gpu_banks import padded
from workbench.schedules.recipes.gpu_steps import power, spelled, taken
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    bind,
    decompose_reduction,
    fuse,
    interchange,
    split,
    stage,
    tile,
    transform_layout,
    unroll,
)
from workbench.schedules.steps.decomposition import enclosing_sequence
from workbench.schedules.structure import Structure, multiplies, structure
from workbench.target import Target

WORK = 1 << 20
"""Fewer multiplications are not worth a copy."""

OPERATIONS = 300_000
"""Polyhedral operations of one question: a product that needs more is not worth the wait."""

DEPTH = 16
"""Contributions to a cell between two copies."""


@record
class Tile:
    """What a block computes: `rows` x `columns` cells, by `height` x `width` threads."""

    rows: int
    columns: int
    height: int
    width: int


TILES = (
    Tile(128, 128, 16, 16), Tile(64, 128, 8, 16), Tile(64, 64, 8, 16), Tile(32, 64, 8, 16), Tile(32, 32, 8, 8),
    Tile(16, 16, 8, 8),
)  # fmt: skip


@record
class Product:
    """The dims of a product: the result's `row` and `column`, other free dims, what is added up; staged arrays."""

    row: str
    column: str
    others: tuple[str, ...]
    reduced: tuple[str, ...]
    operands: tuple[str, ...]


def product_of(shape: Structure) -> Product | None:
    """The product that a statement is: two free dims, along each of which another operand stays the same."""
    trips = dict(shape.trips)
    if not multiplies(shape.statement) or len(shape.writes) != 1 or not shape.reduced:
        return None
    known = [t for t in trips.values() if t is not None]
    if len(known) == len(trips) and prod(known) < WORK:
        return None
    reads = [r for r in reads_of(*shape.statement.values) if r.subscripts and index_names(r) & {*shape.reduced}]
    if any(any(reads_of(*r.subscripts)) for r in reads):
        return None
    longest = sorted(shape.free, key=lambda d: (shape.writes[0].along(d) != 1, -(trips[d] or 1 << 20)))
    for column in longest:
        for row in [d for d in longest if d != column]:
            moving = {d: {r.tensor for r in reads if d in index_names(r)} for d in (row, column)}
            both = moving[row] & moving[column]
            long = all(trips[d] is None or (trips[d] or 0) >= 8 for d in (row, column))
            if moving[row] and moving[column] and not both and long:
                others = tuple(d for d in shape.free if d not in (row, column))
                operands = tuple(sorted(moving[row] | moving[column]))
                return Product(row, column, others, shape.reduced, operands)
    return None


def product(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """One product in tiles, its operands in shared memory; unchanged if it is none, or nothing fits."""
    plan = product_of(structure(schedule.program, identifier))
    if plan is None or not simple(schedule.program, schedule.tree, identifier):
        return schedule
    for size in _tiles(schedule, identifier, plan, target):
        try:
            with poly.budget(OPERATIONS):
                after = _scheduled(schedule, identifier, plan, size)
                if _fits(after, target) and after.verdict:
                    return after
        except ScheduleError:
            continue
        except BudgetExceeded:
            break
    return schedule


def _tiles(schedule: Schedule, identifier: str, plan: Product, target: Target) -> list[Tile]:
    """Tiles worth trying, the largest first that still gives every multiprocessor a block."""
    shape = structure(schedule.program, identifier)
    rows, columns = shape.trip(plan.row), shape.trip(plan.column)
    around = prod(shape.trip(d) or 1 for d in plan.others)

    def blocks(t: Tile) -> int:
        return around * -(-(rows or 4096) // t.rows) * -(-(columns or 4096) // t.columns)

    def fits(t: Tile) -> bool:
        return t.rows <= 2 * power(rows, 1 << 20, 8) and t.columns <= 2 * power(columns, 1 << 20, 8)

    enough = [t for t in TILES if fits(t) and blocks(t) >= target.device.multiprocessors]
    return enough[:3] or [t for t in TILES if fits(t)][-2:] or [TILES[-1]]


def _fits(schedule: Schedule, target: Target) -> bool:
    """Whether two blocks fit the shared memory of a multiprocessor, from the exact footprints of their buffers."""
    gpu = target.device
    sizes = [s.bytes for s in poly.storage_of(schedule.program, schedule.tree)]
    most = min(gpu.block_shared_bytes, gpu.shared_bytes // 2 - gpu.reserved_shared_bytes)
    return None not in sizes and sum(s or 0 for s in sizes) <= most


def _scheduled(schedule: Schedule, identifier: str, plan: Product, size: Tile) -> Schedule:
    name = schedule.program.statement(identifier).name
    array = schedule.program.statement(identifier).targets[0][0]
    if enclosing_sequence(schedule.tree, identifier):
        schedule = decompose_reduction(name).on(schedule)
    row, column = f"{name}/{plan.row}", f"{name}/{plan.column}"
    schedule = tile({row: size.rows, column: size.columns}).on(schedule)
    schedule = tile({f"{row}_i": size.height, f"{column}_i": size.width}).on(schedule)
    schedule, outer, inner = _pieces(schedule, identifier, plan)
    threads, registers = [f"{row}_i_i", f"{column}_i_i"], [f"{row}_i_o", f"{column}_i_o"]
    others = [f"{name}/{d}" for d in plan.others]
    order = [*others, f"{row}_o", f"{column}_o", *outer, *threads, *inner, *registers]
    schedule = interchange(*order).on(schedule)
    schedule, others = _one(schedule, others)
    home = outer[-1] if outer else f"{column}_o"
    buffers: list[str] = []
    for operand in plan.operands:
        schedule, buffer = _staged(schedule, operand, home)
        buffers.append(buffer)
    schedule, result = _staged(schedule, array, f"{column}_o")
    schedule, sums = _staged(schedule, result, threads[-1])
    schedule = _in_registers(schedule, identifier, sums, {plan.row: size.height, plan.column: size.width})
    for loop in registers:
        schedule = unroll(loop).on(schedule)
    schedule = bind(threads[0], "thread.y").on(schedule)
    schedule = bind(threads[1], "thread.x").on(schedule)
    for s in [s for s in schedule.program.statements if s.name.rpartition(".")[0] in (*buffers, result)]:
        schedule = _shared_out(schedule, s.id, size)
    for loop, axis in ((f"{column}_o", "block.x"), (f"{row}_o", "block.y"), *((o, "block.z") for o in others)):
        schedule = bind(loop, axis).on(schedule)
    return padded(schedule, [*buffers, result])


def _pieces(schedule: Schedule, identifier: str, plan: Product) -> tuple[Schedule, list[str], list[str]]:
    """The loops of the reduction: those between copies, and those over what was copied."""
    shape, name = structure(schedule.program, identifier), schedule.program.statement(identifier).name
    outer: list[str] = []
    inner: list[str] = []
    room = DEPTH
    for dim in reversed(plan.reduced):
        count, loop = shape.trip(dim), f"{name}/{dim}"
        if count is not None and count <= room:
            inner.insert(0, loop)
            room //= count
        elif room >= 4:
            schedule = split(loop, room).on(schedule)
            outer.insert(0, f"{loop}_o")
            inner.insert(0, f"{loop}_i")
            room = 1
        else:
            outer.insert(0, loop)
            room = 1
    return schedule, outer, inner


def _one(schedule: Schedule, others: list[str]) -> tuple[Schedule, list[str]]:
    """The loops around the tiles as one, which blocks run along."""
    while len(others) > 1:
        schedule = fuse(others[0], others[1]).on(schedule)
        others = [f"{others[0]}_{others[1].rpartition('/')[2]}", *others[2:]]
    return schedule, others


def _staged(schedule: Schedule, array: str, home: str) -> tuple[Schedule, str]:
    before = {*schedule.program.arrays}
    schedule = stage(array, home).on(schedule)
    (buffer,) = {*schedule.program.arrays} - before
    return schedule, buffer


def _in_registers(schedule: Schedule, identifier: str, sums: str, strides: dict[str, int]) -> Schedule:
    """The cells of a thread side by side, their copies written out."""
    program = schedule.program
    array = program.arrays[sums]
    own = program.statement(identifier).targets[0][1][array.times :]
    names = [f"d{i}" for i in range(len(own))]
    dims = [e.name if isinstance(e, Index) else "" for e in own]
    cells = [f"{n} / {strides[d]}" if d in strides else n for n, d in zip(names, dims, strict=True)]
    schedule = transform_layout(sums, f"({', '.join(names)}) -> ({', '.join(cells)})").on(schedule)
    for s in [s for s in schedule.program.statements if s.name.rpartition(".")[0] == sums]:
        for loop in _own_loops(schedule, s.id):
            schedule = unroll(spelled(schedule, s.id, loop)).on(schedule)
    return schedule


def _own_loops(schedule: Schedule, statement: str) -> list[str]:
    """The loops that only this statement is in."""
    return [x.name for x in path(schedule.tree, statement) if [s for s, _ in x.rows] == [statement]]


def _shared_out(schedule: Schedule, statement: str, size: Tile) -> Schedule:
    """A copy divided among the threads of a block, neighbours in memory on neighbouring threads."""
    own = schedule.program.statement(statement)
    loops = _own_loops(schedule, statement)
    counts = dict(zip(loops, _extents(schedule, own.name.rpartition(".")[0]), strict=True))
    lane = next((x for x in reversed(loops) if counts[x] > 1), loops[-1])
    while counts[lane] < size.width and loops.index(lane):
        outer = loops[loops.index(lane) - 1]
        after = taken(schedule, fuse(spelled(schedule, statement, outer), spelled(schedule, statement, lane)))
        if after is None:
            break
        schedule, joined = after, f"{outer}_{lane}"
        counts[joined] = counts[outer] * counts[lane]
        loops[loops.index(outer) : loops.index(lane) + 1] = [joined]
        lane = joined
    rows = [x for x in loops if x != lane]
    row = max(rows, key=lambda x: counts[x], default="")
    for loop, axis, count in ((lane, "thread.x", size.width), (row, "thread.y", size.height)):
        if loop:
            name = spelled(schedule, statement, loop)
            schedule = split(name, count, names=(f"{loop}_piece", f"{loop}_lane")).on(schedule)
            schedule = bind(f"{name}_lane", axis).on(schedule)
    return schedule


def _extents(schedule: Schedule, buffer: str) -> list[int]:
    """How many cells of a buffer there are along each dimension of the array that it copies."""
    storage = next(s for s in poly.storage_of(schedule.program, schedule.tree) if s.array.name == buffer)
    kept = {d: constant(extent) or 1 << 20 for d, _, extent in storage.kept}
    return [kept.get(d, 1) for d in range(storage.array.times, storage.array.rank)]
