"""Packing: products of arrays as Goto and van de Geijn (2008) and BLIS block them.

The panel of one operand that a block of the reduction needs is copied into the order in which registers read it.  Then
a register tile walks through memory with stride 1, and few pages are in use at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from workbench.errors import ScheduleError
from workbench.lang.expr import Index, Read, index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.tree import path
from workbench.schedules.recipes.blocks import simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    decompose_reduction,
    interchange,
    parallelize,
    split,
    stage,
    tile,
    transform_layout,
    unroll,
    vectorize,
)
from workbench.schedules.steps.decomposition import enclosing_sequence
from workbench.schedules.structure import Structure, multiplies, structure
from workbench.target import Target

WORK = 1 << 23
"""Fewer multiplications are not worth a copy."""

REUSE = 12
"""Register tiles that must read a panel before its copy pays."""


@dataclass(frozen=True)
class Packing:
    """Blocks of one product.

    `column` runs in lanes, `width` cells at a time; `row` is unrolled, `height` at a time; `depth` is the dim of the
    reduction that is blocked.  `blocks` are the cache blocks of the three, outermost first (0: whole).  `operand` is
    read along the columns; `other`, along the rows, is packed too where it does not run along the reduction.  The loop
    `threads` is divided among the processors.
    """

    column: str
    width: int
    row: str
    height: int
    depth: str
    blocks: dict[str, int]
    operand: Read
    other: Read | None
    batches: tuple[str, ...]
    threads: str

    def inside(self, dim: str) -> str:
        """The loop over one block of a dim."""
        return f"{dim}_i" if self.blocks.get(dim) else dim


def packing(shape: Structure, target: Target) -> Packing | None:
    """The blocks of a product of two arrays with enough reuse, or None."""
    trips = dict(shape.trips)
    if not multiplies(shape.statement) or len(shape.writes) != 1 or not shape.reduced:
        return None
    if any(t is None for t in trips.values()) or prod(t or 0 for t in trips.values()) < WORK:
        return None
    column = next((d for d in reversed(shape.free) if shape.writes[0].along(d) == 1), "")
    operand = _plain(shape, column)
    if operand is None:
        return None
    rows = [d for d in shape.free if d not in (column, *index_names(operand))]
    row = max(rows, key=lambda d: trips[d] or 0, default="")
    other = _plain(shape, row)
    depth = next((d for d in shape.reduced if d in index_names(operand)), None)
    crossed = any(r.along(column) != 0 and r.along(row) != 0 for r in shape.reads if row)
    if other is None or other == operand or depth is None or crossed:
        return None
    return _sized(shape, (column, row, depth), (operand, other), target)


def _plain(shape: Structure, dim: str) -> Read | None:
    """The only read that moves along a dim and the reduction, if each of its subscripts is a dim of its own."""
    reduced = {*shape.reduced}
    found = {r for r in reads_of(*shape.statement.values) if dim in index_names(r) and index_names(r) & reduced}
    if len(found) != 1:
        return None
    (read,) = found
    plain = {s.name for s in read.subscripts if isinstance(s, Index)}
    return read if len(plain) == len(read.subscripts) else None


def _sized(shape: Structure, dims: tuple[str, str, str], reads: tuple[Read, Read], target: Target) -> Packing | None:
    column, row, depth = dims
    n, m, k = (shape.trip(d) or 0 for d in dims)
    size = max(v.dtype.bytes for v in shape.statement.values)
    height, vectors = (6, 2) if target.vector_registers <= 16 else (8, 3)
    width = vectors * target.lanes(8 * size)
    if n < 2 * width or m < REUSE * height:
        return None
    first, second, third = target.cache_bytes
    inner = size * prod(shape.trip(d) or 1 for d in shape.reduced if d != depth)
    depths = _even(k, max(8, first // 2 // (width * inner)), 8)
    panel = (depths or k) * inner
    batches = tuple(d for d in shape.free if d not in (column, row))
    threads = next((d for d in batches if (shape.trip(d) or 1) >= target.cores), None)
    threads = threads or (f"{column}_o" if n >= 2 * width * target.cores else f"{row}_o")
    share = {f"{d}_o": -(-trip // target.cores) for d, trip in ((column, n), (row, m)) if f"{d}_o" == threads}
    columns = _even(n, min(max(second, third // (2 * target.cores)) // panel, share.get(f"{column}_o", n)), width)
    rows = _even(m, min(second // 4 // panel, share.get(f"{row}_o", m)), height)
    moving = [t for t in shape.reads if t.array == reads[1].tensor and t.along(row) != 0]
    other = reads[1] if any(t.along(depth) != 1 for t in moving) else None
    blocks = {column: columns, depth: depths, row: rows}
    return Packing(column, width, row, height, depth, blocks, reads[0], other, batches, threads)


def _even(trip: int, most: int, unit: int) -> int:
    """Blocks of nearly one size, each a multiple of a unit; 0 if one block holds everything."""
    pieces = -(-trip // max(unit, most))
    return 0 if pieces <= 1 else -(-trip // (pieces * unit)) * unit


def packed(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """One product in blocks, its operands packed; unchanged if it has no use for that."""
    program = schedule.program
    plan = packing(structure(program, identifier), target)
    if plan is None or not simple(program, schedule.tree, identifier):
        return schedule
    try:
        after = _blocked(schedule, identifier, plan)
        after = _filled(after, identifier, plan, plan.operand, plan.column)
        if plan.other is not None:
            after = _filled(after, identifier, plan, plan.other, plan.row)
    except ScheduleError:
        return schedule
    return after if after.verdict else schedule


def _blocked(schedule: Schedule, identifier: str, plan: Packing) -> Schedule:
    """Blocks for the caches, in them tiles for the registers."""
    name = schedule.program.statement(identifier).name
    if enclosing_sequence(schedule.tree, identifier):
        schedule = decompose_reduction(name).on(schedule)
    cut = {f"{name}/{d}": size for d, size in plan.blocks.items() if size}
    schedule = tile(cut).on(schedule) if cut else schedule
    row, column = plan.inside(plan.row), plan.inside(plan.column)
    schedule = tile({f"{name}/{row}": plan.height, f"{name}/{column}": plan.width}).on(schedule)
    reduced = [plan.inside(d) for d in structure(schedule.program, identifier).reduced]
    outside = [*plan.batches, *(f"{d}_o" for d, size in plan.blocks.items() if size)]
    order = [*outside, f"{column}_o", f"{row}_o", *reduced, f"{row}_i", f"{column}_i"]
    schedule = interchange(*(f"{name}/{x}" for x in order)).on(schedule)
    schedule = unroll(f"{name}/{row}_i").on(schedule)
    schedule = vectorize(f"{name}/{column}_i").on(schedule)
    return parallelize(f"{name}/{plan.threads}").on(schedule) if plan.threads in order else schedule


def _filled(schedule: Schedule, identifier: str, plan: Packing, operand: Read, dim: str) -> Schedule:
    """The panels of an operand, packed where their block of the reduction begins."""
    name, before = schedule.program.statement(identifier).name, {*schedule.program.arrays}
    schedule = stage(operand.tensor, f"{name}/{_home(schedule, identifier, plan, dim)}").on(schedule)
    (buffer,) = {*schedule.program.arrays} - before
    size = plan.width if dim == plan.column else plan.height
    dims = [s.name for s in operand.subscripts if isinstance(s, Index)]
    outer = [d for d in dims if d in plan.batches]
    cells = [*outer, f"{dim} / {size}", *(d for d in dims if d not in (*outer, dim)), f"{dim} % {size}"]
    schedule = transform_layout(buffer, f"({', '.join(dims)}) -> ({', '.join(cells)})").on(schedule)
    return _copied(schedule, buffer, dims.index(dim), size, lanes=dim == plan.column)


def _home(schedule: Schedule, identifier: str, plan: Packing, dim: str) -> str:
    """The loop whose iterations have a panel of their own."""
    around = [x.name for x in path(schedule.tree, identifier)]
    if dim == plan.row and plan.blocks[plan.row]:
        return f"{dim}_o"
    wanted = [f"{d}_o" for d in (plan.depth, plan.column) if plan.blocks[d]]
    return next((x for x in (*wanted, *reversed(plan.batches)) if x in around), f"{plan.inside(plan.column)}_o")


def _copied(schedule: Schedule, buffer: str, position: int, size: int, *, lanes: bool) -> Schedule:
    """The copy panel by panel, in lanes or unrolled along the dimension that was cut."""
    load = next(s for s in schedule.program.statements if s.name == f"{buffer}.load")
    loops = [x.name for x in path(schedule.tree, load.id) if [s for s, _ in x.rows] == [load.id]]
    cut = loops[position]
    names = (f"{cut}_panel", f"{cut}_lane")
    schedule = split(f"{load.name}/{cut}", size, names=names).on(schedule)
    order = (names[0], *(x for x in loops if x != cut), names[1])
    schedule = interchange(*(f"{load.name}/{x}" for x in order)).on(schedule)
    return (vectorize if lanes else unroll)(f"{load.name}/{names[1]}").on(schedule)
