"""Lanes only as far as the next dependence: a block of the loop instead of the whole."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.schedules.edit import named
from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.execution.vectorize import Vectorize
from workbench.schedules.steps.order.split import Split
from workbench.schedules.transform import Transform, recipe

WIDTHS = (16, 8, 4, 2)


def lanes_within_distance(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """`A(i) = A(i-8)` in blocks of 8: split, then vectorize the points."""
    if not isinstance(step, Vectorize):
        return
    site = named(schedule.program, schedule.tree, step.loop)[0]
    distances = [abs(distance) for v in verdict.violations if (distance := _distance(site.loop.name, v)) is not None]
    if distances and min(distances) > 1:
        for width in WIDTHS:
            if width <= min(distances):
                blocks = Split(step.loop, width)
                yield recipe(blocks, Vectorize(blocks.inner))


def _distance(loop: str, violation: object) -> int | None:
    """How far apart the witness's instances are along a loop that is a dim of both."""
    source, target = getattr(violation, "source", {}), getattr(violation, "target", {})
    return target[loop] - source[loop] if loop in source and loop in target else None
