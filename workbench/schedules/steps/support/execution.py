"""What steps have in common that say how the iterations of a loop are executed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self

from workbench.poly.programs.tree import Band, LoopKind
from workbench.records import record
from workbench.schedules.edit import find_loop, in_kernel, put, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@record
class Execution(Transform):
    """A step that sets the `kind` of one loop."""

    kind: ClassVar[LoopKind] = "serial"
    loop: str

    def apply(self, schedule: Schedule) -> Schedule:
        site = find_loop(schedule.program, schedule.tree, self.loop)
        own = list(site.band.loops)
        own[site.position] = replace(site.loop, kind=self.kind)
        new = Band(tuple(own), site.band.child)
        return schedule.with_tree(put(schedule.tree, site.path, new), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Self]:
        for site in sites(schedule.tree):
            if site.loop.kind == "serial" and not (cls.kind == "parallel" and in_kernel(schedule.tree, site)):
                yield cls(spelt(schedule.program, schedule.tree, site))

    def __str__(self) -> str:
        return f"{self.name}({self.loop!r})"
