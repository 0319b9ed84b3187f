"""First values: what a recurrence begins with, written in the loops of the recurrence.

    for c, t: y(c, t) = x(c, t);   for t > 0: for c: y(c, t) += a(c) * y(c, t - 1)
    →   for c: for t: { y(c, t) = x(c, t);  if t > 0: y(c, t) += a(c) * y(c, t - 1) }

A cell that is written over in the same iteration need not be stored, and nothing goes through memory twice.
"""

from __future__ import annotations

from workbench.lang.expr import Expr, Index
from workbench.poly.programs.loop_names import loops_of
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import path
from workbench.schedules.analysis.structure import in_place
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.try_steps import attempt, simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import merge, reorder


def with_first_values(schedule: Schedule) -> Schedule:
    """Each recurrence in the loops of what it begins with, for a tuner that wants it so, where that is legal."""
    for own in filter(in_place, schedule.program.statements):
        for first in first_values(schedule, own):
            after, depth = joined(schedule, first, own), len(own.dims)
            if after is not schedule and decide(f"{first.name}_{own.name}_fused", 0, (0, depth), opens=True):
                schedule = after
    return schedule


def first_values(schedule: Schedule, own: ProgramStatement) -> list[ProgramStatement]:
    """The statements in loops of their own that give the cells of a recurrence, one by one, what it begins with."""
    found = [s for s in schedule.program.statements if s.kind == "assign" and not in_place(s) and _order(s, own)]
    return [s for s in found if all(simple(schedule.program, schedule.tree, x.id) for x in (s, own))]


def joined(schedule: Schedule, first: ProgramStatement, own: ProgramStatement) -> Schedule:
    """A recurrence in the loops of its first values; unchanged where that is not legal."""
    order, usual = _order(first, own), [x.name for x in path(schedule.tree, own.id)]
    moved = [reorder(*loops_of(own.name, order))] if order != usual else []
    return attempt(schedule, *moved, merge(first.name, own.name, depth=len(order)))


def _order(first: ProgramStatement, own: ProgramStatement) -> list[str]:
    """The dims of a recurrence in the order of the loops around its first values; empty where they are other cells."""
    (array, cells), (target, places) = first.targets[0], own.targets[0]
    if array != target or len(first.targets) != 1 or len(own.targets) != 1:
        return []
    names = {a: b for a, b in zip(map(_dim, cells), map(_dim, places), strict=True) if a and b}
    found = [names.get(d, "") for d in first.dims]
    return found if sorted(found) == sorted(own.dims) else []


def _dim(subscript: Expr) -> str:
    return subscript.name if isinstance(subscript, Index) else ""
