"""`bind`: the iterations of a loop become blocks of threads, or the threads of a block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError, unknown_name
from workbench.poly.programs.tree import AXES, BLOCK_AXES, THREAD_AXES, Band, LoopKind, path, statements
from workbench.poly.time.concurrency import misplaced
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Site, find_loop, put, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform

SPELT: dict[str, LoopKind] = {name: axis for axis in AXES for name in (axis, axis.replace(".", "Idx."))}
OFFERED: tuple[LoopKind, ...] = ("block.x", "block.y", "thread.x", "thread.y")


@record
class Bind(Transform):
    """Bind a loop to an execution axis: each iteration is a block of threads, or a thread of its block.

    before → after:  for m_o: for m_i: S   →   blocks m_o: threads m_i: S
                     bind("m_o", "block.x") | bind("m_i", "thread.x")

    As legal as `parallelize`: an axis orders nothing, and contributions to one cell would race.  The threads of a block
    can wait for one another at a `barrier`, blocks cannot.  What follows a bound loop waits for all of it.
    An axis is used once around a statement, and blocks hold threads.  On a processor blocks run in parallel and the
    threads of a block one after another.  TVM's bind, whose names (blockIdx.x, threadIdx.x) are understood; the axes
    are block.x, y, z and thread.x, y, z.  An unknown axis lists the known ones (ScheduleError).
    """

    name: ClassVar[str] = "bind"
    loop: str
    axis: str

    def __post_init__(self) -> None:
        if not isinstance(self.axis, str) or self.axis not in SPELT:
            raise ScheduleError(f"bind: {unknown_name('axis', self.axis, list(AXES))} (or as in TVM: blockIdx.x, ...)")
        object.__setattr__(self, "axis", SPELT[self.axis])

    def apply(self, schedule: Schedule) -> Schedule:
        site = find_loop(schedule.program, schedule.tree, self.loop)
        own = list(site.band.loops)
        own[site.position] = replace(site.loop, kind=SPELT[self.axis])
        tree = put(schedule.tree, site.path, Band(tuple(own), site.band.child))
        fault = misplaced(tree)
        if fault and not misplaced(schedule.tree):
            raise ScheduleError(f"{self}: {fault}")
        return schedule.with_tree(tree, self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Bind]:
        for site in sites(schedule.tree):
            if site.loop.kind == "serial":
                yield from (cls(spelt(schedule.program, schedule.tree, site), axis) for axis in _free(schedule, site))

    def __str__(self) -> str:
        return f"bind({self.loop!r}, {self.axis!r})"


def _free(schedule: Schedule, site: Site) -> Iterator[LoopKind]:
    """The next block axis and the next thread axis that nothing around or inside the loop uses."""
    used = {x.kind for s in statements(site.band) for x in path(schedule.tree, s)}
    for axes in (BLOCK_AXES, THREAD_AXES):
        free: list[LoopKind] = [axis for axis in OFFERED if axis in axes and axis not in used]
        yield from free[:1]


@takes_choices
def bind(loop: str, axis: str, /) -> Bind:
    """Bind `loop` to an execution axis: "block.x", "block.y", "block.z", "thread.x", "thread.y" or "thread.z"."""
    return Bind(loop, axis)
