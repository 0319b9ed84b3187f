"""`tile`: blocks of several loops at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from workbench.errors import ScheduleError, UnknownLoop, unknown_name
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.tree import Band
from workbench.records import record
from workbench.schedules.arguments import mapping, name_pair, whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loops, put, require_new
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.decompose_reduction import in_the_way
from workbench.schedules.steps.order.split import divided, half
from workbench.schedules.steps.support.bands import one_band
from workbench.schedules.steps.support.block_sizes import in_pairs
from workbench.schedules.transform import Transform

LARGEST = 32


@record
class Tile(Transform):
    """Block several loops of one nest: the block loops first, then the points.

    before → after:  for m: for n: S   →   for m_o: for n_o: for m_i: for n_i: S

    Legal when the tiled loops are permutable.  Loops that stand between them stay with the points.
    `names` gives (outer, inner) names for a loop.
    """

    name: ClassVar[str] = "tile"
    sizes: tuple[tuple[str, int], ...]
    names: tuple[tuple[str, str, str], ...] = ()

    @property
    def blocks(self) -> tuple[LoopName, ...]:
        """The loops over blocks that it makes, in the order of its sizes."""
        return tuple(half(loop, self._chosen.get(loop), 0) for loop, _ in self.sizes)

    @property
    def points(self) -> tuple[LoopName, ...]:
        """The loops inside a block that it makes, in the order of its sizes."""
        return tuple(half(loop, self._chosen.get(loop), 1) for loop, _ in self.sizes)

    def halves(self) -> tuple[tuple[LoopName, LoopName], ...]:
        loops = [LoopName(loop) for loop, _ in self.sizes]
        return tuple(pair for made in (self.blocks, self.points) for pair in zip(loops, made, strict=True))

    @property
    def _chosen(self) -> dict[str, tuple[str, str]]:
        return {name: (outer, inner) for name, outer, inner in self.names}

    def prerequisites(self, schedule: Schedule) -> tuple[Transform, ...]:
        return in_the_way(schedule, [name for name, _ in self.sizes])

    def apply(self, schedule: Schedule) -> Schedule:
        found = find_loops(schedule.program, schedule.tree, [name for name, _ in self.sizes])
        band = one_band(self, found)
        chosen = self._chosen
        for name in chosen.keys() - dict(self.sizes).keys():
            known = [n for n, _ in self.sizes]
            raise UnknownLoop(f"names=: {unknown_name('loop', name, known)}", name, known)
        halves = {
            site.position: divided(site.loop, size, chosen.get(name))
            for site, (name, size) in zip(found, self.sizes, strict=True)
        }
        new_names = [x.name for pair in halves.values() for x in pair]
        require_new(schedule.tree, found[0], new_names, [s.loop.name for s in found])
        first = min(halves)
        blocks = tuple(halves[s.position][0] for s in found)
        points = tuple(
            halves[i][1] if i in halves else loop for i, loop in enumerate(band.loops) if i >= first
        )
        new = Band((*band.loops[:first], *blocks, *points), band.child)
        return schedule.with_tree(put(schedule.tree, found[0].path, new), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Tile]:
        yield from map(cls, in_pairs(schedule, LARGEST))

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Tile:
        names = {name: (outer, inner) for name, outer, inner in arguments.pop("names", ())}
        sizes = dict(arguments.pop("sizes"))
        return tile(sizes, names=names, **arguments)

    def __str__(self) -> str:
        plain = all(name.isidentifier() for name, _ in self.sizes)
        body = ", ".join(f"{n}={s}" for n, s in self.sizes) if plain else repr(dict(self.sizes))
        names = {n: (o, i) for n, o, i in self.names}
        return f"tile({body}{f', names={names!r}' if names else ''})"


@takes_choices
def tile(
    sizes: Mapping[str, int] | None = None,
    /,
    names: Mapping[str, tuple[str, str]] | None = None,
    **by_name: int,
) -> Tile:
    """Block loops: `tile(m=64, n=64)`; a mapping takes qualified names: `tile({"C/m": 64})`."""
    merged = {**mapping("tile", sizes, '{"C/m": 64}'), **by_name}
    if not merged:
        raise ScheduleError("tile needs at least one loop: tile(m=64, n=64)")
    pairs = mapping("tile: names=", names, '{"m": ("m_o", "m_i")}').items()
    return Tile(
        tuple((name, whole(size)) for name, size in merged.items()),
        tuple((name, *name_pair(name, pair)) for name, pair in pairs),
    )
