"""Partial results of their own for threads that would race on a reduction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.execution.parallelize import Parallelize
from workbench.schedules.steps.instances.split_reduction import SplitReduction
from workbench.schedules.transform import Transform, recipe

PARTS = 8


def split_the_reduction(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """Each part of the reduction adds up by itself; the parts run at once, their results are added at the end."""
    if not isinstance(step, Parallelize):
        return
    kinds = {v.dependence.kind for v in verdict.violations if v.dependence is not None}
    if kinds == {"reduction"}:
        parts = SplitReduction(step.loop, PARTS)
        yield recipe(parts, replace(step, loop=parts.over))
