"""Searchers without a model: random, grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.schedules.sketches.space import Point
from workbench.tune.searching.contract import Searcher, Surroundings


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
