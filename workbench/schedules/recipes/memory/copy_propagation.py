"""Copies: a temporary that only repeats cells of another array is read through."""

from __future__ import annotations

from workbench.errors import ScheduleError
from workbench.lang.expr import Read
from workbench.poly.programs.program import Program
from workbench.schedules.analysis.structure import structure
from workbench.schedules.scheduled_program import Schedule


def without_copies(schedule: Schedule) -> Schedule:
    """Inline the temporaries whose rows are rows of another array, such as a picture that is padded by nothing."""
    for array in copied(schedule.program):
        from workbench.schedules.steps import inline  # with what it needs, for the few programs that have copies

        try:
            after = inline(array).on(schedule)
        except ScheduleError:
            continue
        schedule = after if after.verdict else schedule
    return schedule


def copied(program: Program) -> list[str]:
    """The temporaries written by one plain copy along memory."""
    found = []
    for s in program.statements:
        name = s.targets[0][0]
        alone = len([t for other in program.statements for t, _ in other.targets if t == name]) == 1
        if alone and s.kind == "assign" and isinstance(s.values[0], Read) and program.arrays[name].role == "temporary":
            shape = structure(program, s.id)
            touches = (*shape.writes, *shape.reads)
            if s.dims and len(touches) == 2 and all(t.along(s.dims[-1]) == 1 for t in touches):
                found.append(name)
    return found
