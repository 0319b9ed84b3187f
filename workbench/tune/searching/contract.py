"""The contract of searchers: `ask` for points, `tell` what came of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

import numpy as np

from workbench.records import record
from workbench.schedules.sketches.space import Point, Space
from workbench.tune.models.ranker import Group
from workbench.tune.searching.twins import Index, Twins

SMALL = 4096
"""A space of so few points is listed whole."""

DRAWS = 50
"""Times as many random points are drawn as are wanted, before it is said that there are no others."""

Row = dict[str, float]
FeaturesOf = Callable[[Sequence[Point]], "Sequence[Row | None]"]


@record(slots=True)
class Told:
    """What came of a point: seconds of a call, None where there are none (illegal, wrong, crashed, ...)."""

    point: Point
    seconds: float | None


@record(eq=False)
class Surroundings:
    """What a searcher works in: the space, a source of chance, a function that gives the features of points (None for
    one that is no legal schedule), what is known of other problems: their trials, and points that were their best,
    which are tried first; and which points are known to give one schedule.
    """

    space: Space
    draw: random.Random
    features: FeaturesOf
    others: tuple[Group, ...] = ()
    starts: tuple[Point, ...] = ()
    twins: Twins | None = None


class Searcher:
    """Proposes points of a space; a point that it proposed, or was told of, is not proposed again, nor one that is
    known to give the schedule of such a point.

    `ask(count)` gives at most `count` points, fewer or none where no others are left.  `tell` takes results in any
    order, also of points that were never asked for.  One seed gives one sequence.
    """

    name = ""
    summary = ""

    def __init__(self, surroundings: Surroundings) -> None:
        self.space = surroundings.space
        self.draw = surroundings.draw
        self.features = surroundings.features
        self.others = surroundings.others
        self.starts = list(surroundings.starts)
        self.twins = surroundings.twins or Twins(self.space)
        self.seen: set[Index] = set()
        self.keys: set[str] = set()
        self.results: list[Told] = []
        self._left: list[Index] | None = None

    def prepare(self) -> None:
        """What takes a moment and can be done while the runner's processes start."""

    def foreseen(self) -> list[Point]:
        """Points whose features it will want when it is asked next."""
        return []

    def ask(self, count: int) -> list[Point]:
        """Points to try next."""
        found = self.fresh(self.starts, count)
        self.starts = []
        found += self.fresh(self.propose(count - len(found)), count - len(found))
        if len(found) < count:
            found += self.fresh(self.random(count - len(found)), count - len(found))
        return found

    def tell(self, results: Sequence[Told]) -> None:
        """What came of points."""
        for told in results:
            self.see(self.space.index(told.point))
        self.results += results
        self.learn(results)

    def propose(self, count: int) -> Iterable[Point]:
        """Points in the order in which they are to be tried; those seen before are left out."""
        raise NotImplementedError

    def learn(self, results: Sequence[Told]) -> None:
        """Take note of results."""

    def see(self, index: Index) -> None:
        """Note that a point was proposed or told of, and with it all that give its schedule."""
        self.seen.add(index)
        if key := self.twins.key(index):
            self.keys.add(key)

    def taken(self, index: Index) -> bool:
        """Whether a point was seen, or one that is known to give the same schedule."""
        return index in self.seen or self.twins.key(index) in self.keys

    def fresh(self, points: Iterable[Point], count: int) -> list[Point]:
        """The first few that are not taken, which from now on are."""
        found: list[Point] = []
        if count <= 0:
            return found
        for point in points:
            index = self.space.index(point)
            if not self.taken(index):
                self.see(index)
                found.append(point)
                if len(found) == count:
                    break
        return found

    def random(self, count: int) -> list[Point]:
        """Random points that are not taken, each once; fewer where there are not so many."""
        return [self.space.at(index) for index in self.drawn(count)]

    def drawn(self, count: int) -> list[Index]:
        """The same as numbers."""
        if self.small:
            if self._left is None:
                self._left = [self.space.index(p) for p in self.space]
                self.draw.shuffle(self._left)
            self._left = [i for i in self._left if i not in self.seen]
            return list(islice((i for i in self._left if not self.taken(i)), count))
        found: dict[Index, None] = {}
        for _ in range(DRAWS):
            found |= {index: None for index in self._any(count) if not self.taken(index)}
            if len(found) >= count:
                break
        return list(found)[:count]

    def _any(self, count: int) -> list[Index]:
        """So many points, each as likely as any other."""
        seed = self.draw.randrange(1 << 30)
        if self.space.constraints:
            return [self.space.index(p) for p in self.space.sample(count, seed)]
        options = [len(d.options) for d in self.space.decisions]
        return list(map(tuple, np.random.default_rng(seed).integers(0, options, (count, len(options))).tolist()))

    @property
    def small(self) -> bool:
        """Whether the space can be listed."""
        return self._size <= SMALL

    @property
    def _size(self) -> int:
        size = self.__dict__.get("_known_size")
        if size is None:
            size = self.__dict__["_known_size"] = self.space.size
        return size

    def best(self, count: int) -> list[Told]:
        """The fastest results, the best first, one of each schedule that is known to be one."""
        found: dict[str | Index, Told] = {}
        for told in sorted((t for t in self.results if t.seconds is not None), key=lambda t: t.seconds or 0.0):
            if len(found) == count:
                break
            index = self.space.index(told.point)
            found.setdefault(self.twins.key(index) or index, told)
        return list(found.values())
