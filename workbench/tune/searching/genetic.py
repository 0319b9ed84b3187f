"""Searchers that breed generations: from the fastest points, or over the learned model.

The first is genetic search as Tensor Comprehensions tunes (Vasilache et al. 2018, section 6), with its parameters: a
generation is bred from the one before, parents are drawn by 1/time, a child takes each decision from one of three, each
decision mutates with a small chance, and the best live on.  TC's own code crosses only into slots of candidates that
failed; here every slot but those of the best is bred.  The second is Ansor's evolutionary search (Zheng et al. 2020,
section 5.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from workbench.schedules.sketches.space import Point
from workbench.tune.searching.contract import Index, Searcher, Surroundings, Told
from workbench.tune.searching.guided import Guided

POPULATION, ELITES = 100, 10
CROSSOVER, MUTATION = 0.8, 0.07
PARENTS = 3
TRIES = 1000
FEWEST = 3
"""With fewer that ran, the next generation is random again."""


class GeneticSearcher(Searcher):
    """Generations of points, bred from the fastest ones."""

    name, summary = "genetic", "generations bred from the fastest points (Tensor Comprehensions)"

    def __init__(self, surroundings: Surroundings, population: int = POPULATION) -> None:
        super().__init__(surroundings)
        self.population = population
        self.queue: list[Point] = []
        self.parents: list[Told] = []
        self.generation: list[Told] = []

    def propose(self, count: int) -> Iterable[Point]:
        while len(self.queue) < count:
            bred = self._bred() if len(self.parents) >= FEWEST else self.random(self.population)
            bred = [p for p in bred if not self.taken(self.space.index(p))]
            if not bred:
                break
            self.queue += bred
        given, self.queue = self.queue[:count], self.queue[count:]
        return given

    def learn(self, results: Sequence[Told]) -> None:
        self.generation += [t for t in results if t.seconds is not None]
        if len(self.generation) >= min(self.population, max(FEWEST, len(self.results) // 4)):
            elites = self.best(ELITES)
            self.parents = [*elites, *(t for t in self.generation if t not in elites)][: self.population]
            self.generation = []
            self.queue = []

    def _bred(self) -> list[Point]:
        """Children of the parents that meet the constraints."""
        found: list[Point] = []
        weights = [1 / (t.seconds or 1.0) for t in self.parents]
        for _ in range(TRIES):
            if len(found) == max(1, min(self.population, 2 * len(self.parents)) - ELITES):
                break
            own = [t.point for t in self.draw.choices(self.parents, weights, k=PARENTS)]
            crossed = self.draw.random() < CROSSOVER
            child = {d.name: (self.draw.choice(own) if crossed else own[0])[d.name] for d in self.space.decisions}
            child = self.mutated(child, MUTATION)
            if all(c.holds(child) for c in self.space.constraints):
                found.append(child)
        return found

    def mutated(self, point: Point, chance: float) -> Point:
        """The point with each decision drawn anew with some chance."""
        return {
            d.name: self.draw.choice(d.options) if self.draw.random() < chance else point[d.name]
            for d in self.space.decisions
        }


class EvolutionarySearcher(Guided):
    """Generations bred over the model, from measured points and random ones (Ansor, Zheng et al. 2020)."""

    name, summary = "evolutionary", "generations bred over the learned model (Ansor)"
    POPULATION, GENERATIONS, MEASURED, MUTATING = 48, 4, 0.2, 0.85

    def pool(self, count: int) -> list[Index]:
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
        return [self.space.index(p) for p in visited]
