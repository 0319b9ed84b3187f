"""Fusing less: fewer loops than were asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.merge import Merge
from workbench.schedules.transform import Transform


def fewer_common_loops(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """The outer loops in common, the inner ones apart."""
    if isinstance(step, Merge):
        for depth in range(step.depth - 1, 0, -1):
            yield replace(step, depth=depth)
