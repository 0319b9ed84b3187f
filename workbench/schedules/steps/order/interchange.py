"""`interchange`: two loops of one nest change places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.programs.tree import Band
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loops, neighbours, put
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.decompose_reduction import in_the_way
from workbench.schedules.steps.support.bands import one_band
from workbench.schedules.transform import Transform


@record
class Interchange(Transform):
    """Let two loops of one nest change places; those between them stay where they are.

    before → after:  for i: for j: S   →   for j: for i: S      interchange("i", "j")

    Legal when no dependence is turned round by it (Allen and Kennedy 1984).  More loops at once: `reorder`.
    """

    name: ClassVar[str] = "interchange"
    first: str
    second: str

    def prerequisites(self, schedule: Schedule) -> tuple[Transform, ...]:
        return in_the_way(schedule, [self.first, self.second])

    def apply(self, schedule: Schedule) -> Schedule:
        a, b = found = find_loops(schedule.program, schedule.tree, (self.first, self.second))
        band = one_band(self, found)
        own = list(band.loops)
        own[a.position], own[b.position] = b.loop, a.loop
        return schedule.with_tree(put(schedule.tree, a.path, Band(tuple(own), band.child)), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Interchange]:
        for outer, inner in neighbours(schedule.program, schedule.tree):
            yield cls(inner, outer)

    def __str__(self) -> str:
        return f"interchange({self.first!r}, {self.second!r})"


@takes_choices
def interchange(*loops: str) -> Interchange:
    """Let two loops of one nest change places: `interchange("m", "n")`."""
    if len(loops) != 2:
        listed = ", ".join(map(repr, loops)) or '"k", "m", "n"'
        raise ScheduleError(f"interchange swaps two loops, not {len(loops)}; the order of several: reorder({listed})")
    return Interchange(*loops)
