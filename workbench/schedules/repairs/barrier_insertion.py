"""Races of threads: barriers between them, atomic updates where they would meet in a cell, or results of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from workbench.errors import ScheduleError
from workbench.poly.time.concurrency import is_block
from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.execution.atomic import Atomic
from workbench.schedules.steps.execution.barrier import Barrier
from workbench.schedules.steps.execution.bind import SPELT, Bind
from workbench.schedules.steps.execution.parallelize import Parallelize
from workbench.schedules.steps.instances.split_reduction import SplitReduction
from workbench.schedules.transform import Transform, recipe

MOST = 12  # places where threads could wait that are looked at
PARTS = 8  # iterations of a reduction that make one partial result


def fewest_barriers(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """Threads wait for one another at one place, or at two, before they run at once."""
    if not isinstance(step, Parallelize | Bind) or (isinstance(step, Bind) and is_block(SPELT[step.axis])):
        return
    if not _only(verdict, reductions=False):
        return
    places = list(Barrier.choices(step.apply(schedule)))[:MOST]
    for count in (1, 2):
        for chosen in combinations(places, count):
            yield recipe(*chosen, step)


def atomic_updates(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """The updates that would meet in a cell are atomic."""
    if not isinstance(step, Parallelize | Bind) or not _only(verdict, reductions=True):
        return
    statements = dict.fromkeys(v.dependence.source for v in verdict.violations if v.dependence is not None)
    try:
        yield recipe(*(Atomic(schedule.program.statement(s).name).on(schedule).trace[-1] for s in statements), step)
    except ScheduleError:
        return


def split_the_reduction(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """Each part of the reduction adds up by itself; the parts run at once, their results are added at the end."""
    if not isinstance(step, Parallelize):
        return
    kinds = {v.dependence.kind for v in verdict.violations if v.dependence is not None}
    if kinds == {"reduction"}:
        parts = SplitReduction(step.loop, PARTS)
        yield recipe(parts, replace(step, loop=parts.over))


def _only(verdict: Verdict, *, reductions: bool) -> bool:
    """Whether what is wrong are races, all of them of contributions, or none."""
    found = [v for v in verdict.violations if v.dependence is not None]
    alike = all((v.dependence.kind == "reduction") == reductions for v in found if v.dependence is not None)
    return bool(found) and alike and all(v.reason == "race" for v in found)
