"""The learned searcher ("xgb"): what the model likes best near the fastest points, at random, and along chains."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.schedules.sketches.space import Point
from workbench.tune.searching.annealing import CHAINS, Chains
from workbench.tune.searching.contract import Index, Surroundings
from workbench.tune.searching.guided import Guided, Scores

POOL = 400
"""Points that the model of decisions chooses among."""

ENDS = 2
"""Chains whose ends are looked at in each round."""

DRAWN, CLIMBS, CLIMBED, LEADING = 40, 4, 16, 4
"""Before anything is measured so many points are drawn, and so often so many found near so many of the best."""

BESIDE = 12
"""Points that are looked at while the default recipe is built, half of them near it: among these the search begins."""

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
            first = self.space.index(self.space.default)
            near = [i for i in self.steps([first], BESIDE // 2) if not self.taken(i)]
            self.first = [self.space.at(i) for i in dict.fromkeys([*near, *self.drawn(BESIDE // 2)])]
        elif self.sieve.learned:
            near = self.steps([self.space.index(t.point) for t in self.best(8)], 8 * SPARE)
            fresh = super().sifted([i for i in near if i not in self.known], SPARE)
            self.first = [self.space.at(i) for i in fresh]
        return self.first

    def pool(self, count: int) -> list[Index]:
        if self.small and len(self.known) >= self._size:
            return [self.space.index(p) for p in self.space]
        best = [self.space.index(t.point) for t in self.best(8)]
        if not best:
            first = self.first or self.random(DRAWN)
            return [self.space.index(p) for p in self.climbed(first, self.guides(), CLIMBS, CLIMBED, LEADING)]
        found = [*self.steps(best, POOL // 3), *self.drawn(POOL // 3)]
        if not self.sieve.learned:
            return found
        self.chains = self.chains or Chains(self.drawn(CHAINS))
        return [*found, *self.chains.walk(self.steps, self.sifting)]

    def sifted(self, indices: Sequence[Index], count: int) -> list[Index]:
        """And what was foreseen, and where some of the chains are: they are not led by what is near the best."""
        chains = self.chains.points if self.chains else []
        ends = self.draw.sample(chains, min(ENDS, len(chains)))
        first, self.first = [self.space.index(p) for p in self.first], []
        liked = super().sifted(indices, max(0, count - len(first)))
        return list(dict.fromkeys([*liked, *(i for i in (*first, *ends) if not self.taken(i))]))

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
