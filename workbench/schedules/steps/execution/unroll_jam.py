"""`unroll_jam`: some iterations of an outer loop are executed together inside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.programs.loop_names import LoopName, in_block, loop_of, over_blocks
from workbench.poly.programs.tree import Band, Leaf, loops
from workbench.records import record
from workbench.schedules.arguments import whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Site, find_loop, named, put, qualified, require_new, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.decompose_reduction import DecomposeReduction, in_the_way
from workbench.schedules.steps.order.split import divided
from workbench.schedules.steps.support.block_sizes import dividing_sizes
from workbench.schedules.transform import Transform

FACTORS = (2, 4)


@record
class UnrollJam(Transform):
    """Take `factor` iterations of a loop at once, innermost and written out (unroll and jam).

    before → after:  for i: for j: S(i, j)   →   for i_o: for j: { S(2 i_o, j); S(2 i_o + 1, j) }

    What does not change along `i` is then loaded once for several iterations.  Legal when `i` may be tiled with the
    loops inside it; the last block may be shorter.  Callahan, Carr and Kennedy 1990.
    """

    name: ClassVar[str] = "unroll_jam"
    loop: str
    factor: int

    @property
    def outer(self) -> LoopName:
        """The loop over the blocks of iterations that it makes."""
        return over_blocks(self.loop)

    @property
    def inner(self) -> LoopName:
        """The loop that it writes out."""
        return in_block(self.loop)

    def halves(self) -> tuple[tuple[LoopName, LoopName], ...]:
        return tuple((LoopName(self.loop), half) for half in (self.outer, self.inner))

    def prerequisites(self, schedule: Schedule) -> tuple[Transform, ...]:
        site = find_loop(schedule.program, schedule.tree, self.loop)
        inner = [s for s in sites(site.band.child) if isinstance(s.band.child, Leaf)]
        if not inner:
            return ()
        deepest = qualified(schedule.program, inner[-1])
        return in_the_way(schedule, [spelt(schedule.program, schedule.tree, site), deepest])

    def apply(self, schedule: Schedule) -> Schedule:
        site = self._site(schedule)
        inside = site.band.loops[site.position + 1 :]
        if not inside or any(loops(site.band.child)):
            raise ScheduleError(
                f"{self}: {site.loop.name} needs loops directly inside it, around statements without loops of their "
                "own; bring them together first (distribute, decompose_reduction)"
            )
        outer, inner = divided(site.loop, self.factor, None)
        require_new(schedule.tree, site, [outer.name, inner.name], [site.loop.name])
        own = (*site.band.loops[: site.position], outer, *inside, replace(inner, kind="unroll"))
        return schedule.with_tree(put(schedule.tree, site.path, Band(own, site.band.child)), self)

    def _site(self, schedule: Schedule) -> Site:
        """The loop; after a reduction was taken apart, that of the reduction."""
        found = named(schedule.program, schedule.tree, self.loop)
        last = schedule.trace[-1] if schedule.trace else None
        if len(found) > 1 and isinstance(last, DecomposeReduction):
            return find_loop(schedule.program, schedule.tree, loop_of(last.statement, self.loop))
        return find_loop(schedule.program, schedule.tree, self.loop)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[UnrollJam]:
        for site in sites(schedule.tree):
            if not any(loops(site.band.child)) and site.position + 1 < len(site.band.loops):
                for factor in dividing_sizes(schedule, site.loop, FACTORS):
                    yield cls(spelt(schedule.program, schedule.tree, site), factor)

    def __str__(self) -> str:
        return f"unroll_jam({self.loop!r}, {self.factor})"


@takes_choices
def unroll_jam(loop: str, factor: int, /) -> UnrollJam:
    """Execute `factor` iterations of `loop` together, innermost and written out."""
    return UnrollJam(loop, whole(factor))
