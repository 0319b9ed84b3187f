"""`serial`: the iterations of a loop run one after the other again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.poly.programs.tree import LoopKind
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.execution import Execution


@record
class Serial(Execution):
    """Execute the iterations of a loop one after the other, as where no step said otherwise.

    before → after:  parallel for m: S   →   for m: S

    Takes back what `parallelize`, `vectorize`, `unroll` or `bind` said of a loop, and keeps every other step: a loop of
    a recipe that is better left alone.  Between threads it only adds order; lanes, which finish each statement before
    the next begins, may have kept an order that one iteration after the other does not.
    """

    name: ClassVar[str] = "serial"
    kind: ClassVar[LoopKind] = "serial"

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Serial]:
        for site in sites(schedule.tree):
            if site.loop.kind != "serial":
                yield cls(spelt(schedule.program, schedule.tree, site))


@takes_choices
def serial(loop: str, /) -> Serial:
    """Run the iterations of `loop` one after the other, whatever was said of them before."""
    return Serial(loop)
