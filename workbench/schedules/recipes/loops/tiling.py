"""Tiling: a reduction with reuse is tiled for registers and caches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from workbench import poly
from workbench.errors import ScheduleError
from workbench.poly.programs.loop_names import in_block, loop_of, over_blocks
from workbench.poly.programs.program import Program
from workbench.schedules.analysis.blocking import Blocking, at_least, blocking
from workbench.schedules.analysis.structure import Structure, structure
from workbench.schedules.recipes.decisions import asked, decide, sizes_near
from workbench.schedules.recipes.loops.epilogue_fusion import nest_for_tiles, tiled
from workbench.schedules.recipes.memory.row_fusion import row_sums, shares_its_nest
from workbench.schedules.recipes.try_steps import changed_statements, ordered, simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import reorder, split, tile, unroll, vectorize
from workbench.schedules.transform import applied
from workbench.target import Target

ABREAST = 4
"""Rows of a tile along a dim that the recipe would not take."""

PAGE, LINE, WAYS = 4096, 64, 8
"""Lines whose addresses differ by a multiple of a page share the ways of a first cache: eight of them or more."""


def tiled_for_reuse(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """Register and cache blocks for one reduction; unchanged if it has no use for them."""
    program = schedule.program
    shape = structure(program, identifier)
    plan = blocking(shape, target)
    if plan is None or not simple(program, schedule.tree, identifier):
        return schedule
    if identifier in row_sums(program, target) and shares_its_nest(schedule, identifier):
        return schedule
    after = _with_plan(schedule, identifier, plan, target)
    if after is schedule and (rest := _without_time(shape, plan, target)) is not None:
        return _with_plan(schedule, identifier, rest, target, time=shape.statement.dims[:1])
    return after


def _without_time(shape: Structure, plan: Blocking, target: Target) -> Blocking | None:
    """A plan with other rows than those of the outermost loop, which wait for one another in a recurrence."""
    outermost = shape.statement.dims[0]
    if plan.form != "across" or [d for d, _ in plan.rows] != [outermost]:
        return None
    rest = blocking(shape, target, waiting={outermost})
    return rest if rest is not None and rest.form == "across" and rest.rows else None


def _with_plan(
    schedule: Schedule, identifier: str, plan: Blocking, target: Target, time: Sequence[str] = ()
) -> Schedule:  # fmt: skip
    """The blocks of a plan in the first way that is legal; loops over `time` stay around them."""
    program = schedule.program
    plan = _decided(plan, structure(program, identifier), target) if asked() else plan
    along = _along, partial(_in_lanes, target=target), _abreast
    ways = (partial(_across, time=time),) if plan.form == "across" else along
    for way in ways:
        try:
            ready = nest_for_tiles(schedule, identifier, together=plan.form == "across" and plan.panel is None)
            after = way(ready, identifier, plan)
        except ScheduleError:
            return schedule
        if not poly.violations(program, after.tree, changed_statements(schedule, after)):
            return after
    return schedule


def _decided(plan: Blocking, shape: Structure, target: Target) -> Blocking:
    """The block sizes as they were chosen."""
    name = shape.statement.name
    plan = _with_rows(plan, shape) if plan.form == "across" else plan
    rows = tuple((d, decide(f"{name}_tile_{d}", s, (1, 2, 3, 4, 6, 8, 12, 16))) for d, s in plan.rows)
    plan = replace(plan, rows=rows)
    if plan.form == "across":
        lanes = target.lanes(max(32, *(8 * v.dtype.bytes for v in shape.statement.values)))
        size = decide(f"{name}_tile_{plan.vector}", plan.vector_size, tuple(lanes * n for n in (1, 2, 3, 4, 6, 8, 16)))
        plan = replace(plan, vector_size=size)
    if plan.panel is not None:
        dim, size = plan.panel
        most = (shape.trip(dim) or 1024) // 2
        size = decide(f"{name}_block_{dim}", size, lambda: sizes_near(size, most, unit=8, zero=True))
        plan = replace(plan, panel=(dim, size) if size else None)
    if plan.form == "across" and (plan.terms > 1 or not plan.rows):
        plan = replace(plan, terms=decide(f"{name}_terms", plan.terms, (1, 2, 4, 8)))
    return plan


def _with_rows(plan: Blocking, shape: Structure) -> Blocking:
    """Another dim's iterations side by side, or those of one where the recipe takes none: windows of theirs overlap."""
    usual = next((d for d, _ in plan.rows), "")
    others = [d for d in shape.free if d not in (usual, plan.vector) and at_least(shape.trip(d), 2)]
    chosen = decide(f"{shape.statement.name}_rows", usual, ("", *others), opens=True)
    if chosen == usual:
        return plan
    return replace(plan, rows=((chosen, ABREAST),) if chosen else ())


