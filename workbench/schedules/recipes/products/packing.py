"""Packing: products of arrays as Goto and van de Geijn (2008) and BLIS block them.

The panel of one operand that a block of the reduction needs is copied into the order in which registers read it.  Then
a register tile walks through memory with stride 1, and few pages are in use at once.

Which products come into question `packing` says here: enough multiplications, two operands that are read in order.
From how many rows on they are packed, and in which blocks, is `sized` of `product_blocks.py`; what the copies look
like, `panels.py` and, of pixels, `run_panels.py`.  Products that are not packed are tiled by `recipes/loops/tiling.py`.
"""

from __future__ import annotations

from contextlib import suppress
from math import prod

from workbench import poly
from workbench.errors import ScheduleError
from workbench.lang.expr import Read, index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.programs.loop_names import in_block, loop_of, loops_of, over_blocks
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import path, statements
from workbench.schedules import steps
from workbench.schedules.analysis.structure import Structure, in_place, multiplies, structure
from workbench.schedules.recipes.loops.epilogue_fusion import nest_for_tiles, tiled
from workbench.schedules.recipes.loops.loop_collapse import run_along, thinned
from workbench.schedules.recipes.products.known_operands import is_known
from workbench.schedules.recipes.products.panels import by_instruction, copied_rows, plain_read, runs_along, with_panel
from workbench.schedules.recipes.products.product_blocks import Packing, Words, sized
from workbench.schedules.recipes.products.run_panels import with_run_panels
from workbench.schedules.recipes.try_steps import changed_statements, simple, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import parallelize, tile
from workbench.target import Target

WORK = 1 << 18
"""Fewer multiplications are not worth a copy: of products of 64³ every operand fits the first cache as it is."""

CODED_WORK = 1 << 21
"""The same where the rows are copied in another code: of products of 64³ that takes a quarter of the time."""


def packing(
    program: Program, identifier: str, target: Target, *, across: bool | None = None, any_function: bool = False,
    words: Words | None = None,
) -> Packing | None:  # fmt: skip
    """The blocks of a product of two arrays (or `any_function` of two) with enough reuse, or None.

    Cores divide the columns if `across`, the rows if not, by default what leaves each the least to do.  An instruction
    may take `words` of neighbouring contributions.
    """
    shape = structure(program, identifier)
    trips = dict(shape.trips)
    if not (any_function or multiplies(shape.statement)) or len(shape.writes) != 1 or not shape.reduced:
        return None
    least = CODED_WORK if words is not None and words.shifted else WORK
    if any(t is None for t in trips.values()) or prod(t or 0 for t in trips.values()) < least:
        return None
    column = next((d for d in reversed(shape.free) if shape.writes[0].along(d) == 1 and trips[d] != 1), None)
    if column is None:
        return None
    in_order = all(t.along(column) in (0, 1) for t in shape.reads)
    run = run_along(shape, column, shape.free) if in_order else (column,)
    operand = _read_along(shape, column) if len(run) > 1 else plain_read(shape, column)
    if operand is None:
        return None
    rows = [d for d in shape.free if d not in (*run, *index_names(operand))]
    row = max(reversed(rows), key=lambda d: trips[d] or 0, default="")  # of equal ones that whose cells are nearest
    other = plain_read(shape, row)
    depth = max((d for d in shape.reduced if d in index_names(operand)), key=lambda d: trips[d] or 0, default=None)
    crossed = any(r.along(column) != 0 and r.along(row) != 0 for r in shape.reads if row)
    if other is None or other == operand or depth is None or crossed:
        return None
    if words is not None and (len(run) > 1 or depth not in index_names(other)):
        return None
    if words is not None and words.of_rows not in ("", other.dtype.name):
        return None
    whole = poly.independent(program, identifier, shape.free)
    return sized(shape, (run, row, depth), (operand, other), target, whole=whole, across=across, words=words)


def _read_along(shape: Structure, column: str) -> Read | None:
    """The only read that moves along a dim."""
    found = {r for r in reads_of(*shape.statement.values) if column in index_names(r)}
    return found.pop() if len(found) == 1 else None


def packed(
    schedule: Schedule, identifier: str, target: Target, *, any_function: bool = False, words: Words | None = None
) -> Schedule:
    """One product in blocks, its operands packed, not judged yet; unchanged if it has no use for that.

    With `words` an instruction multiplies them.
    """
    if not simple(schedule.program, schedule.tree, identifier):
        return schedule
    try:
        return _packed(schedule, identifier, target, any_function, words)
    except ScheduleError:
        return schedule


