"""Packing: products of arrays as Goto and van de Geijn (2008) and BLIS block them.

The panel of one operand that a block of the reduction needs is copied into the order in which registers read it.  Then
a register tile walks through memory with stride 1, and few pages are in use at once.
"""

from __future__ import annotations

from math import prod

from workbench import poly
from workbench.errors import ScheduleError
from workbench.lang.expr import Read, index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.tree import path, statements
from workbench.records import record
from workbench.schedules.recipes.attempt import changed, top
from workbench.schedules.recipes.blocks import simple
from workbench.schedules.recipes.company import beside, tiled
from workbench.schedules.recipes.flattening import run_along, thinned
from workbench.schedules.recipes.panels import paneled, plain_read
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import fuse, parallelize, tile
from workbench.schedules.structure import Structure, in_place, multiplies, structure
from workbench.target import Target

WORK = 1 << 18
"""Fewer multiplications are not worth a copy."""

REUSE = 4
"""Register tiles that must read a panel before its copy pays."""

LEAST = 3
"""Vectors in a row that are worth blocks."""


@record
class Packing:
    """Blocks of one product.

    `column` runs in lanes, `width` cells at a time; `row` is unrolled, `height` at a time; `depth` is the dim of the
    reduction that is blocked.  `blocks` are the cache blocks of the three, outermost first (0: whole).  `operand` is
    read along the columns; `other`, along the rows, is packed too where it does not run along the reduction.  The loop
    `threads` is divided among the processors.

    The dims of `run` are the column together: they are fused, and what is read along them stays where it is.
    """

    column: str
    width: int
    row: str
    height: int
    depth: str
    blocks: dict[str, int]
    operand: Read | None
    other: Read | None
    batches: tuple[str, ...]
    threads: str
    run: tuple[str, ...] = ()

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
    column = next((d for d in reversed(shape.free) if shape.writes[0].along(d) == 1), None)
    if column is None:
        return None
    in_order = all(t.along(column) in (0, 1) for t in shape.reads)
    run = run_along(shape, column, shape.free) if in_order else (column,)
    operand = _read_along(shape, column) if len(run) > 1 else plain_read(shape, column)
    if operand is None:
        return None
    rows = [d for d in shape.free if d not in (*run, *index_names(operand))]
    row = max(rows, key=lambda d: trips[d] or 0, default="")
    other = plain_read(shape, row)
    depth = next((d for d in shape.reduced if d in index_names(operand)), None)
    crossed = any(r.along(column) != 0 and r.along(row) != 0 for r in shape.reads if row)
    if other is None or other == operand or depth is None or crossed:
        return None
    return _sized(shape, (run, row, depth), (operand, other), target)


def _read_along(shape: Structure, column: str) -> Read | None:
    """The only read that moves along a dim."""
    found = {r for r in reads_of(*shape.statement.values) if column in index_names(r)}
    return found.pop() if len(found) == 1 else None


