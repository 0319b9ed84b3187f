"""Matrix times vector of 8-bit numbers: both operands are read where they lie, the contributions in lanes.

before → after:  for m, k: y(m) += int32(A(m,k)) * int32(x(k))
                 → for m_o, k_o (vector), m_i (unroll): y(m) += A's word * x's word by an instruction

Each number of the matrix is used once, so that no copy pays; where the instruction takes 16-bit numbers, bytes are
widened on their way to the registers.  Contributions that fill no word are added one by one.
"""

from __future__ import annotations

from workbench.errors import ScheduleError
from workbench.poly.programs.loop_names import in_block, loop_of, over_blocks
from workbench.schedules.analysis.blocking import Blocking, blocking
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.loops.epilogue_fusion import nest_for_tiles
from workbench.schedules.recipes.products.product_blocks import Words
from workbench.schedules.recipes.try_steps import ordered, simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import partition, replace, split, tile, unroll, vectorize
from workbench.target import Target


def dotted(schedule: Schedule, identifier: str, target: Target, *, words: Words) -> Schedule:
    """One sum whose contributions lie side by side in both operands, not judged yet; unchanged if it is none."""
    if not simple(schedule.program, schedule.tree, identifier):
        return schedule
    plan = blocking(structure(schedule.program, identifier), target)
    if plan is None or plan.form != "along":
        return schedule
    try:
        return _scheduled(schedule, identifier, plan, words)
    except ScheduleError:
        return schedule


def _scheduled(schedule: Schedule, identifier: str, plan: Blocking, words: Words) -> Schedule:
    name, shape = schedule.program.statement(identifier).name, structure(schedule.program, identifier)
    schedule = nest_for_tiles(schedule, identifier, together=False)
    rows = {d: size for d, size in plan.rows if size > 1}
    schedule = tile({loop_of(name, d): size for d, size in rows.items()}).on(schedule) if rows else schedule
    groups = split(loop_of(name, plan.vector), words.count)
    schedule = groups.on(schedule)
    free, reduced = ([d for d in own if d not in (*rows, plan.vector)] for own in (shape.free, shape.reduced))
    outer = [*free, *map(over_blocks, rows), *reduced, groups.outer.loop]
    schedule = ordered(schedule, name, (*outer, *map(in_block, rows), groups.inner.loop))
    for d in rows:
        schedule = unroll(loop_of(name, in_block(d))).on(schedule)
    trip = shape.trip(plan.vector) or 0
    if trip % words.count:
        whole = trip - trip % words.count
        schedule = partition(name, f"{plan.vector} < {whole}", at=groups.outer.loop).on(schedule)
        name = f"{name}.then"
    schedule = vectorize(loop_of(name, groups.outer.loop)).on(schedule)
    return replace(loop_of(name, groups.inner.loop), words.instruction).on(schedule)
