"""`reverse`: the iterations of a loop run in the opposite order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loop, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.rows import with_rows
from workbench.schedules.transform import Transform


@record
class Reverse(Transform):
    """Execute the iterations of a loop in the opposite order.

    before → after:  for i < N: S(i)   →   for i' = -i: S(-i')

    Legal when the loop carries no dependence but those of reductions.
    """

    name: ClassVar[str] = "reverse"
    loop: str

    def apply(self, schedule: Schedule) -> Schedule:
        site = find_loop(schedule.program, schedule.tree, self.loop)
        return with_rows(schedule, site, self.loop, lambda _, row: Binary("-", Const(0, INT64), row, INT64), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Reverse]:
        for site in sites(schedule.tree):
            yield cls(spelt(schedule.program, schedule.tree, site))

    def __str__(self) -> str:
        return f"reverse({self.loop!r})"


@takes_choices
def reverse(loop: str, /) -> Reverse:
    """Execute the iterations of `loop` in the opposite order."""
    return Reverse(loop)
