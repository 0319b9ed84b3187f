"""Products: tiles of the result, whose operands a block of threads copies into shared memory.

A block computes a tile of the result; piece by piece of the reduction its threads copy what the tile needs, neighbours
in memory by neighbouring threads, and each thread multiplies a small tile of its own in registers (Volkov and Demmel
2008; Nath, Tomov and Dongarra 2010).  Windows that overlap (convolutions) are the same: what a tile touches is copied
once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product as choices
from math import prod

from workbench import poly
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.lang.expr import Index, Read, index_names
from workbench.lang.expr import reads as reads_of
from workbench.schedules.analysis.structure import Structure, multiplies, structure
from workbench.schedules.recipes.gpu.banks import padded
from workbench.schedules.recipes.gpu.fragments import (
    VALUES,
    Product,
    Tile,
    in_registers,
    on_threads,
    sides,
    staged,
    tiled,
    value_loops,
)
from workbench.schedules.recipes.gpu.operands import Blocking, with_operands
from workbench.schedules.recipes.gpu.shared import WARP, power
from workbench.schedules.recipes.gpu.tensor_core_products import tensor_product
from workbench.schedules.recipes.gpu.tile_costs import Work, cycles
from workbench.schedules.recipes.loops.tiling import simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    atomic,
    bind,
    decompose_reduction,
    fuse,
    merge,
    reorder,
    split,
    unroll,
)
from workbench.schedules.steps.order.decompose_reduction import enclosing_sequence
from workbench.schedules.transform import applied
from workbench.target import Target

WORK = 1 << 20
"""Fewer multiplications are not worth a copy."""

OPERATIONS = 1_500_000
"""Polyhedral operations of one question: a product that needs more is not worth the wait."""

SMALLEST_COPY = 4
"""Bytes of an asynchronous copy."""

TILES = (
    Tile(128, 128, 16, 16), Tile(64, 128, 8, 16), Tile(64, 64, 8, 16), Tile(32, 64, 8, 16), Tile(32, 32, 8, 8),
    Tile(16, 32, 8, 8), Tile(32, 16, 8, 8), Tile(16, 16, 8, 8),
)  # fmt: skip

LONGEST_WHOLE, CELLS, MOST_THREADS = 64, (4, 2, 1), 256
"""A side so short may be a tile's in whole; cells of a thread along it, and threads of a block."""

SPLITS = (1, 2, 4, 8, 16)
"""Into how many parts a reduction may be cut whose results are few."""

WORTH_SPLITTING = 0.85
"""Sums of several blocks arrive in any order, and cost a kernel more: for less time than this."""

SHORTEST_SPLIT = 128

SHORT, PIECES = 96, (3, 2)
"""A reduction so short is in as many pieces as copies run ahead: all of them are on their way at once."""

WINDOW_BYTES = 24 << 10
"""What a tile of windows may take: the less often a block copies, the less it waits."""


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
    on_cores = tensor_product(schedule, identifier, plan, target)
    if on_cores is not None:
        return on_cores
    found = first_blocking(schedule, identifier, plan, target)
    return schedule if found is None else found[1]


def first_blocking(
    schedule: Schedule, identifier: str, plan: Product, target: Target
) -> tuple[Blocking, Schedule] | None:
    """The first blocking that fits and is legal, with its schedule."""
    for blocking in _blockings(schedule, identifier, plan, target):
        try:
            after = blocked(schedule, identifier, plan, blocking, target)
        except BudgetExceeded:
            break
        if after is not None:
            return blocking, after
    return None


def _blockings(schedule: Schedule, identifier: str, plan: Product, target: Target) -> Iterator[Blocking]:
    """Blockings worth trying: tiles and splits by the time they take, and with each the most places first."""
    shape = structure(schedule.program, identifier)
    windows = not all(isinstance(e, Index) for r in _operands(schedule, identifier, plan) for e in r.subscripts)
    for size, splits in _tiles(schedule, identifier, plan, target):
        depth = _depth(shape, plan, size, windows=windows)
        for stages in (1,) if windows else _stages(schedule, identifier, plan, target, depth * splits):
            yield Blocking(size, stages, depth, splits=splits)


