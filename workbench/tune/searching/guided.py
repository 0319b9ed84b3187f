"""Searchers that a model guides: they propose what it takes for fast, and differ in how they look for that."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from workbench.schedules.sketches.space import Decision, Point, Space
from workbench.tune.models.ranker import Group, Ranker, load_trees
from workbench.tune.searching.contract import Index, Row, Searcher, Surroundings, Told

EPSILON = 0.05
"""Of what is proposed so much is random."""

CURIOSITY = 0.5
"""Standard deviations that a point may be better than predicted."""

NOVELTY = 0.35
"""What it counts to decide all as no other point of a batch does, in parts of the best prediction's advantage."""

PROBES, NEAR = 4, 1.25
"""One of so many points tries an option that nothing showed that came within so many times the best."""

LEFT_OVER = 64
"""Points that were looked at and not proposed are thought of again as long as they are among so many."""

SIEVING = 10
"""Trees of the model of decisions alone, which only says what is worth a look."""

FIRST_LOOKS, LOOKED_AT = 12, 1.25
"""So many points get features at first, and later so many times as many as are wanted."""

Scores = Callable[[Sequence[Point]], Sequence[float]]
"""What is expected of points, the less the better."""


class Guided(Searcher):
    """Keeps a model of what was told, and the features of what was looked at."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self.model = Ranker(self.others, self.draw.randrange(1 << 20))
        self.sieve = Ranker((), self.draw.randrange(1 << 20), models=1, rounds=SIEVING)
        self.known: dict[Index, Row | None] = {}
        self.probed: set[tuple[int, int]] = set()
        self.columns = [
            (f"decision {d.name}", tuple(map(float, d.options if d.ordered else range(len(d.options)))))
            for d in self.space.decisions
        ]
        self.sorted = np.array(sorted(range(len(self.columns)), key=lambda n: self.columns[n][0]), int)
        self.numbers = np.full((len(self.columns), max((len(own) for _, own in self.columns), default=0)), np.nan)
        for n, (_, own) in enumerate(self.columns):
            self.numbers[n, : len(own)] = own
        self.steps = Steps(self.space, self.draw)
        self.fresh_results = 0
        self.fitted = False

    def prepare(self) -> None:
        load_trees()

    def learn(self, results: Sequence[Told]) -> None:
        self.fresh_results += len(results)

    def refit(self) -> None:
        """The model, if there is something new to learn."""
        if self.fitted and not self.fresh_results:
            return
        rows, seconds = [], []
        for told, row in zip(self.results, self.rows([t.point for t in self.results]), strict=True):
            if row is not None:
                rows.append(row)
                seconds.append(told.seconds)
        decided = [self._decisions(self.space.index(t.point)) for t in self.results]
        self.sieve.fit(Group.of(decided, [t.seconds for t in self.results]))  # first: points are drawn with it
        self.model.fit(Group.of(rows, seconds))
        self.fresh_results, self.fitted = 0, True

    def rows(self, points: Sequence[Point]) -> list[Row | None]:
        """The features of points with their decisions; None for one that is no legal schedule."""
        indices = [self.space.index(p) for p in points]
        missing = {i: p for i, p in zip(indices, points, strict=True) if i not in self.known}
        for index, row in zip(missing, self.features(list(missing.values())), strict=True):
            self.known[index] = None if row is None else {**row, **self._decisions(index)}
        return [self.known[i] for i in indices]

    def _decisions(self, index: Index) -> Row:
        """What was decided, as numbers: the option where it is one, its place where it is none."""
        return {name: numbers[place] for (name, numbers), place in zip(self.columns, index, strict=True)}

    def sifted(self, indices: Sequence[Index], count: int) -> list[Index]:
        """Those that a model of the decisions alone likes best, and some others: features take longer to find."""
        unique = [i for i in dict.fromkeys(indices) if not self.taken(i)]
        unknown = [i for i in unique if i not in self.known]
        if len(unknown) > count and self.sieve.learned:
            scores = self.sifting(unknown)
            unknown = [unknown[n] for n in sorted(range(len(unknown)), key=scores.__getitem__)]
        return [*(i for i in unique if i in self.known), *unknown[:count]]

    def sifting(self, indices: Sequence[Index]) -> list[float]:
        """What the model of the decisions alone expects, up to a constant."""
        if not indices:
            return []
        table = self.numbers[self.sorted, np.array(indices)[:, self.sorted]]
        return self.sieve.correction(table.astype(np.float32))[0].tolist()

    def single(self, points: Sequence[Point]) -> list[Point]:
        """Those that are legal schedules, one of each that was not tried: this is known once they were looked at."""
        found: dict[str | Index, Point] = {}
        for point, row in zip(points, self.rows(points), strict=True):
            index = self.space.index(point)
            if row is not None and not self.taken(index):
                found.setdefault(self.twins.key(index) or index, point)
        return list(found.values())

    def scores(self, points: Sequence[Point]) -> list[float]:
        """What the model expects, less for what it is not sure of; infinite for what is no schedule."""
        rows = self.rows(points)
        legal = [row for row in rows if row is not None]
        mean, deviation = self.model.predict(legal)
        found = iter((mean - CURIOSITY * deviation).tolist() if self.model.learned else mean.tolist())
        return [next(found) if row is not None else float("inf") for row in rows]

    def analytic(self, points: Sequence[Point]) -> list[float]:
        """What the analytic model alone says."""
        return [float("inf") if row is None else row.get("cycles", 0.0) for row in self.rows(points)]

    def chosen(self, points: Sequence[Point], count: int) -> list[Point]:
        """What is proposed of points that were looked at."""
        return self.diverse(points, self.scores(points), count)

    def predicted(self, points: Sequence[Point]) -> list[float | None]:
        """Seconds that the model expects of each point; None before it has learned anything."""
        rows = self.rows(points)
        if not self.model.count:
            return [None] * len(points)
        found = iter(self.model.predict([row for row in rows if row is not None])[0].tolist())
        return [None if row is None else 2.0 ** next(found) for row in rows]

    def diverse(self, points: Sequence[Point], scores: Sequence[float], count: int) -> list[Point]:
        """The best points, some of which give way to others that decide what is not decided so yet (AutoTVM)."""
        order = sorted(range(len(points)), key=lambda n: scores[n])
        order = [n for n in order if scores[n] != float("inf")][: 3 * count]
        if not order:
            return []
        places = np.array([self.space.index(points[n]) for n in order])
        worth = np.array([scores[n] for n in order])
        worth = (worth[-1] - worth) / max(worth[-1] - worth[0], 1e-9)
        decisions = len(self.space.decisions)
        new = np.ones((len(order), decisions), bool)
        chosen: list[Point] = []
        for _ in range(min(count, len(order))):
            best = int(np.argmax(worth + NOVELTY * new.sum(axis=1) / max(1, decisions)))
            chosen.append(points[order[best]])
            new &= places != places[best]
            worth[best] = -np.inf
        return chosen

    def propose(self, count: int) -> Iterable[Point]:
        self.refit()
        pool = self.pool(count)
        self.draw.shuffle(pool)  # what is looked at before anything is known is some of each kind
        sifted = self.sifted(pool, int(LOOKED_AT * count) if self.sieve.learned else FIRST_LOOKS)
        unique = [self.space.at(index) for index in sifted]
        chance = sum(self.draw.random() < EPSILON for _ in range(count)) if self.results else 0
        options = self.untried(count // PROBES)
        self.rows([*options, *unique])  # looked at together, by several processes
        probes, unique = self.single(options), self.single([*unique, *self.left_over()])
        good = self.chosen(unique, count - chance - len(probes))
        return [*probes, *good, *self.random(chance)]

    def left_over(self) -> list[Point]:
        """Points that were looked at of late and not proposed: they cost no look any more."""
        late = list(self.known)[-LEFT_OVER:] if self.results else []
        return [self.space.at(i) for i in late if self.known[i] is not None and not self.taken(i)]

    def untried(self, count: int) -> list[Point]:
        """The best point with another option of one decision that is no number: a model only guesses what it never saw.

        Once, unless what came near the best had it: that a random point was slow says little of any one of its options.
        """
        found: list[Point] = []
        asked = [(n, d) for n, d in enumerate(self.space.decisions) if not d.ordered or len(d.options) == 2]
        for best in self.best(1):
            near = [t for t in self.results if t.seconds is not None and t.seconds <= NEAR * (best.seconds or 0.0)]
            tried = self.probed | {(n, d.place(t.point[d.name])) for t in near for n, d in asked}
            for n, decision in asked:
                for place, option in enumerate(decision.options):
                    point = {**best.point, decision.name: option}
                    if len(found) < count and (n, place) not in tried and self._open(point):
                        self.probed.add((n, place))
                        found.append(point)
        return found

    def _open(self, point: Point) -> bool:
        """Whether a point is allowed and may be a new legal schedule, as far as is known."""
        if self.taken(index := self.space.index(point)) or self.known.get(index, {}) is None:
            return False
        return all(c.holds(point) for c in self.space.constraints)

    def climbed(
        self, found: list[Point], guides: Sequence[Scores], climbs: int, width: int, leading: int
    ) -> list[Point]:  # fmt: skip
        """Points, and so often `width` more, random steps from the `leading` best so far, as the guides say in turn."""
        for n in range(climbs):
            order = sorted(range(len(found)), key=guides[n % len(guides)](found).__getitem__)
            found = [*found, *self.neighbours([found[k] for k in order[:leading]], width)]
        return found

    def pool(self, count: int) -> list[Index]:
        """Points among which the model chooses."""
        raise NotImplementedError

    def neighbours(self, starts: Sequence[Point], count: int) -> list[Point]:
        """Random steps away from points."""
        return [self.space.at(i) for i in self.steps([self.space.index(p) for p in starts], count)]


class Steps:
    """Random steps away from points: one decision moved to a neighbour, or drawn anew, or two."""

    def __init__(self, space: Space, draw: random.Random) -> None:
        self.space = space
        self.draw = draw
        self.ways = [(len(d.options), _beside(d)) for d in space.decisions]

    def __call__(self, starts: Sequence[Index], count: int) -> list[Index]:
        """So many points, or fewer where constraints exclude most of them, each near one of the starts in turn."""
        found: list[Index] = []
        for n in range(count * 4 if starts else 0):
            if len(found) == count:
                break
            index = self._one(starts[n % len(starts)])
            if not self.space.constraints or self._is_allowed(index):
                found.append(index)
        return found

    def _is_allowed(self, index: Index) -> bool:
        point = self.space.at(index)
        return all(c.holds(point) for c in self.space.constraints)

    def _one(self, start: Index) -> Index:
        index, chance, size = list(start), self.draw.random, len(start)
        wanted = min(size, (1, 1, 2, 3)[int(4 * chance())])
        moved: set[int] = set()
        while len(moved) < wanted:
            moved.add(int(size * chance()))
        for n in moved:
            options, beside = self.ways[n]
            if beside is not None and chance() < 0.6:
                below, above = beside
                index[n] = above[index[n]] if chance() < 0.5 else below[index[n]]
            else:
                index[n] = int(options * chance())
        return tuple(index)


def _beside(decision: Decision) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """(the place of the next smaller number, of the next larger one) for each place of a decision among numbers; the
    least and the largest are next to themselves.  None for one that is not among several numbers.
    """
    if not decision.ordered or len(decision.options) <= 2:
        return None
    order = decision.ascending
    at = [order.index(place) for place in range(len(order))]
    last = len(order) - 1
    return tuple(order[max(0, n - 1)] for n in at), tuple(order[min(last, n + 1)] for n in at)
