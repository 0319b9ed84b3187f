"""Loops that could be bound where a schedule has no kernel yet, each as the step that binds it."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import WorkbenchError
from workbench.poly.threads.grid import on_grid, regions
from workbench.schedules import Schedule, bind
from workbench.schedules.transform import Transform
from workbench.viz.messages.drawn import Repair

MOST = 6
AXES = ("block.x", "thread.x")


def bindings(schedule: Schedule) -> list[Repair]:
    """The legal ones around the first statement that is in no kernel, outermost loops first."""
    try:
        region = next((r for r in regions(on_grid(schedule.tree)) if r.loops and not r.bound), None)
    except WorkbenchError:
        return []
    if region is None:
        return []
    name = schedule.program.statement(region.statements[0]).name
    steps = [bind(f"{name}/{loop.name}", axis) for loop in region.loops for axis in AXES]
    return [{"text": str(step), "step": step.to_json()} for step in _legal(schedule, steps)[:MOST]]


def _legal(schedule: Schedule, steps: Sequence[Transform]) -> list[Transform]:
    return [step for step in steps if schedule.can(step)]
