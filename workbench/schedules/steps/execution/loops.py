"""`parallelize`, `vectorize`, `unroll`: how the iterations of a loop are executed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self

from workbench.poly.programs.tree import Band, LoopKind
from workbench.records import record
from workbench.schedules.edit import find_loop, put, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.sketches.open_steps import takes_choices
from workbench.schedules.transform import Transform


@record
class Execution(Transform):
    """Common part: set the kind of one loop."""

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
            if site.loop.kind == "serial":
                yield cls(spelt(schedule.program, schedule.tree, site))

    def __str__(self) -> str:
        return f"{self.name}({self.loop!r})"


@record
class Parallelize(Execution):
    """Distribute the iterations of a loop over threads.

    before → after:  for m: S   →   parallel for m: S

    Legal when no dependence joins two iterations; a reduction carried by the loop would race.
    """

    name: ClassVar[str] = "parallelize"
    kind: ClassVar[LoopKind] = "parallel"


@record
class Vectorize(Execution):
    """Execute neighbouring iterations in the lanes of a vector register.

    before → after:  for n: S   →   vector for n: S

    The lanes run in lockstep: each statement ends in all of them before the next begins.  Legal when every dependence
    between two iterations goes to a later lane and a later statement; contributions to one cell of a reduction may
    meet in any lanes: each keeps a partial result, combined at the end (the order of additions changes).
    The generator cuts the loop to the vector width and handles the tail.
    """

    name: ClassVar[str] = "vectorize"
    kind: ClassVar[LoopKind] = "vector"


@record
class Unroll(Execution):
    """Write the iterations of a loop out.

    before → after:  for m < 4: S(m)   →   S(0); S(1); S(2); S(3)

    Always legal.  A loop without a constant number of iterations is left as it is.
    """

    name: ClassVar[str] = "unroll"
    kind: ClassVar[LoopKind] = "unroll"


@takes_choices
def parallelize(loop: str, /) -> Parallelize:
    """Run the iterations of `loop` on several threads."""
    return Parallelize(loop)


@takes_choices
def vectorize(loop: str, /) -> Vectorize:
    """Run the iterations of `loop` in vector lanes."""
    return Vectorize(loop)


@takes_choices
def unroll(loop: str, /) -> Unroll:
    """Write the iterations of `loop` out."""
    return Unroll(loop)
