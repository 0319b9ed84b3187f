"""Searchers that learn nothing: any point, every point, and the order of the analytic model alone.

The last is PolyDL (Tavarageri et al., PACT 2020).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.schedules.sketches.space import Point
from workbench.tune.searching.contract import Index, Searcher, Surroundings
from workbench.tune.searching.guided import Guided

DRAWN, CLIMBS, CLIMBED, LEADING = 256, 8, 32, 8
"""So many random points are looked at, and so often so many found near so many of the best."""


class RandomSearcher(Searcher):
    """Any point with the same chance; what every other searcher has to beat."""

    name, summary = "random", "any point with the same chance"

    def propose(self, count: int) -> Iterable[Point]:
        return self.random(count)


class GridSearcher(Searcher):
    """Every point in order, the last decision changing fastest."""

    name, summary = "grid", "every point, in order"

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self.points: Iterator[Point] = iter(self.space)

    def propose(self, count: int) -> Iterable[Point]:
        return self.points


class RankingSearcher(Guided):
    """The order that the working sets alone give; nothing is learned from measurements (PolyDL)."""

    name, summary = "polydl", "the analytic ranking by working sets, without measurements (PolyDL)"

    def prepare(self) -> None:
        """Nothing is learned."""

    def refit(self) -> None:
        """Nor later."""

    def pool(self, count: int) -> list[Index]:
        if not self.known:
            self.rows(self.climbed(self.random(DRAWN), [self.scores], CLIMBS, CLIMBED, LEADING))
        if all(self.taken(index) for index in self.known):  # more was asked for than was looked at
            self.rows(self.random(DRAWN))
        return list(self.known)
