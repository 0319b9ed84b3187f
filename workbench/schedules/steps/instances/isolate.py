"""`isolate`: full tiles apart from partial ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from workbench.errors import ScheduleError
from workbench.poly.derive.partitioning import with_full_tiles
from workbench.poly.programs.tree import statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Site, counts_blocks, find_loops, rest_of, runs_in_blocks, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.dividing import apart, depth_of
from workbench.schedules.transform import Transform


@record
class Isolate(Transform):
    """Iterations of some loops whose tiles inside are full, apart from the others.

    before → after:  for m_o: for m_i < min(64, M - 64 m_o): C
                     → for m_o < M / 64: for m_i < 64: C.full;  for m_o >= M / 64: for m_i < M - 64 m_o: C.rest

    In the full part every tile loop has constant bounds, so that register tiles and unrolled loops need no test; on a
    triangular domain these are the tiles that do not meet the diagonal.  A loop inside that is no tile may end
    elsewhere in each iteration, but not in each iteration of another loop inside.  The two nests replace the outermost
    of the loops named (or stand inside the innermost with `inside=True`, which keeps any order).
    """

    name: ClassVar[str] = "isolate"
    loops: tuple[str, ...]
    inside: bool = False

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        if not self.loops:
            raise ScheduleError("isolate: name the loops outside the tiles, such as isolate('m_o', 'n_o')")
        found = sorted(find_loops(program, tree, self.loops), key=lambda s: depth_of(tree, s))
        last = found[-1]
        users = statements(rest_of(last))
        if any(not set(users) <= set(statements(s.band)) for s in found):
            raise ScheduleError(f"{self}: these loops do not stand inside one another")
        full = with_full_tiles(program, tree, users, depth_of(tree, last))
        if all(points.is_empty() for points in full.values()):
            raise ScheduleError(
                f"{self}: no tile is full in all its loops; a bound that moves with a loop inside the tile needs "
                "that loop tiled too"
            )
        return apart(schedule, self, self._site(found, last), full, ("full", "rest"))

    def _site(self, found: list[Site], last: Site) -> Site:
        if not self.inside:
            return found[0]
        if last.position + 1 < len(last.band.loops):
            return Site(last.path, last.position + 1, last.band)
        raise ScheduleError(f"{self}: nothing but statements stands inside {last.loop.name}")

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Isolate]:
        for site in sites(schedule.tree):
            inner = site.band.loops[site.position + 1 :]
            if counts_blocks(site.loop) and any(map(runs_in_blocks, inner)):
                yield cls((spelt(schedule.program, schedule.tree, site),))

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Isolate:
        return isolate(*arguments["loops"], inside=arguments.get("inside", False))

    def __str__(self) -> str:
        inside = ", inside=True" if self.inside else ""
        return f"isolate({', '.join(map(repr, self.loops))}{inside})"


@takes_choices
def isolate(*loops: str, inside: bool = False) -> Isolate:
    """Full tiles of the loops inside `loops` apart from partial ones: statements become `.full` and `.rest`."""
    return Isolate(loops, inside)
