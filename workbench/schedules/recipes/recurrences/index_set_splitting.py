"""Index-set splitting: loops that one iteration keeps from running at once are cut there.

before → after:  for j: P(i,j) = min(P(i,j), P(i,k) + P(k,j))   →   for j < k: P;  j = k: P;  for j > k: P

Each part may be vectorised and divided among threads (Griebl, Feautrier and Lengauer 2000).
"""

from __future__ import annotations

from workbench.errors import ScheduleError
from workbench.poly.dependence.questions import turning_point
from workbench.schedules.analysis.structure import in_place
from workbench.schedules.recipes.try_steps import simple
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import partition

MOST_STATEMENTS = 4
"""Longer programs have other ways, and each cut adds two nests."""


def with_split_index_sets(schedule: Schedule) -> Schedule:
    """Every loop of a nest with a single statement cut where it turns, from the outside in."""
    if len(schedule.program.statements) > MOST_STATEMENTS:
        return schedule
    for s in schedule.program.statements:
        if in_place(s) and len(s.dims) > 1 and simple(schedule.program, schedule.tree, s.id):
            points = [(d, p) for d in s.dims[1:] if (p := turning_point(schedule.program, s.id, d)) is not None]
            after = _cut(schedule, s.name, points) if points else schedule
            schedule = after if after is not schedule and after.verdict else schedule
    return schedule


def _cut(schedule: Schedule, name: str, points: list[tuple[str, str]]) -> Schedule:
    """One statement cut at these points of its dims, the parts again along what is left of them; not judged yet."""
    parts, start = [name], schedule
    try:
        for dim, point in points:
            for part in parts:
                schedule = partition(part, f"{dim} < {point}", at=dim).on(schedule)
                schedule = partition(f"{part}.else", f"{dim} < {point} + 1", at=dim).on(schedule)
            parts = [f"{part}.{end}" for part in parts for end in ("then", "else.then", "else.else")]
    except ScheduleError:
        return start
    return schedule
