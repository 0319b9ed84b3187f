"""Products: tiles of the result, whose operands a block of threads copies into shared memory.

A block computes a tile of the result; piece by piece of the reduction its threads copy what the tile needs, neighbours
in memory by neighbouring threads, and each thread multiplies a small tile of its own in registers (Volkov and Demmel
2008; Nath, Tomov and Dongarra 2010).  Windows that overlap (convolutions) are the same: what a tile touches is copied
once.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from workbench import poly
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.lang.expr import index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.programs.loop_names import LoopName, loop_of, loops_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree, statements
from workbench.schedules.analysis.structure import Structure, multiplies, structure
from workbench.schedules.recipes.gpu.blockings import blockings
from workbench.schedules.recipes.gpu.fragments import (
    Product,
    Tile,
    on_threads,
    result_in_registers,
    sides,
    staged,
    tiled_result,
    value_loops,
)
from workbench.schedules.recipes.gpu.operands import Blocking, staged_operands
from workbench.schedules.recipes.gpu.padding.banks import padded
from workbench.schedules.recipes.gpu.shared import in_one
from workbench.schedules.recipes.gpu.tensor_core_products import tensor_product
from workbench.schedules.recipes.loops.fusion import fused_but
from workbench.schedules.recipes.try_steps import ordered, simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    atomic,
    bind,
    decompose_reduction,
    merge,
    split,
    unroll,
)
from workbench.schedules.steps.order.decompose_reduction import enclosing_sequence
from workbench.target import Target

WORK = 1 << 20
"""Fewer multiplications are not worth a copy."""

OPERATIONS = 1_500_000
"""Polyhedral operations of one question: a product that needs more is not worth the wait."""


def product_of(shape: Structure, work: int | None = None) -> Product | None:
    """The product that a statement is: two free dims, along each of which another operand stays the same.

    None for one of less than `work` multiplications (by default so many as are worth a copy).
    """
    trips = dict(shape.trips)
    if not multiplies(shape.statement) or len(shape.writes) != 1 or not shape.reduced:
        return None
    known = [t for t in trips.values() if t is not None]
    if len(known) == len(trips) and prod(known) < (WORK if work is None else work):
        return None
    reads = [r for r in reads_of(*shape.statement.values) if r.subscripts and index_names(r) & {*shape.reduced}]
    if any(any(reads_of(*r.subscripts)) for r in reads):
        return None
    longest = sorted(shape.free, key=lambda d: (shape.writes[0].along(d) != 1, -(trips[d] or 1 << 20)))
    for column in map(LoopName, longest):
        for row in map(LoopName, (d for d in longest if d != column)):
            moving = {d: {r.tensor for r in reads if d in index_names(r)} for d in (row, column)}
            both = moving[row] & moving[column]
            long = all(trips[d] is None or (trips[d] or 0) >= 8 for d in (row, column))
            if moving[row] and moving[column] and not both and long:
                others = tuple(LoopName(d) for d in shape.free if d not in (row, column))
                operands = tuple(sorted(moving[row] | moving[column]))
                return Product(row, column, others, tuple(map(LoopName, shape.reduced)), operands)
    return None


def fused_but_products(schedule: Schedule, processor: Target) -> Schedule:
    """Nests over the same values as one kernel; products stay alone, whose tiles are kernels of their own."""
    return fused_but(_has_product, schedule, processor)


def _has_product(program: Program, nest: Tree, _: Target) -> bool:
    return any(product_of(structure(program, s)) for s in statements(nest) if program.statement(s).kind == "update")


def product(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """One product in tiles, its operands in shared memory; unchanged if it is none, or nothing fits."""
    plan = product_of(structure(schedule.program, identifier))
    if plan is None or not simple(schedule.program, schedule.tree, identifier):
        return schedule
    on_cores = tensor_product(schedule, identifier, plan, target)
    if on_cores is not None:
        return on_cores
    found = first_blocking(schedule, identifier, plan, target)
    return schedule if found is None else found[1]


def first_blocking(
    schedule: Schedule, identifier: str, plan: Product, target: Target
) -> tuple[Blocking, Schedule] | None:
    """The first blocking that fits and is legal, with its schedule."""
    for blocking in blockings(schedule, identifier, plan, target):
        try:
            after = blocked(schedule, identifier, plan, blocking, target)
        except BudgetExceeded:
            break
        if after is not None:
            return blocking, after
    return None


def blocked(
    schedule: Schedule, identifier: str, plan: Product, blocking: Blocking, target: Target, blocks: int = 2
) -> Schedule | None:
    """The product in tiles of which so many `blocks` fit a multiprocessor; None where that does not fit or is not
    legal.  BudgetExceeded where it takes too long to say.
    """
    try:
        with poly.budget(OPERATIONS):
            after = _scheduled(schedule, identifier, plan, blocking)
            return after if _fits(after, target, blocks) and after.verdict else None
    except ScheduleError:
        return None


def _fits(schedule: Schedule, target: Target, blocks: int) -> bool:
    """Whether blocks fit the shared memory of a multiprocessor, from the exact footprints of their buffers."""
    gpu = target.device
    sizes = [s.bytes for s in poly.storage_of(schedule.program, schedule.tree)]
    most = min(gpu.block_shared_bytes, gpu.shared_bytes // blocks - gpu.reserved_shared_bytes)
    return None not in sizes and sum(s or 0 for s in sizes) <= most


def _scheduled(schedule: Schedule, identifier: str, plan: Product, blocking: Blocking) -> Schedule:
    size, name = blocking.size, schedule.program.statement(identifier).name
    array = schedule.program.statement(identifier).targets[0][0]
    if blocking.splits > 1:
        schedule, plan = _split_up(schedule, identifier, plan, blocking)
    schedule, first = _divided(schedule, identifier, plan, size)
    both, values = sides(plan, size), value_loops(plan, size)
    schedule, outer, inner, lengths = _pieces(schedule, identifier, plan, blocking.depth)
    lengths |= {side.dim: side.length for side in both}
    blocks, threads = [*plan.others, plan.row.outer, plan.column.outer], [s.thread for s in both]
    schedule = ordered(schedule, name, [*blocks, *outer, *threads, *inner, *values])
    if first:
        schedule = ordered(schedule, first, [*blocks, *threads, *values])
        schedule = merge(first, name, depth=len(blocks)).on(schedule)
    schedule, others = in_one(schedule, loops_of(name, plan.others))
    schedule, result = staged(schedule, array, loop_of(name, blocks[-1]), f"{array}_own")
    schedule = result_in_registers(schedule, identifier, result, plan, size)
    home = loop_of(name, outer[-1] if outer else blocks[-1])
    schedule, buffers = staged_operands(schedule, identifier, plan, size, home, lengths, inner, blocking)
    for own in filter(None, (first, name)):
        schedule = on_threads(schedule, own, plan, size)
        for loop in [*(inner if blocking.unrolled and own == name else ()), *values]:
            schedule = unroll(loop_of(own, loop)).on(schedule)
    if blocking.splits > 1:
        schedule = atomic(f"{result}.add").on(schedule)
    for loop, axis in zip((*loops_of(name, (blocks[-1], blocks[-2])), *others), "xyz", strict=False):
        schedule = bind(loop, f"block.{axis}").on(schedule)
    return padded(schedule, buffers) if blocking.spaced else schedule


def _split_up(schedule: Schedule, identifier: str, plan: Product, blocking: Blocking) -> tuple[Schedule, Product]:
    """The longest loop of the reduction in parts, which are added up at once after the result began in a kernel before.

    for m, n: C = 0;  for k_s: for m, n: for k: C += …
    """
    name, shape = schedule.program.statement(identifier).name, structure(schedule.program, identifier)
    longest = max(plan.reduced, key=lambda d: shape.trip(d) or 0)
    part = -(-(shape.trip(longest) or 1) // blocking.splits)
    if part >= 2 * blocking.depth:
        part = -(-part // blocking.depth) * blocking.depth
    if enclosing_sequence(schedule.tree, identifier):
        schedule = decompose_reduction(name).on(schedule)
    parts = longest.part("s")
    schedule = split(loop_of(name, longest), part, names=(parts, longest)).on(schedule)
    return schedule, replace(plan, others=(parts, *plan.others))


def _divided(schedule: Schedule, identifier: str, plan: Product, size: Tile) -> tuple[Schedule, str]:
    """The loops of the product, and of its initialisation (its name, empty if there is none), cut alike."""
    name, first = schedule.program.statement(identifier).name, ""
    if enclosing_sequence(schedule.tree, identifier):
        schedule, first = decompose_reduction(name).on(schedule), f"{name}.init"
        schedule = tiled_result(schedule, first, plan, size)
    return tiled_result(schedule, name, plan, size), first


def _pieces(
    schedule: Schedule, identifier: str, plan: Product, room: int
) -> tuple[Schedule, list[LoopName], list[LoopName], dict[str, int]]:
    """The loops of the reduction: those between copies, those over what was copied (`room` contributions at most); how
    much of each dim that is.
    """
    shape, name = structure(schedule.program, identifier), schedule.program.statement(identifier).name
    outer: list[LoopName] = []
    inner: list[LoopName] = []
    lengths: dict[str, int] = {}
    for dim in reversed(plan.reduced):
        count = shape.trip(dim)
        if count is not None and count <= room:
            inner.insert(0, dim)
            lengths[dim] = count
            room //= count
        elif room >= 4:
            schedule = split(loop_of(name, dim), room).on(schedule)
            outer.insert(0, dim.outer)
            inner.insert(0, dim.inner)
            lengths[dim] = room
            room = 1
        else:
            outer.insert(0, dim)
            room = 1
    return schedule, outer, inner, lengths
