"""Evolutionary search over the model (Ansor, Zheng et al. 2020, section 5.1)."""

from __future__ import annotations

import numpy as np

from workbench.schedules.sketches.space import Point
from workbench.tune.searching.guided import Guided


class EvolutionarySearcher(Guided):
    """Generations bred over the model, from measured points and random ones (Ansor, Zheng et al. 2020)."""

    name, summary = "evolutionary", "generations bred over the learned model (Ansor)"
    POPULATION, GENERATIONS, MEASURED, MUTATING = 48, 4, 0.2, 0.85

    def pool(self, count: int) -> list[Point]:
        size = self.POPULATION
        population = [t.point for t in self.best(int(size * self.MEASURED))]
        population += self.random(size - len(population))
        visited = list(population)
        for _ in range(self.GENERATIONS):
            scores = np.array(self.scores(population))
            finite = np.isfinite(scores)
            if not finite.any():
                break
            weights = np.where(finite, np.exp2(np.min(scores[finite]) - np.where(finite, scores, 0.0)), 0.0).tolist()
            children: list[Point] = []
            for _ in range(size):
                first, second = self.draw.choices(population, weights, k=2)
                if self.draw.random() < self.MUTATING:
                    children += self.neighbours([first], 1)
                else:
                    mixed = {name: self.draw.choice((first, second))[name] for name in first}
                    children += [mixed] if all(c.holds(mixed) for c in self.space.constraints) else []
            population = children or population
            visited += children
        return visited