def _across(schedule: Schedule, identifier: str, plan: Blocking, time: Sequence[str]) -> Schedule:
    """Blocks of cells outside, then the reduction, then the registers, the last of which are lanes."""
    shape, rows = structure(schedule.program, identifier), [d for d, s in plan.rows if s > 1]
    name, vector = schedule.program.statement(identifier).name, plan.vector
    around = [d for d in shape.free if d not in (*rows, vector, *time)]
    sizes = {d: s for d, s in plan.rows if s > 1} | {vector: plan.vector_size}
    sizes |= dict([plan.panel]) if plan.panel else {}
    panel = [over_blocks(plan.panel[0])] if plan.panel else []
    outer = [*around, over_blocks(vector), *panel, *map(over_blocks, rows)]
    if rows and decide(f"{name}_rows_outside", plan.apart, (False, True)):
        outer = [*outer[-len(rows):], *outer[: -len(rows)]]
    reduced = [in_block(d) if plan.panel and d == plan.panel[0] else d for d in shape.reduced]
    order = outer, reduced, [*map(in_block, rows), in_block(vector)]
    schedule = tiled(schedule, identifier, sizes, order, len(time))
    return _some_terms(schedule, identifier, plan) if plan.terms > 1 else schedule


def _some_terms(schedule: Schedule, identifier: str, plan: Blocking) -> Schedule:
    """Some iterations of the innermost reduction loop inside the lanes: the sums are read and written once for all."""
    name, last = schedule.program.statement(identifier).name, structure(schedule.program, identifier).reduced[-1]
    terms = split(loop_of(name, last), plan.terms)
    rows = [loop_of(name, d).inner for d, size in plan.rows if size > 1]
    schedule = applied(terms.on(schedule), reorder(loop_of(name, plan.vector).inner, *rows, terms.inner))
    return unroll(terms.inner).on(schedule)


def _along(schedule: Schedule, identifier: str, plan: Blocking) -> Schedule:
    """Blocks of cells outside, then the reduction, its last loop in lanes, then the registers."""
    schedule = _abreast(schedule, identifier, plan)
    return vectorize(loop_of(schedule.program.statement(identifier).name, plan.vector)).on(schedule)


def _in_lanes(schedule: Schedule, identifier: str, plan: Blocking, target: Target) -> Schedule:
    """The same for sums whose order is not free, with neighbouring cells in lanes: their operands are gathered for all
    the rows of a tile, which is less work than to multiply one by one.
    """
    shape = structure(schedule.program, identifier)
    (*rows, (last, _)) = plan.rows
    lanes = target.lanes(max(8 * v.dtype.bytes for v in shape.statement.values))
    abreast = target.costs.latency_cycles  # one vector is loaded, and added, in each
    for vectors in (1,) if rows else (abreast, max(1, abreast // 2)):
        if at_least(shape.trip(last), 2 * vectors * lanes) and _spread(schedule.program, shape, last, vectors * lanes):
            break
    else:
        raise ScheduleError(f"{shape.statement.name} has no row of {lanes} cells at equal distances")
    wide = replace(plan, rows=(*rows, (last, vectors * lanes)))
    return _abreast(schedule, identifier, wide, in_lanes=True)


def _spread(program: Program, shape: Structure, dim: str, count: int) -> bool:
    """Whether so many cells along the dim, read together, are not too many for the places that a cache has for them."""
    for read in shape.reads:
        step = read.along(dim)
        if step is None:
            return False
        distance = step * program.arrays[read.array].dtype.bytes
        sets = Counter(n * distance % PAGE // LINE for n in range(count) if distance)
        if max(sets.values(), default=0) > max(WAYS, LINE // max(1, abs(distance))):
            return False
    return True


def _abreast(schedule: Schedule, identifier: str, plan: Blocking, *, in_lanes: bool = False) -> Schedule:
    """The same for sums whose order is not free: several at a time, of which the last row may be in lanes, hide the
    latency of an addition.
    """
    name, shape = schedule.program.statement(identifier).name, structure(schedule.program, identifier)
    rows = {d: s for d, s in plan.rows if s > 1}
    schedule = tile({loop_of(name, d): s for d, s in rows.items()}).on(schedule) if rows else schedule
    others, reduced = ([d for d in own if d not in (*rows, plan.vector)] for own in (shape.free, shape.reduced))
    order = [*others, *map(over_blocks, rows), *reduced, plan.vector, *map(in_block, rows)]
    schedule = ordered(schedule, name, order)
    for d in list(rows)[: len(rows) - in_lanes]:
        schedule = unroll(loop_of(name, d).inner).on(schedule)
    return vectorize(loop_of(name, list(rows)[-1]).inner).on(schedule) if in_lanes else schedule
