"""The order of the analytic model alone (PolyDL, Tavarageri et al., PACT 2020)."""

from __future__ import annotations

from workbench.schedules.sketches.space import Point
from workbench.tune.searching.guided import Guided


class RankingSearcher(Guided):
    """The order that the working sets alone give; nothing is learned from measurements (PolyDL)."""

    name, summary = "polydl", "the analytic ranking by working sets, without measurements (PolyDL)"
    LOOKED_AT = 512

    def prepare(self) -> None:
        """Nothing is learned."""

    def refit(self) -> None:
        """Nor later."""

    def pool(self, count: int) -> list[Point]:
        missing = self.LOOKED_AT - len(self.known)
        drawn = self.random(min(missing, self.LOOKED_AT)) if missing > 0 else []
        listed = [self.space.at(index) for index in self.known]
        return [*listed, *drawn]
