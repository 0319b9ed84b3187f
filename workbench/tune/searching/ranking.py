"""The order of the analytic model alone (PolyDL, Tavarageri et al., PACT 2020)."""

from __future__ import annotations

from workbench.schedules.sketches.space import Point
from workbench.tune.searching.guided import Guided

DRAWN, CLIMBS, CLIMBED, LEADING = 256, 8, 32, 8
"""So many random points are looked at, and so often so many found near so many of the best."""


class RankingSearcher(Guided):
    """The order that the working sets alone give; nothing is learned from measurements (PolyDL)."""

    name, summary = "polydl", "the analytic ranking by working sets, without measurements (PolyDL)"

    def prepare(self) -> None:
        """Nothing is learned."""

    def refit(self) -> None:
        """Nor later."""

    def pool(self, count: int) -> list[Point]:
        if not self.known:
            self._climb()
        if all(self.taken(index) for index in self.known):  # more was asked for than was looked at
            self.rows(self.random(DRAWN))
        return [self.space.at(index) for index in self.known]

    def _climb(self) -> None:
        """Look at random points, and at what is near the best of them."""
        found = self.random(DRAWN)
        for _ in range(CLIMBS):
            order = sorted(range(len(found)), key=self.scores(found).__getitem__)
            found += self.neighbours([found[n] for n in order[:LEADING]], CLIMBED)
        self.rows(found)
