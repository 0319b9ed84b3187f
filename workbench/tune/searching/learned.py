"""The learned searcher ("xgb"): what the model likes best near the fastest points, at random, and along chains."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.schedules.sketches.space import Point
from workbench.tune.searching.annealing import CHAINS, Chains
from workbench.tune.searching.contract import Surroundings
from workbench.tune.searching.guided import Guided, Scores

POOL = 400
"""Points that the model of decisions chooses among."""

ENDS = 4
"""Chains whose ends are looked at in each round."""

DRAWN, CLIMBS, CLIMBED, LEADING = 40, 4, 16, 4
"""Before anything is measured so many points are drawn, and so often so many found near so many of the best."""

BESIDE = 16
"""Points that are looked at while the default recipe is built: then the search begins near it."""

SPARE = 6
"""Points that are looked at for the next round while builders wait for one another at the end of this one."""


class LearnedSearcher(Guided):
    """Looks around the best points, at random ones and along chains, and takes what the learned model likes best."""

    name, summary = "xgb", "a learned cost model chooses near the best points and among random ones"

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self.chains: Chains | None = None
        self.first: list[Point] = []

    def foreseen(self) -> list[Point]:
        """Those that it begins with; later some near the best, as the model of decisions likes them now."""
        if not self.known:
            self.first = self.random(BESIDE)
        elif self.sieve.learned:
            near = self.neighbours([t.point for t in self.best(8)], 8 * SPARE)
            fresh = [p for p in near if (i := self.space.index(p)) not in self.known and not self.taken(i)]
            self.first = super().sifted(fresh, SPARE)
        return self.first

    def pool(self, count: int) -> list[Point]:
        if self.small and len(self.known) >= self._size:
            return list(self.space)
        best = [t.point for t in self.best(8)]
        if not best:
            return self.climbed(self.first or self.random(DRAWN), self.guides(), CLIMBS, CLIMBED, LEADING)
        found = [*self.neighbours(best, POOL // 3), *self.random(POOL // 3)]
        if not self.sieve.learned:
            return found
        self.chains = self.chains or Chains(self.random(CHAINS))
        return [*found, *self.chains.walk(self, self.sifting)]

    def sifted(self, points: Sequence[Point], count: int) -> list[Point]:
        """And what was foreseen, and where some of the chains are: they are not led by what is near the best."""
        chains = self.chains.points if self.chains else []
        ends = self.draw.sample(chains, min(ENDS, len(chains)))
        first, self.first = self.first, []
        unique = {self.space.index(p): p for p in super().sifted(points, max(0, count - len(first)))}
        return list((unique | {i: p for p in (*first, *ends) if not self.taken(i := self.space.index(p))}).values())

    def guides(self) -> list[Scores]:
        """What orders points: the analytic model until something is measured, beside what other problems taught.

        Neither is trusted alone: what was learned at other sizes can mislead where the analytic model is right.
        """
        return [self.scores] if self.results or not self.model.learned else [self.analytic, self.scores]

    def chosen(self, points: Sequence[Point], count: int) -> list[Point]:
        """What each of the guides likes best, in turn."""
        guides, found = self.guides(), list[Point]()
        for n, guide in enumerate(guides):
            left = [p for p in points if p not in found]
            found += self.diverse(left, guide(left), (count - len(found)) // (len(guides) - n))
        return found
