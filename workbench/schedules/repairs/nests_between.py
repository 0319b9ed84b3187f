"""Nests between two that are merged: they join the two, they go behind both, or the nearest of them is merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.tree import statements
from workbench.schedules.edit import at, children
from workbench.schedules.legality import Verdict
from workbench.schedules.repairs.shifting import delayed
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.arrange import Arrange
from workbench.schedules.steps.order.merge import Merge, meeting
from workbench.schedules.transform import Transform, recipe


def all_together(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """`merge(A, X) | merge(A, B)`: what stands between shares the loops, too, delayed where that is needed."""
    names = _between(schedule, step)
    if isinstance(step, Merge) and names and not step.loops:
        for depth in range(step.depth, 0, -1):
            yield from _in_turn(schedule, [replace(step, second=name, depth=depth) for name in (*names, step.second)])


def between_follows(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """`arrange(A, B, X) | merge(A, B)`: what stands between needs nothing of the first, or may come later."""
    names = _between(schedule, step)
    if isinstance(step, Merge) and names:
        yield recipe(Arrange((step.first, step.second, *names)), step)


def nearest_nest(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """The second nest with the one directly before it, or the first with the one directly behind."""
    names = _between(schedule, step)
    if isinstance(step, Merge) and names and not step.loops:
        yield replace(step, first=names[-1])
        yield replace(step, second=names[0])


def _between(schedule: Schedule, step: Transform) -> list[str]:
    """A statement of each nest between the two, in their order."""
    if not isinstance(step, Merge):
        return []
    path, i, j = meeting(schedule.tree, *(statement_id(schedule.program, name) for name in (step.first, step.second)))
    nests = children(at(schedule.tree, path))[i + 1 : j]
    return [schedule.program.statement(statements(nest)[-1]).name for nest in nests]


def _in_turn(schedule: Schedule, merges: list[Merge]) -> Iterator[Transform]:
    """The merges one after another, with the shifts that each needs."""
    taken: list[Transform] = []
    for merge in merges:
        found = next(delayed(schedule, merge), None)
        if found is None:
            return
        for part in found.steps():
            schedule = part.on(schedule)
            taken.append(part)
    yield recipe(*taken)
