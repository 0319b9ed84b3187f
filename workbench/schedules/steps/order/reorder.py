"""`reorder`: loops of one nest in the order in which they are named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.programs.tree import Band
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loops, put, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.decompose_reduction import in_the_way
from workbench.schedules.steps.support.bands import one_band
from workbench.schedules.transform import Transform


@record
class Reorder(Transform):
    """Put the named loops in the given order, outermost first, in the places they hold now.

    before → after:  for i: for j: for k: S   →   for k: for i: for j: S      reorder("k", "i", "j")

    Halide's and TVM's reorder.  Two loops change places with `interchange`.
    """

    name: ClassVar[str] = "reorder"
    unchanged: ClassVar[str] = "the loops stand in this order already; name them in the order wanted, outermost first"
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
    def choices(cls, schedule: Schedule) -> Iterator[Reorder]:
        """A loop outermost in its nest, or innermost, past more than one other: past one it is an interchange."""
        found = sites(schedule.tree)
        for path in dict.fromkeys(site.path for site in found):
            names = [spelt(schedule.program, schedule.tree, site) for site in found if site.path == path]
            for place in range(2, len(names)):
                yield cls((names[place], *names[:place]))
            for place in range(len(names) - 2):
                yield cls((*names[place + 1 :], names[place]))

    def __str__(self) -> str:
        return f"reorder({', '.join(map(repr, self.order))})"


@takes_choices
def reorder(*order: str) -> Reorder:
    """The loops of one nest in this order, outermost first: `reorder("k", "m", "n")`; others keep their places."""
    if len(order) < 2:
        raise ScheduleError('reorder needs at least two loops, outermost first: reorder("k", "n")')
    return Reorder(order)
