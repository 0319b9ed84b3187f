"""Rows that wait for the rows before: what they begin with is written beside them, and goes through memory once.

    for t: for c: y(t, c) = x(t, c);   for t > 0: for c: y(t, c) += a(c) * y(t - 1, c)
    →   for t: for c in lanes: { y(t, c) = x(t, c);  if t > 0: y(t, c) += a(c) * y(t - 1, c) }

Where columns do not wait for one another, a tuner may give each thread a strip of them: `for c_o (parallel): for t: …`.
"""

from __future__ import annotations

from workbench import poly
from workbench.poly.programs.loop_names import LoopName, loops_of
from workbench.poly.programs.tree import Band, Tree, statements
from workbench.schedules.analysis.structure import Structure, in_place, structure
from workbench.schedules.edit import children
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.loops.parallelization import worthwhile
from workbench.schedules.recipes.recurrences.first_values import first_values, joined
from workbench.schedules.recipes.try_steps import attempt, dim_of, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import parallelize, reorder, split, vectorize
from workbench.target import Target

FEWEST = 4
"""Cache lines of a row of a strip, at least: fewer are fetched and shared for too little."""


def with_joined_rows(schedule: Schedule, target: Target) -> Schedule:
    """Each recurrence over rows in the loops of what it begins with, and in strips where a tuner wants it so."""
    for own in filter(in_place, schedule.program.statements):
        if _walks_rows(schedule, nest_of(schedule, own.id)):
            for first in first_values(schedule, own):
                schedule = joined(schedule, first, own)
            if target.cores > 1 and decide(f"{own.name}_strips", False, (False, True), opens=True):
                schedule = _in_strips(schedule, nest_of(schedule, own.id), target)
    return schedule


def nest_of(schedule: Schedule, identifier: str) -> Tree:
    """The nest of a statement (by id)."""
    return next(nest for nest in top(schedule.tree) if identifier in statements(nest))


def _walks_rows(schedule: Schedule, nest: Tree) -> bool:
    """Whether iterations of all loops but the innermost wait for one another, and that one runs along memory."""
    if not isinstance(nest, Band) or len(nest.loops) < 2 or any(isinstance(x, Band) for x in children(nest.child)):
        return False
    if isinstance(nest.child, Band) or any(x.kind != "serial" for x in nest.loops):
        return False
    columns = [(structure(schedule.program, s), dim_of(nest, len(nest.loops) - 1, s)) for s in statements(nest)]
    if any(column is None or not _along(shape, column) for shape, column in columns):
        return False
    *outer, last = _names(schedule, nest)
    independent = [poly.can_parallelize(schedule.program, schedule.tree, name) for name in (last, *outer)]
    return independent[0] and not any(independent[1:])


def _along(shape: Structure, column: str) -> bool:
    """Whether a statement writes neighbouring columns, and reads nothing across."""
    return all(w.along(column) == 1 for w in shape.writes) and all(r.along(column) in (0, 1) for r in shape.reads)


def _names(schedule: Schedule, nest: Band) -> tuple[LoopName, ...]:
    return loops_of(schedule.program.statement(statements(nest)[-1]).name, (x.name for x in nest.loops))


def _in_strips(schedule: Schedule, nest: Tree, target: Target) -> Schedule:
    """A nest with a strip of whole lines for each core; unchanged where strips would be narrow, or it is not legal."""
    if not isinstance(nest, Band) or not worthwhile(schedule.program, nest, target):
        return schedule
    last = statements(nest)[-1]
    shape, column = structure(schedule.program, last), dim_of(nest, len(nest.loops) - 1, last)
    line = max(1, target.line_bytes // max(v.dtype.bytes for v in shape.statement.values))
    trip = shape.trip(column) if column else None
    if trip is None or trip < 2 * FEWEST * line:
        return schedule
    size = max(FEWEST * line, -(-trip // (target.cores * line)) * line)
    *outer, columns = _names(schedule, nest)
    cut = split(columns, size)
    return attempt(schedule, cut, reorder(cut.outer, *outer, cut.inner), vectorize(cut.inner), parallelize(cut.outer))
