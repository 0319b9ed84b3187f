"""`merge`: the loops of two neighbouring nests become one, which is loop fusion.

Whether that is legal, no step asks: `schedules/legality.py` does, for all of them.  To collapse loops of one nest is
`fuse`; groups of calls of a model are `graph/fusion/legal_groups.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar

from workbench.errors import ScheduleError, UnknownLoop, shown, unknown_name
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, statements
from workbench.poly.sets.names import unique
from workbench.records import record
from workbench.schedules.arguments import mapping, whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Path, at, leaf_path, put
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform
from workbench.wording import number_of


@record
class Merge(Transform):
    """Fuse the nests of two statements, `depth` loops deep.

    before → after:  for i: A;  for j: B   →   for i: { A; B }

    The loops are paired from the outside in, or as `loops` says: {"i": "q"} walks the second nest's `q` along the first
    nest's `i`, and the loops it names come first in both nests.  They keep the names of the first nest (a loop of the
    second nest that bears such a name gets another).  What stands between the two nests goes before them.
    """

    name: ClassVar[str] = "merge"
    first: str
    second: str
    depth: int = 1
    loops: tuple[tuple[str, str], ...] = ()

    def apply(self, schedule: Schedule) -> Schedule:
        if not isinstance(self.depth, int) or self.depth < 1:
            raise ScheduleError(f"merge: depth={shown(self.depth)} does not fit; expected a number of loops, 1 or more")
        a = statement_id(schedule.program, self.first)
        b = statement_id(schedule.program, self.second)
        path, i, j = meeting(schedule.tree, a, b)
        parts = at(schedule.tree, path)
        if not isinstance(parts, Sequence) or j <= i:
            raise ScheduleError(f"{self}: {self.first!r} does not stand before {self.second!r}")
        nests = [parts.children[i], parts.children[j]]
        if self.loops:
            nests = [self._first(nest, [pair[k] for pair in self.loops]) for k, nest in enumerate(nests)]
        depth = len(self.loops) or self.depth
        fused = _one_band(nests[0], nests[1], depth)
        if fused is None:
            raise ScheduleError(f"{self}: the two nests do not both have {number_of(depth, 'outer loop')}")
        between = parts.children[i + 1 : j]
        new = Sequence((*parts.children[:i], *between, fused, *parts.children[j + 1 :]))
        return schedule.with_tree(put(schedule.tree, path, new), self)

    def _first(self, nest: Tree, names: list[str]) -> Tree:
        """The nest with the loops of these names outermost, in this order."""
        own = nest.loops if isinstance(nest, Band) else ()
        known = [loop.name for loop in own]
        for name in names:
            if name not in known:
                raise UnknownLoop(f"{self}: {unknown_name('outer loop', name, known)}", name, known)
        if len(set(names)) < len(names):
            raise ScheduleError(f"{self}: a loop is named twice")
        assert isinstance(nest, Band)
        chosen = tuple(own[known.index(name)] for name in names)
        return Band((*chosen, *(loop for loop in own if loop.name not in names)), nest.child)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Merge]:
        yield from _neighbours(cls, schedule, schedule.tree)

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Merge:
        return cls(**{**arguments, "loops": tuple((a, b) for a, b in arguments.get("loops", ()))})

    def __str__(self) -> str:
        depth = f", depth={self.depth}" if self.depth != 1 and not self.loops else ""
        loops = f", loops={dict(self.loops)!r}" if self.loops else ""
        return f"merge({self.first!r}, {self.second!r}{depth}{loops})"


def _neighbours(cls: type[Merge], schedule: Schedule, tree: Tree) -> Iterator[Merge]:
    match tree:
        case Band(_, child):
            yield from _neighbours(cls, schedule, child)
        case Sequence(children):
            for a, b in pairwise(children):
                if isinstance(a, Band) and isinstance(b, Band):
                    names = [schedule.program.statement(statements(t)[k]).name for t, k in ((a, -1), (b, 0))]
                    yield cls(names[0], names[1])
            for child in children:
                yield from _neighbours(cls, schedule, child)


def meeting(tree: Tree, a: str, b: str) -> tuple[Path, int, int]:
    """The path where the ways to two statements part, and the child positions of both."""
    first, second = leaf_path(tree, a), leaf_path(tree, b)
    depth = next((d for d, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), None)
    if depth is None:
        raise ScheduleError("the two statements are the same or one nest holds both already")
    return first[:depth], first[depth], second[depth]


def _one_band(a: Tree, b: Tree, depth: int) -> Band | None:
    """One band of `depth` common loops around what is left of both nests."""
    if not (isinstance(a, Band) and isinstance(b, Band)):
        return None
    if min(len(a.loops), len(b.loops)) < depth:
        return None
    common = tuple(paired(x, y) for x, y in zip(a.loops[:depth], b.loops[:depth], strict=True))
    names = frozenset(x.name for x in common)
    return Band(common, Sequence((rest(a, depth), with_own_names(rest(b, depth), names))))


def with_own_names(tree: Tree, taken: frozenset[str]) -> Tree:
    """The tree with other names for loops that bear a name of a loop around."""
    match tree:
        case Leaf():
            return tree
        case Mark(note, child):
            return Mark(note, with_own_names(child, taken))
        case Sequence(children):
            return Sequence(tuple(with_own_names(c, taken) for c in children))
        case Band(own, child):
            loops = []
            for loop in own:
                loops.append(replace(loop, name=unique(loop.name, set(taken))))
                taken |= {loops[-1].name}
            return Band(tuple(loops), with_own_names(child, taken))


def paired(x: Loop, y: Loop) -> Loop:
    """One loop for the statements of both."""
    return replace(x, rows=tuple(sorted((*x.rows, *y.rows), key=lambda row: row[0])))


def rest(band: Band, depth: int) -> Tree:
    """What is inside the first `depth` loops."""
    inner = band.loops[depth:]
    if not inner and isinstance(band.child, Leaf):
        return band.child
    return Band(inner, band.child)


@takes_choices
def merge(first: str, second: str, /, depth: int = 1, loops: Mapping[str, str] | None = None) -> Merge:
    """Fuse the nests of two statements in one sequence, `depth` loops deep.

    `loops` maps loops of the first nest to those of the second that walk along them: `{"i": "q", "j": "p"}`.
    """
    pairs = tuple(mapping("merge: loops=", loops, '{"i": "q"}').items())
    if pairs and depth not in (1, len(pairs)):
        raise ScheduleError(f"merge: depth={shown(depth)} and loops= name different numbers of loops")
    if not all(isinstance(name, str) for pair in pairs for name in pair):
        raise ScheduleError(f"merge: loops= expected names of loops, not {shown(loops)}")
    return Merge(first, second, 1 if pairs else whole(depth), pairs)
