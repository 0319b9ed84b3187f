"""Barriers between the threads that a step makes, and atomic updates where they would meet in a cell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from workbench.errors import ScheduleError
from workbench.poly.time.concurrency import is_block
from workbench.schedules.legality import Verdict
from workbench.schedules.repairs.search import recipe
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.execution.atomic import Atomic
from workbench.schedules.steps.execution.barrier import Barrier
from workbench.schedules.steps.execution.bind import SPELT, Bind
from workbench.schedules.steps.execution.loops import Parallelize
from workbench.schedules.transform import Transform

MOST = 12  # places where threads could wait that are looked at


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


def _only(verdict: Verdict, *, reductions: bool) -> bool:
    """Whether what is wrong are races, all of them of contributions, or none."""
    found = [v for v in verdict.violations if v.dependence is not None]
    alike = all((v.dependence.kind == "reduction") == reductions for v in found if v.dependence is not None)
    return bool(found) and alike and all(v.reason == "race" for v in found)
