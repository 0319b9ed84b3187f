"""Judging a step that leaves most of the order alone: against the order the schedule has now."""

from __future__ import annotations

from dataclasses import replace

from workbench import poly
from workbench.poly.dependence.bounds import inside_context
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree, all_serial
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


def with_program(
    schedule: Schedule, program: Program, tree: Tree, step: Transform, *, standard: Program | None = None
) -> Schedule:
    """The schedule after `step` changed instances or storage, like `Schedule.with_program`.

    A legal schedule is itself the standard, unless one is given: then only what the step touched has to be compared.
    Sizes for which the program leaves its arrays anyway do not count.
    """
    before = standard or standard_of(schedule)
    context = inside_context(schedule.program)
    found = poly.differences(replace(before, context=context), replace(program, context=context))
    trace = (*schedule.trace, step)
    return replace(schedule, program=program, tree=tree, trace=trace, differences=(*schedule.differences, *found))


def standard_of(schedule: Schedule) -> Program:
    """The program in the schedule's order, if that is legal: what a step is compared with."""
    program = schedule.program
    return replace(program, reference=all_serial(schedule.tree)) if schedule.verdict else program
