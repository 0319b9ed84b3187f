"""Privatization: a temporary that every iteration of a loop computes anew gets a place in each.

    for r, q: { for p: sum(p) = …;  for p: A(r, q, p) = sum(p) }
    → for r, q: { for p: sum_local(p) = …;  for p: A(r, q, p) = sum_local(p) }

Then iterations do not wait for one another because they use the same cells (Tu and Padua 1993).
"""

from __future__ import annotations

from workbench.errors import ScheduleError
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import path
from workbench.schedules.analysis.structure import structure
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import stage


def privatizable(program: Program) -> list[tuple[str, str]]:
    """(statement id, temporary) wherever a temporary's cells are given new values again and again."""
    found = []
    for s in program.statements:
        for array, _ in s.targets:
            if program.arrays[array].role == "temporary" and s.kind != "update" and added(program, s) is None:
                writes = [w for w in structure(program, s.id).writes if w.array == array]
                if any(w.along(d) == 0 for w in writes for d in s.dims):
                    found.append((s.id, array))
    return found


def privatized(schedule: Schedule) -> Schedule:
    """Each of them in a buffer of the innermost loop whose iterations use nobody else's values."""
    for identifier, array in privatizable(schedule.program):
        own = schedule.program.statement(identifier)
        if all(target != array for target, _ in own.targets):  # another one brought it along
            continue
        for loop in reversed(path(schedule.tree, identifier)):
            after = in_buffer(schedule, array, loop_of(own.name, loop.name))
            if after is not schedule:
                schedule = after
                break
    return schedule


def in_buffer(schedule: Schedule, array: str, loop: str) -> Schedule:
    """The array in a buffer of a loop if nothing has to be copied; unchanged otherwise."""
    try:
        after = stage(array, loop, "none").on(schedule)
    except ScheduleError:
        return schedule
    copied = len(after.program.statements) > len(schedule.program.statements)
    return schedule if copied or after.differences or not after.verdict else after
