"""Schedules of a study timed again, in turn, by the study's own procedure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bench.record import Timing
from workbench.records import record
from workbench.tune.measuring.building import Request
from workbench.tune.measuring.local_runner import LocalRunner
from workbench.tune.measuring.runner import Assignment
from workbench.tune.study import Study

PASSES, PATIENCE = 7, 4.0
"""All are timed so often in turn, each time so many times as long as in the search."""


@record
class Passes:
    """Seconds of each schedule in each pass, by the numbers of their requests."""

    seconds: dict[int, list[float]]

    def timing(self, number: int) -> Timing:
        own = self.seconds[number]
        return Timing.of([[s] for s in own], len(own))

    def ratio(self, number: int, other: int) -> float:
        """The time of one over that of another: the median of the passes' ratios."""
        return median(a / b for a, b in zip(self.seconds[number], self.seconds[other], strict=True))


def passes_of(assignment: Assignment, requests: Sequence[Request], count: int = PASSES) -> Passes:
    """Time schedules in turn; RuntimeError where one of them cannot be timed any more."""
    found = Passes({r.number: [] for r in requests})
    runner = LocalRunner()
    runner.open(assignment)
    try:
        for number in range(count + 1):
            for result in runner.again(requests, PATIENCE):
                if result.seconds is None:
                    raise RuntimeError(f"schedule {result.number} {result.outcome}: {result.message}")
                if number:  # the first pass decides what the others are compared with, and warms up
                    found.seconds[result.number].append(result.seconds)
    finally:
        runner.close()
    return found


def retimed(study: Study, count: int = PASSES) -> tuple[Timing, Timing, float]:
    """(default, best, default over best).  Where the best is the default they are timed once, and the ratio is 1."""
    schedules = [study.default, *([] if study.best == study.default else [study.best])]
    passes = passes_of(study.assignment, [Request(n, {}, s) for n, s in enumerate(schedules)], count)
    if len(schedules) == 1:
        return passes.timing(0), passes.timing(0), 1.0
    return passes.timing(0), passes.timing(1), passes.ratio(0, 1)
