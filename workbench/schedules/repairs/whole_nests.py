"""A step on one statement of a nest, taken for all of them: what belongs together stays together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.tree import statements
from workbench.schedules.edit import named
from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.reverse import Reverse
from workbench.schedules.steps.order.shift import Shift
from workbench.schedules.steps.order.skew import Skew
from workbench.schedules.transform import Transform, together


def every_statement(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """`reverse("C/m")` leaves the initialisation of C behind; turned round with it, it may be legal."""
    if not isinstance(step, Skew | Shift | Reverse):
        return
    loop = LoopName(step.loop)
    inside = statements(named(schedule.program, schedule.tree, step.loop)[0].band)
    if loop.statement and len(inside) > 1:
        names = [schedule.program.statement(s).name for s in inside]
        yield together(*(replace(step, loop=loop.around(name)) for name in names))
