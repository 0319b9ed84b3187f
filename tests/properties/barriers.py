"""Barriers of a schedule tree, passed one by one: which of two instances on different threads a barrier parts.

A barrier is passed once for each combination of values of the loops around it that do not wait there; its time is that
of the part behind it, half a position earlier.  The loops that wait, those on threads behind the last loop over blocks,
are left out of every comparison.  Nothing is asked of `workbench/poly` but the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.poly.programs.marks import BarrierBefore
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Tree
from workbench.poly.programs.tree import Sequence as Children

Key = tuple[Any, ...]  # a node of the tree by its place: of a loop or a position in the path to an instance
Time = tuple[float, ...]


def threaded(kind: str) -> bool:
    """Whether iterations of such a loop run on threads."""
    return kind == "parallel" or kind.partition(".")[0] in ("thread", "block")


@dataclass
class Places:
    """The keys of the time components of every statement, and the barriers, of one tree."""

    keys: dict[str, tuple[Key, ...]] = field(default_factory=dict)
    barriers: list[Barrier] = field(default_factory=list)

    @classmethod
    def of(cls, tree: Tree) -> Places:
        found = cls()
        found._visit(tree, (), ())
        return found

    def _visit(self, tree: Tree, above: tuple[tuple[Key, Loop | int], ...], here: Key) -> None:
        match tree:
            case Leaf(s):
                self.keys[s] = tuple(key for key, _ in above)
            case Mark(note, child):
                if isinstance(note, BarrierBefore):
                    self.barriers.append(Barrier(above))
                self._visit(child, above, (*here, 0))
            case Band(loops, child):
                own = (((*here, i, "loop"), loop) for i, loop in enumerate(loops))
                self._visit(child, (*above, *own), (*here, 0))
            case Children(parts):
                for n, part in enumerate(parts):
                    self._visit(part, (*above, ((*here, "position"), n)), (*here, n))


@dataclass
class Barrier:
    """A barrier by the path to it, and all times at which threads pass it."""

    path: tuple[tuple[Key, Loop | int], ...]
    passed: set[Time] = field(default_factory=set)
    arrivals: set[tuple[Time, Time, Time]] = field(default_factory=set)

    @property
    def waiting(self) -> set[Key]:
        """The loops that wait."""
        found: set[Key] = set()
        for key, what in self.path:
            if isinstance(what, Loop) and what.kind.startswith("block."):
                found = set()
            elif isinstance(what, Loop) and threaded(what.kind):
                found.add(key)
        return found

    def meets(self, keys: Sequence[Key]) -> bool:
        """Whether the path to some instance goes through the loop directly around the barrier."""
        around = [key for key, what in self.path if isinstance(what, Loop)]
        return not around or around[-1] in keys

    def pass_by(self, values: Mapping[Key, int]) -> None:
        """Note that an iteration of the loops around has something to do."""
        loops = [(key, values[key]) for key, what in self.path if isinstance(what, Loop)]
        first = next((i for i, (key, _) in enumerate(loops) if key in self.waiting), len(loops))
        threads = tuple(v for key, v in loops if key in self.waiting)
        phase = tuple(v for key, v in loops[first:] if key not in self.waiting)
        self.arrivals.add((tuple(v for _, v in loops[:first]), threads, phase))
        passed = [(key, what) for key, what in self.path if key not in self.waiting]
        time: list[float] = [values[key] if isinstance(what, Loop) else what for key, what in passed]
        if self.path and not isinstance(self.path[-1][1], Loop):
            time[-1] -= 0.5
        self.passed.add(tuple(time))

    def uneven(self) -> bool:
        """Whether some thread of a block passes it at a phase at which another thread of the block does not."""
        blocks: dict[Time, tuple[set[Time], set[Time]]] = {}
        for block, thread, phase in self.arrivals:
            threads, phases = blocks.setdefault(block, (set(), set()))
            threads.add(thread)
            phases.add(phase)
        return any(
            (block, t, p) not in self.arrivals for block, (ts, ps) in blocks.items() for t in ts for p in ps
        )

    def time_of(self, keys: Sequence[Key], values: Sequence[int]) -> Time:
        """The time of an instance as far as its path goes with that to the barrier."""
        own = dict(zip(keys, values, strict=True))
        shared = [key for (key, _), other in zip(self.path, keys, strict=False) if key == other]
        return tuple(own[key] for key in shared if key not in self.waiting)

    def parts(self, first: Time, second: Time) -> int:
        """1 if it is passed after the first and before the second, -1 the other way round, else 0."""
        sides = {(_behind(first, time), _behind(second, time)) for time in self.passed}
        return 1 if (False, True) in sides else -1 if (True, False) in sides else 0


def _behind(own: Time, barrier: Time) -> bool:
    """Whether an instance comes after a barrier: what begins like it does."""
    return next((a > b for a, b in zip(own, barrier, strict=False) if a != b), True)


def passed(places: Places, instances: Iterable[tuple[str, Sequence[int]]]) -> None:
    """Let every instance (its statement and the values of its components) pass the barriers around it."""
    for statement, values in instances:
        keys = places.keys[statement]
        for barrier in places.barriers:
            if barrier.meets(keys):
                barrier.pass_by(dict(zip(keys, values, strict=True)))


def in_phases(places: Places, statement: str) -> Iterator[int]:
    """The components of a statement in the order of an execution in phases: what waits comes after the last component
    that its path shares with that of a barrier.
    """
    keys = places.keys[statement]
    last: dict[Key, int] = {}
    for barrier in places.barriers:
        shared = [n for n, ((key, _), own) in enumerate(zip(barrier.path, keys, strict=False)) if key == own]
        for key in barrier.waiting & {keys[n] for n in shared}:
            last[key] = max(last.get(key, 0), shared[-1])
    for n, key in enumerate(keys):
        if key not in last:
            yield n
        yield from (m for m in range(len(keys)) if last.get(keys[m]) == n)
