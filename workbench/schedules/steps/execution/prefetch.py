"""`prefetch`: cells are fetched into the cache some iterations before they are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError, shown, unknown_name
from workbench.poly.programs.marks import PrefetchAhead
from workbench.poly.programs.tree import Band, Mark, Tree, statements
from workbench.records import record
from workbench.schedules.arguments import whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loop, put, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform

FARTHEST = 1 << 20


@record
class Prefetch(Transform):
    """Ask the cache, in every iteration of a loop, for what a later iteration touches of an array first.

    before → after:  for k: … A(m, k) …   →   for k: { prefetch A(m, k + distance);  … A(m, k) … }

    Loops inside count as in their first iteration.  Always legal: it changes no value.  TVM's prefetch.
    """

    name: ClassVar[str] = "prefetch"
    array: str
    loop: str
    distance: int = 1

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        if self.array not in program.arrays:
            raise ScheduleError(f"prefetch: {unknown_name('array', self.array, list(program.arrays))}")
        if not isinstance(self.distance, int) or not 1 <= self.distance <= FARTHEST:
            raise ScheduleError(f"prefetch: distance={shown(self.distance)} does not fit; expected 1 to {FARTHEST}")
        site = find_loop(program, tree, self.loop)
        inside = statements(site.band)
        if not any(a.array == self.array for s in inside for a in program.statement(s).accesses):
            raise ScheduleError(f"{self}: nothing in {site.loop.name} touches {self.array}")
        part = Band(site.band.loops[site.position :], site.band.child)
        new: Tree = Mark(PrefetchAhead(self.array, self.distance), part)
        outer = site.band.loops[: site.position]
        return schedule.with_tree(put(tree, site.path, Band(outer, new) if outer else new), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Prefetch]:
        for site in sites(schedule.tree):
            inside = statements(site.band)
            touched = {a.array for s in inside for a in schedule.program.statement(s).reads}
            for array in sorted(touched):
                if schedule.program.arrays[array].scope == "global" and schedule.program.arrays[array].rank:
                    yield cls(array, spelt(schedule.program, schedule.tree, site))

    def __str__(self) -> str:
        distance = f", {self.distance}" if self.distance != 1 else ""
        return f"prefetch({self.array!r}, {self.loop!r}{distance})"


@takes_choices
def prefetch(array: str, loop: str, distance: int = 1, /) -> Prefetch:
    """Ask the cache for what the iteration of `loop` that comes `distance` later touches of `array` first."""
    return Prefetch(array, loop, whole(distance))
