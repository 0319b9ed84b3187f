"""Searches replayed on the recorded spaces: python -m bench.tuning.replays.replaying [space ...].

Prints, for each space, how many trials each search needs until it has a point within 5 % of the optimum: the median of
20 seeds, and random search's median as so many times that.  "xgb, transfer" has seen some hundred random points of
other sizes, and nothing of the space itself.  The last line says how far from the optimum the best of the analytic
ranking's first 16 points is, which measures nothing.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from math import isnan
from statistics import median

import numpy as np

from bench.tuning.replays.recording import Recording, recorded
from bench.tuning.replays.spaces import SPACES
from workbench.records import record
from workbench.schedules.sketches.space import Point, Space
from workbench.tune.models.ranker import Group
from workbench.tune.searching import Surroundings, Told, make_searcher
from workbench.tune.tuner import round_size

SEEDS, NEAR, FIRST = 20, 1.05, 16
CONTENDERS = ("random", "optuna", "genetic", "annealing", "evolutionary", "xgb")
STARTS = 3


@record(eq=False)
class Replay:
    """A recorded space to search in."""

    space: Space
    seconds: dict[tuple[int, ...], float | None]
    rows: dict[tuple[int, ...], dict[str, float] | None]
    best: float
    groups: tuple[Group, ...]
    starts: tuple[Point, ...]

    @classmethod
    def of(cls, name: str) -> Replay:
        own = SPACES[name]
        space = own.make(**own.sizes).space
        _, (whole, *others) = recorded(name)
        places = [tuple(row) for row in whole.index.tolist()]
        seconds = [None if np.isnan(s) else float(s) for s in whole.seconds]
        starts = tuple(space.at(other.index[int(np.nanargmin(other.seconds))].tolist()) for other in others)
        return cls(
            space, dict(zip(places, seconds, strict=True)), dict(zip(places, whole.rows(), strict=True)),
            float(np.nanmin(whole.seconds)), tuple(map(group, others)), starts[:STARTS],
        )  # fmt: skip

    def features(self, points: Sequence[Point]) -> list[dict[str, float] | None]:
        return [self.rows.get(self.space.index(p)) for p in points]

    def search(self, name: str, seed: int, *, transfer: bool = False) -> list[float | None]:
        """Seconds of the points that were tried, in order, until one is near the optimum or none are left."""
        others, starts = (self.groups, self.starts) if transfer else ((), ())
        around = Surroundings(self.space, random.Random(seed), self.features, others, starts)
        searcher = make_searcher(name, around)
        tried: list[float | None] = []
        while points := searcher.ask(round_size(len(tried), len(self.seconds))):
            told = [Told(p, self.seconds[self.space.index(p)]) for p in points]
            searcher.foreseen()
            searcher.tell(told)
            for one in told:
                tried.append(one.seconds)
                if one.seconds is not None and one.seconds <= NEAR * self.best:
                    return tried
        return tried

    def first(self, seed: int) -> float:
        """The best of the first points that the analytic ranking proposes, as so many times the optimum."""
        searcher = make_searcher("polydl", Surroundings(self.space, random.Random(seed), self.features))
        found = [self.seconds[self.space.index(p)] for p in searcher.ask(FIRST)]
        return min((s for s in found if s is not None), default=float("inf")) / self.best


def group(other: Recording) -> Group:
    """What is known of other sizes, for a ranker."""
    known = [(row, s) for row, s in zip(other.rows(), other.seconds.tolist(), strict=True) if row is not None]
    return Group.of([row for row, _ in known], [None if isnan(s) else s for _, s in known])


def main() -> None:
    for name in sys.argv[1:] or SPACES:
        replay = Replay.of(name)
        near = sum(s is not None and s <= NEAR * replay.best for s in replay.seconds.values())
        print(f"{name}: {len(replay.seconds)} points, best {replay.best * 1e6:.1f} us, {near} within 5 %")
        usual = 0.0
        for contender in (*CONTENDERS, "xgb, transfer"):
            searcher, _, more = contender.partition(", ")
            needed = [len(replay.search(searcher, seed, transfer=bool(more))) for seed in range(SEEDS)]
            usual = usual or median(needed)
            low, high = np.percentile(needed, (25, 75))
            said = f"{median(needed):6.1f} trials ({low:.0f} to {high:.0f}), random / this {usual / median(needed):.1f}"
            print(f"  {contender:14} {said}", flush=True)
        found = [replay.first(seed) for seed in range(SEEDS)]
        print(f"  {'polydl':14} best of its first {FIRST}: {median(found):.3f} times the optimum", flush=True)


if __name__ == "__main__":
    main()
