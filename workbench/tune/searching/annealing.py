"""Simulated annealing over the model: chains that live on from round to round (AutoTVM, Chen et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf

from workbench.tune.searching.contract import Index, Surroundings
from workbench.tune.searching.guided import Guided, Steps

CHAINS, STEPS = 12, 14


class Chains:
    """Points that walk towards what a score takes for low, and up again while it is hot."""

    def __init__(self, starts: Sequence[Index]) -> None:
        self.points = list(starts)

    def walk(self, steps: Steps, scores: Callable[[Sequence[Index]], Sequence[float]]) -> list[Index]:
        """Cooled down once, from where the chains are: all that they visited."""
        if not self.points:
            return []
        visited = list(self.points)
        now = list(scores(self.points))
        for step in range(STEPS):
            temperature = 1.0 - step / STEPS
            after = [(steps([p], 1) or [p])[0] for p in self.points]
            for n, (point, score) in enumerate(zip(after, scores(after), strict=True)):
                gain = now[n] - score
                if gain >= 0 or (gain > -inf and steps.draw.random() < exp(gain / (temperature + 1e-5))):
                    self.points[n], now[n] = point, score
            visited += after
        return visited


class AnnealingSearcher(Guided):
    """All that chains visit is looked at."""

    name, summary = "annealing", "simulated annealing over the learned model (AutoTVM)"

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self.chains: Chains | None = None

    def pool(self, count: int) -> list[Index]:
        self.chains = self.chains or Chains(self.drawn(CHAINS))
        return self.chains.walk(self.steps, lambda indices: self.scores([self.space.at(i) for i in indices]))
