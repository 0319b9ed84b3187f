"""Fission: reductions that were written into one loop get nests of their own, so that each can have its blocks."""

from __future__ import annotations

from workbench.errors import ScheduleError
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.tree import Leaf, Sequence, statements
from workbench.schedules.edit import at, leaf_path
from workbench.schedules.recipes.loops.fusion import heavy
from workbench.schedules.recipes.try_steps import attempt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import arrange, decompose_reduction, distribute
from workbench.schedules.steps.order.decompose_reduction import enclosing_sequence
from workbench.schedules.transform import Transform
from workbench.target import Target


def separated(schedule: Schedule, target: Target) -> Schedule:
    """Every reduction that shares its innermost loop with others and has use for blocks alone, where that is legal.

    before → after:  for i: for k: { A; B }; C   →   for i: for k: B; C   for i: for k: A
    """
    for s in schedule.program.statements:
        place = leaf_path(schedule.tree, s.id)
        beside = statements(at(schedule.tree, place[:-1])) if place else ()
        program = schedule.program
        if added(program, s) and sum(added(program, program.statement(o)) is not None for o in beside) > 1:
            schedule = _alone(schedule, s.id, target)
    return schedule


def _alone(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """One reduction in a nest of its own, before or after the others; unchanged where neither is legal."""
    own = schedule.program.statement(identifier).name
    try:
        apart = _cut(schedule, identifier)
        others = [x for x in _parts(apart, identifier) if x != own]
    except ScheduleError:
        return schedule
    if not others or not heavy(schedule.program, Leaf(identifier), target):
        return schedule
    ways: list[list[Transform]] = [[], [arrange(*others, own)], [arrange(own, *others)]]
    for way in ways:
        after = attempt(schedule, *_steps(schedule, apart), *way, decompose_reduction(own))
        if after is not schedule:
            return after
    return schedule


def _cut(schedule: Schedule, identifier: str) -> Schedule:
    """The innermost loop around a statement cut before and after it."""
    path = leaf_path(schedule.tree, identifier)
    parts = at(schedule.tree, path[:-1])
    assert isinstance(parts, Sequence)
    following = parts.children[path[-1] + 1 :]
    for tree in (parts.children[path[-1]], *following[:1]):
        if statements(tree)[0] != statements(parts)[0]:
            schedule = distribute(schedule.program.statement(statements(tree)[0]).name).on(schedule)
    return schedule


def _steps(before: Schedule, after: Schedule) -> tuple[Transform, ...]:
    return after.trace[len(before.trace) :]


def _parts(schedule: Schedule, identifier: str) -> list[str]:
    """The first statements of what stands side by side around a statement."""
    place, _ = enclosing_sequence(schedule.tree, identifier) or ((), 0)
    parts = at(schedule.tree, place)
    found = parts.children if place and isinstance(parts, Sequence) else ()
    return [schedule.program.statement(statements(part)[0]).name for part in found]