def _operands(schedule: Schedule, identifier: str, plan: Product) -> list[Read]:
    values = schedule.program.statement(identifier).values
    return [r for r in reads_of(*values) if r.tensor in plan.operands]


def _depth(shape: Structure, plan: Product, size: Tile, *, windows: bool) -> int:
    """Contributions between two copies."""
    trips = [shape.trip(d) for d in plan.reduced]
    known = prod(t for t in trips if t is not None)
    if None in trips:
        return Blocking.depth
    widest = max(v.dtype.bytes for v in shape.statement.values)
    if windows:
        return known if (size.rows + size.columns) * known * widest <= WINDOW_BYTES else Blocking.depth
    even = [known // n for n in PIECES if known % (n * VALUES) == 0 and known <= SHORT]
    return next(iter(even), Blocking.depth)


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


def _stages(
    schedule: Schedule, identifier: str, plan: Product, target: Target, contributions: int
) -> tuple[int, ...]:
    """Places of a tile worth trying, the most first; where there are several, the next pieces are on their way.

    A piece of the reduction is so many `contributions`.  Asynchronous copies move 4 bytes or more, so that operands may
    be turned on their way.
    """
    capability = tuple(map(int, target.device.capability.split(".")))
    if capability < (8, 0) or any(schedule.program.arrays[x].dtype.bytes < SMALLEST_COPY for x in plan.operands):
        return (1,)
    shape = structure(schedule.program, identifier)
    pieces = -(-prod(shape.trip(d) or 1 << 20 for d in plan.reduced) // contributions)
    return tuple(s for s in (3, 2, 1) if s <= pieces) or (1,)


def _tiles(schedule: Schedule, identifier: str, plan: Product, target: Target) -> list[tuple[Tile, int]]:
    """Tiles and splits worth trying, the fastest first."""
    shape = structure(schedule.program, identifier)
    work = _work(shape, plan)
    fits = [t for t in TILES if t.rows <= 2 * power(work.rows, 1 << 20, 8)]
    fits = [t for t in fits if t.columns <= 2 * power(work.columns, 1 << 20, 8)] or [TILES[-1]]
    fits = [*dict.fromkeys((*fits, *_exact(*(shape.trip(d) for d in (plan.row, plan.column)))))]
    splits = SPLITS if can_split(schedule, identifier, plan) else (1,)

    def cost(choice: tuple[Tile, int]) -> float:
        size, parts = choice
        return cycles(work, size, parts, Blocking.depth, target.device) * (1 if parts == 1 else 1 / WORTH_SPLITTING)

    parts = [n for n in splits if n == 1 or work.depth >= n * SHORTEST_SPLIT]
    found = sorted(choices(fits, parts), key=cost)
    whole = [choice for choice in found if choice[1] == 1]
    return [*found[:2], *(c for c in whole[:2] if c not in found[:2])]


def _exact(rows: int | None, columns: int | None) -> list[Tile]:
    """Tiles that are a short side in whole, cells of a thread dividing it: nobody asks which of them there are."""
    sides = [_whole_sides(n) for n in (rows, columns)]
    if not all(sides):
        return []
    found = (Tile(m, n, m // down, n // across) for m, down in sides[0] for n, across in sides[1])
    return [t for t in found if WARP <= t.height * t.width <= MOST_THREADS]


def _whole_sides(length: int | None) -> list[tuple[int, int]]:
    """(length, cells of a thread) for a short side; for a long one that tiles divide, these."""
    if length is None:
        return []
    if length <= LONGEST_WHOLE:
        return [(length, cells) for cells in CELLS if length % cells == 0]
    return [(n, cells) for n, cells in ((16, 2), (32, 2), (32, 4), (64, 4)) if length % n == 0]


def _work(shape: Structure, plan: Product) -> Work:
    """How much a product is; 4096 where a size is not known."""
    rows, columns = (shape.trip(d) or 4096 for d in (plan.row, plan.column))
    return Work(
        rows, columns, prod(shape.trip(d) or 4096 for d in plan.reduced), prod(shape.trip(d) or 1 for d in plan.others)
    )


def can_split(schedule: Schedule, identifier: str, plan: Product) -> bool:
    """Whether blocks may add up parts of the reduction in memory: a sum of floats over a loop of known length, in one
    product, whose parts are an axis of the grid.
    """
    own, shape = schedule.program.statement(identifier), structure(schedule.program, identifier)
    result = schedule.program.arrays[own.targets[0][0]].dtype
    longest = max(plan.reduced, key=lambda d: shape.trip(d) or 0)
    known = None not in (shape.trip(longest), shape.trip(plan.row), shape.trip(plan.column))
    return own.reduction == "+" and result.name == "float32" and known and not plan.others


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
    blocks, threads = [*plan.others, f"{plan.row}_o", f"{plan.column}_o"], [s.thread for s in both]
    schedule = _ordered(schedule, name, [*blocks, *outer, *threads, *inner, *values])
    if first:
        schedule = _ordered(schedule, first, [*blocks, *threads, *values])
        schedule = merge(first, name, depth=len(blocks)).on(schedule)
    schedule, others = _one(schedule, [f"{name}/{d}" for d in plan.others])
    schedule, result = staged(schedule, array, f"{name}/{blocks[-1]}", f"{array}_own")
    schedule = in_registers(schedule, identifier, result, plan, size)
    home = f"{name}/{outer[-1] if outer else blocks[-1]}"
    schedule, buffers = with_operands(schedule, identifier, plan, size, home, lengths, inner, blocking)
    for own in filter(None, (first, name)):
        schedule = on_threads(schedule, own, plan, size)
        for loop in [*(inner if blocking.unrolled and own == name else ()), *values]:
            schedule = unroll(f"{own}/{loop}").on(schedule)
    if blocking.splits > 1:
        schedule = atomic(f"{result}.add").on(schedule)
    for loop, axis in ((blocks[-1], "x"), (blocks[-2], "y"), *((o.rpartition("/")[2], "z") for o in others)):
        schedule = bind(f"{name}/{loop}", f"block.{axis}").on(schedule)
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
    parts = f"{longest}_s"
    schedule = split(f"{name}/{longest}", part, names=(parts, longest)).on(schedule)
    return schedule, replace(plan, others=(parts, *plan.others))


def _divided(schedule: Schedule, identifier: str, plan: Product, size: Tile) -> tuple[Schedule, str]:
    """The loops of the product, and of its initialisation (its name, empty if there is none), cut alike."""
    name, first = schedule.program.statement(identifier).name, ""
    if enclosing_sequence(schedule.tree, identifier):
        schedule, first = decompose_reduction(name).on(schedule), f"{name}.init"
        schedule = tiled(schedule, first, plan, size)
    return tiled(schedule, name, plan, size), first


def _ordered(schedule: Schedule, statement: str, loops: list[str]) -> Schedule:
    return applied(schedule, reorder(*(f"{statement}/{x}" for x in loops)))


def _pieces(
    schedule: Schedule, identifier: str, plan: Product, room: int
) -> tuple[Schedule, list[str], list[str], dict[str, int]]:
    """The loops of the reduction: those between copies, those over what was copied (`room` contributions at most); how
    much of each dim that is.
    """
    shape, name = structure(schedule.program, identifier), schedule.program.statement(identifier).name
    outer: list[str] = []
    inner: list[str] = []
    lengths: dict[str, int] = {}
    for dim in reversed(plan.reduced):
        count = shape.trip(dim)
        if count is not None and count <= room:
            inner.insert(0, dim)
            lengths[dim] = count
            room //= count
        elif room >= 4:
            schedule = split(f"{name}/{dim}", room).on(schedule)
            outer.insert(0, f"{dim}_o")
            inner.insert(0, f"{dim}_i")
            lengths[dim] = room
            room = 1
        else:
            outer.insert(0, dim)
            room = 1
    return schedule, outer, inner, lengths


def _one(schedule: Schedule, others: list[str]) -> tuple[Schedule, list[str]]:
    """The loops around the tiles as one, which blocks run along."""
    while len(others) > 1:
        schedule = fuse(others[0], others[1]).on(schedule)
        others = [f"{others[0]}_{others[1].rpartition('/')[2]}", *others[2:]]
    return schedule, others
