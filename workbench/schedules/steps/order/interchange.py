"""`interchange`: loops of one nest in another order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.programs.tree import Band
from workbench.records import record
from workbench.schedules.edit import find_loops, neighbours, put
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.sketches.open_steps import takes_choices
from workbench.schedules.steps.order.decompose_reduction import in_the_way
from workbench.schedules.steps.order.tile import one_band
from workbench.schedules.transform import Transform


@record
class Interchange(Transform):
    """Put the named loops in the given order, in the places they hold now.

    before → after:  for i: for j: S   →   for j: for i: S      interchange("j", "i")
    """

    name: ClassVar[str] = "interchange"
    order: tuple[str, ...]

    def prerequisites(self, schedule: Schedule) -> tuple[Transform, ...]:
        return in_the_way(schedule, list(self.order))

    def apply(self, schedule: Schedule) -> Schedule:
        found = find_loops(schedule.program, schedule.tree, self.order)
        band = one_band(self, found)
        own = list(band.loops)
        for place, site in zip(sorted(s.position for s in found), found, strict=True):
            own[place] = site.loop
        new = Band(tuple(own), band.child)
        return schedule.with_tree(put(schedule.tree, found[0].path, new), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Interchange]:
        for a, b in neighbours(schedule.program, schedule.tree):
            yield cls((b, a))

    def __str__(self) -> str:
        return f"interchange({', '.join(map(repr, self.order))})"


@takes_choices
def interchange(*order: str) -> Interchange:
    """Reorder loops of one nest: `interchange("k", "n")` puts k outside n."""
    if len(order) < 2:
        raise ScheduleError('interchange needs at least two loops: interchange("k", "n")')
    return Interchange(order)