def panelled(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """As `packed`, also where something else than a product of the two operands is summed up."""
    return packed(schedule, identifier, target, any_function=True)


def _packed(
    schedule: Schedule, identifier: str, target: Target, any_function: bool, words: Words | None
) -> Schedule:
    start = schedule
    if packing(schedule.program, identifier, target, any_function=any_function, words=words) is None:
        schedule = thinned(schedule, identifier)
    found = _possible(schedule, identifier, target, any_function, words)
    if found is None:
        return start
    plan, schedule = found
    if plan.other is not None and words is not None and words.shifted and is_known(plan.other.tensor):
        return start  # whoever packs it once knows nothing of the instruction's code
    if plan.operand is not None:
        schedule = _filled(schedule, identifier, plan, plan.operand, plan.column, target)
    if plan.other is not None:
        schedule = _filled(schedule, identifier, plan, plan.other, plan.row, target)
    if plan.words is None or not plan.words.instruction:
        return schedule
    return _instructed(schedule, identifier, plan, plan.words)


def _possible(
    schedule: Schedule, identifier: str, target: Target, any_function: bool, words: Words | None
) -> tuple[Packing, Schedule] | None:
    """A product in blocks; where it is computed in place, only its columns or only its rows may be divided."""
    waits = _waits(schedule, identifier)
    for across in (True, False) if waits else (None,):
        plan = packing(schedule.program, identifier, target, across=across, any_function=any_function, words=words)
        if plan is None:
            return None
        after = _blocked(schedule, identifier, plan)
        # Such blocks are seldom legal, and a look at them is cheaper than at the panels.
        if not waits or not poly.violations(schedule.program, after.tree, changed_statements(schedule, after)):
            return plan, after
    return None


def _waits(schedule: Schedule, identifier: str) -> bool:
    """Whether a statement reads what it writes itself or what others in its nest do."""
    program, own = schedule.program, schedule.program.statement(identifier)
    nest = next(x for x in top(schedule.tree) if identifier in statements(x))
    made = {array for s in statements(nest) if s != identifier for array, _ in program.statement(s).targets}
    return in_place(own) or any(a.array in made for a in own.reads if not a.accumulates)


def _blocked(schedule: Schedule, identifier: str, plan: Packing) -> Schedule:
    """Blocks for the caches, in them tiles for the registers; their first values beside them where that works."""
    if not plan.blocks[plan.depth]:
        with suppress(ScheduleError):
            return _in_blocks(schedule, identifier, plan, together=True)
    return _in_blocks(schedule, identifier, plan, together=False)


def _in_blocks(schedule: Schedule, identifier: str, plan: Packing, *, together: bool) -> Schedule:
    name = schedule.program.statement(identifier).name
    schedule = nest_for_tiles(schedule, identifier, together=together)
    schedule = steps.fuse(*loops_of(name, plan.run)).on(schedule) if plan.run else schedule
    cut: dict[str, int] = {loop_of(name, d): size for d, size in plan.blocks.items() if size}
    schedule = tile(cut).on(schedule) if cut else schedule
    row, column = plan.inside(plan.row), plan.inside(plan.column)
    reduced = [plan.inside(d) for d in structure(schedule.program, identifier).reduced]
    outside = [*plan.batches, *(over_blocks(d) for d, size in plan.blocks.items() if size)]
    outside += [over_blocks(column), over_blocks(row)]
    order = outside, reduced, (in_block(row), in_block(column))
    schedule = tiled(schedule, identifier, {row: plan.height, column: plan.width}, order)
    return parallelize(loop_of(name, plan.threads)).on(schedule) if plan.threads in outside else schedule


def _filled(
    schedule: Schedule, identifier: str, plan: Packing, operand: Read, dim: str, target: Target
) -> Schedule:
    """The panels of an operand, packed where the iterations of their home begin."""
    name = schedule.program.statement(identifier).name
    if plan.run and dim == plan.column:
        return _run_filled(schedule, identifier, plan, operand, target)
    home = loop_of(name, _home(schedule, identifier, plan, dim))
    size, lanes = (plan.width, True) if dim == plan.column else (plan.height, False)
    words = plan.words
    if words is None:
        streamed = plan.streamed and dim == plan.column
        return with_panel(schedule, operand, home, (dim, size), batches=plan.batches, lanes=lanes, in_order=streamed)
    before = {*schedule.program.arrays}
    once = dim == plan.row and not plan.batches and not plan.blocks[plan.depth] and not plan.blocks[plan.row]
    if dim == plan.row and runs_along(schedule, operand, plan.depth):
        schedule = copied_rows(schedule, operand, home, plan.depth, once=once)
    else:
        group = (plan.depth, words.count) if words.count > 1 else None
        cut, outer = (dim, size), plan.batches
        schedule = with_panel(schedule, operand, home, cut, batches=outer, lanes=lanes, group=group, once=once)
    (buffer,) = {*schedule.program.arrays} - before
    narrow = words.wide not in ("", schedule.program.arrays[buffer].dtype.name)
    return steps.widen(buffer, words.wide).on(schedule) if narrow else schedule


def _run_filled(schedule: Schedule, identifier: str, plan: Packing, operand: Read, target: Target) -> Schedule:
    """All panels of what is read along a run, for each batch; by all threads, unless each has batches of its own."""
    name = schedule.program.statement(identifier).name
    batch = next((d for d in reversed(plan.batches) if d in index_names(operand)), None)
    home = loop_of(name, batch) if batch else None
    threads = None if plan.threads in plan.batches else target
    return with_run_panels(schedule, identifier, operand, (plan.run, plan.width), home, threads)


def _instructed(schedule: Schedule, identifier: str, plan: Packing, words: Words) -> Schedule:
    name, deep = schedule.program.statement(identifier).name, plan.inside(plan.depth)
    cells = in_block(plan.inside(plan.row)), in_block(plan.inside(plan.column))
    full = (structure(schedule.program, identifier).trip(plan.depth) or 1) % words.count == 0
    return by_instruction(schedule, name, (deep, *cells), words, full=full)


def _home(schedule: Schedule, identifier: str, plan: Packing, dim: str) -> str:
    """The loop whose iterations have a panel of their own.

    A panel of columns is made just before all rows go by it, unless there are blocks of rows, which would each make it
    anew, or it is streamed: then all panels of a block of the reduction stand there together.
    """
    if dim == plan.column and not plan.blocks[plan.row] and not plan.streamed:
        return over_blocks(plan.inside(plan.column))
    around = [x.name for x in path(schedule.tree, identifier)]
    if dim == plan.row and plan.blocks[plan.row]:
        return over_blocks(dim)
    wanted = [over_blocks(d) for d in (plan.depth, plan.column) if plan.blocks[d]]
    return next((x for x in (*wanted, *reversed(plan.batches)) if x in around), over_blocks(plan.inside(plan.column)))