def _sized(
    shape: Structure, dims: tuple[tuple[str, ...], str, str], reads: tuple[Read, Read], target: Target
) -> Packing | None:
    run, row, depth = dims
    n, m, k = (prod(shape.trip(d) or 0 for d in own) for own in (run, (row,), (depth,)))
    column, flat = "_".join(run), len(run) > 1
    size = max(v.dtype.bytes for v in shape.statement.values)
    (height, vectors), lanes = target.tile, target.lanes(8 * size)
    width = vectors * lanes
    if n < min(2 * width, LEAST * lanes) or m < (1 if flat else REUSE) * height:
        return None
    first, second, third = target.cache_bytes
    inner = size * prod(shape.trip(d) or 1 for d in shape.reduced if d != depth)
    depths = _even(k, max(8, first // 2 // (width * inner)), 8)
    panel = (depths or k) * inner
    batches = tuple(d for d in shape.free if d not in (*run, row))
    threads = next((d for d in batches if (shape.trip(d) or 1) >= target.cores), None)
    threads = threads or (f"{column}_o" if n >= 2 * width * target.cores else f"{row}_o")
    share = {f"{d}_o": -(-trip // target.cores) for d, trip in ((column, n), (row, m)) if f"{d}_o" == threads}
    # Panels are packed whole; what stays where it is can be divided between any two vectors.
    unit = lanes if flat and f"{column}_o" in share and target.cores > 1 else width
    columns = _even(n, min(max(second, third // (2 * target.cores)) // panel, share.get(f"{column}_o", n)), unit)
    rows = _even(m, min(second // 4 // panel, share.get(f"{row}_o", m)), height)
    moving = [t for t in shape.reads if t.array == reads[1].tensor and t.along(row) != 0]
    other = reads[1] if any(t.along(depth) != 1 for t in moving) else None
    blocks = {column: columns, depth: depths, row: rows}
    operand = None if flat else reads[0]
    return Packing(column, width, row, height, depth, blocks, operand, other, batches, threads, run if flat else ())


def _even(trip: int, most: int, unit: int) -> int:
    """Blocks of nearly one size, each a multiple of a unit; 0 if one block holds everything."""
    pieces = -(-trip // max(unit, most))
    return 0 if pieces <= 1 else -(-trip // (pieces * unit)) * unit


def packed(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """One product in blocks, its operands packed, not judged yet; unchanged if it has no use for that."""
    if not simple(schedule.program, schedule.tree, identifier):
        return schedule
    try:
        return _packed(schedule, identifier, target)
    except ScheduleError:
        return schedule


def _packed(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    start = schedule
    plan = packing(structure(schedule.program, identifier), target)
    if plan is None:
        schedule = thinned(schedule, identifier)
        plan = packing(structure(schedule.program, identifier), target) if schedule is not start else None
    if plan is None:
        return start
    before, schedule = schedule, _blocked(schedule, identifier, plan)
    # Blocks of what is computed in place are seldom legal, and a look at them is cheaper than at the panels.
    if _waits(before, identifier) and poly.violations(schedule.program, schedule.tree, changed(before, schedule)):
        return start
    if plan.operand is not None:
        schedule = _filled(schedule, identifier, plan, plan.operand, plan.column)
    return schedule if plan.other is None else _filled(schedule, identifier, plan, plan.other, plan.row)


def _waits(schedule: Schedule, identifier: str) -> bool:
    """Whether a statement reads what it writes itself or what others in its nest do."""
    program, own = schedule.program, schedule.program.statement(identifier)
    nest = next(x for x in top(schedule.tree) if identifier in statements(x))
    made = {array for s in statements(nest) if s != identifier for array, _ in program.statement(s).targets}
    return in_place(own) or any(a.array in made for a in own.reads if not a.accumulates)


def _blocked(schedule: Schedule, identifier: str, plan: Packing) -> Schedule:
    """Blocks for the caches, in them tiles for the registers."""
    name = schedule.program.statement(identifier).name
    schedule = beside(schedule, identifier, together=not plan.blocks[plan.depth])
    schedule = fuse(*(f"{name}/{d}" for d in plan.run)).on(schedule) if plan.run else schedule
    cut = {f"{name}/{d}": size for d, size in plan.blocks.items() if size}
    schedule = tile(cut).on(schedule) if cut else schedule
    row, column = plan.inside(plan.row), plan.inside(plan.column)
    reduced = [plan.inside(d) for d in structure(schedule.program, identifier).reduced]
    outside = [*plan.batches, *(f"{d}_o" for d, size in plan.blocks.items() if size)]
    outside += [f"{column}_o", f"{row}_o"]
    order = outside, reduced, (f"{row}_i", f"{column}_i")
    schedule = tiled(schedule, identifier, {row: plan.height, column: plan.width}, order)
    return parallelize(f"{name}/{plan.threads}").on(schedule) if plan.threads in outside else schedule


def _filled(schedule: Schedule, identifier: str, plan: Packing, operand: Read, dim: str) -> Schedule:
    """The panels of an operand, packed where their block of the reduction begins."""
    name = schedule.program.statement(identifier).name
    home = f"{name}/{_home(schedule, identifier, plan, dim)}"
    size, lanes = (plan.width, True) if dim == plan.column else (plan.height, False)
    return paneled(schedule, operand, home, (dim, size), batches=plan.batches, lanes=lanes)


def _home(schedule: Schedule, identifier: str, plan: Packing, dim: str) -> str:
    """The loop whose iterations have a panel of their own."""
    around = [x.name for x in path(schedule.tree, identifier)]
    if dim == plan.row and plan.blocks[plan.row]:
        return f"{dim}_o"
    wanted = [f"{d}_o" for d in (plan.depth, plan.column) if plan.blocks[d]]
    return next((x for x in (*wanted, *reversed(plan.batches)) if x in around), f"{plan.inside(plan.column)}_o")
