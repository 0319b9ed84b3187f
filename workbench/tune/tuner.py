"""The loop of a study: ask the searcher, measure, keep, tell; and time the finalists again."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from workbench.errors import ScheduleError, WorkbenchError
from workbench.records import record
from workbench.schedules import Schedule
from workbench.schedules.sketches.space import Point
from workbench.tune.measuring.building import Request, features_at
from workbench.tune.measuring.runner import Assignment, Result, Runner
from workbench.tune.models.quality import RankQuality, rank_quality
from workbench.tune.models.ranker import Group
from workbench.tune.searching import Searcher, Surroundings, Told
from workbench.tune.trials import Trial, fastest, with_final

ROUND = 8
"""Points of a round: enough for several builders, few enough to learn often."""

FINALISTS, PATIENCE = 5, 6.0
"""So many of the fastest are timed again, so many times as long, and the default recipe beside them."""

IN_VAIN = 400
"""Points in a row that are no new legal schedules, after which a space is given up."""

DEFAULT = -1
"""The number of the default recipe's request."""


@record
class Round:
    """What one round of the search was like: points asked for, seconds it took to choose them, to build and time them,
    and how good the model's ranking was of what was measured then (None where nothing was predicted).

    Deriving the schedules of points that are measured then is part of building them, also where the model looked at
    them first; deriving those of others is part of choosing.
    """

    number: int
    asked: int
    search_seconds: float
    measure_seconds: float
    quality: RankQuality | None


class Tuner:
    """One study's loop; `keep(trial)` is called with each trial as it is there, `going()` between two steps: it waits
    while the study is paused and says whether to go on.
    """

    def __init__(
        self, assignment: Assignment, runner: Runner, make: Callable[[Surroundings], Searcher], *,
        default: Schedule | None, keep: Callable[[Trial], None], going: Callable[[], bool],
        others: Iterable[Group] = (), starts: Iterable[Point] = (),
    ) -> None:  # fmt: skip
        self.assignment = assignment
        self.runner = runner
        self.default = default
        self.keep = keep
        self.going = going
        surroundings = Surroundings(
            assignment.sketch.space, random.Random(assignment.seed), self._features, tuple(others), tuple(starts)
        )
        self.searcher = make(surroundings)
        self.trials: list[Trial] = []
        self.rounds: list[Round] = []
        self.search_seconds = 0.0
        self.look_seconds, self.looked = 0.0, 0

    def resume(self, trials: Iterable[Trial]) -> None:
        """Go on from trials that were made before."""
        space = self.assignment.sketch.space
        known = [replace(t, point=space.restored(t.point)) for t in trials]
        for trial in known:
            self._note(trial)
        own = [t for t in known if t.source == "search" and _stands_in(space, t.point)]
        if own:
            self.searcher.tell([Told(space.full(t.point), t.score) for t in own])
        self._begin_at_default()

    def known_elsewhere(self, results: Iterable[Told]) -> None:
        """What other studies of this problem found at points of this space."""
        self.searcher.tell(list(results))

    def run(self, budget: Callable[[], int]) -> None:
        """Trials until there are so many, asked before each round, or no others are left.  ScheduleError if no point is
        a legal schedule.
        """
        self.runner.open(self.assignment)
        self._refer()
        in_vain = 0
        while (allowed := budget()) > self.searched and self.going():
            fresh = self._round(min(ROUND, allowed - self.searched))
            if fresh is None:
                break
            in_vain = 0 if fresh else in_vain + ROUND
            if in_vain >= IN_VAIN:
                break
        self._require_legal()
        if self.searched and self.going():
            self._finals()

    @property
    def searched(self) -> int:
        """Trials that count: what was built, or could not be."""
        return sum(t.source == "search" and t.outcome != "illegal" for t in self.trials)

    @property
    def best(self) -> Trial | None:
        return fastest(self.trials)

    def _refer(self) -> None:
        """Measure the default recipe, which the others are timed beside; a resumed study measures it once more."""
        if self.default is None:
            return
        for result in self.runner.measure([Request(DEFAULT, {}, self.default)], None):
            known = next((t for t in self.trials if t.source == "default"), None)
            if known is None:
                self._keep(self._trial(result, {}, None, "default"))
                self._begin_at_default()

    def _begin_at_default(self) -> None:
        """Tell the searcher what the default recipe takes, if it is a point of the space: so it looks around there."""
        found = next((t for t in self.trials if t.source == "default"), None)
        if found is None or self.default is None:
            return
        point = self.assignment.sketch.space.full({})
        with suppress(WorkbenchError):  # as where that point is no legal schedule
            if self.assignment.sketch.at(point).key == self.default.key:
                self.searcher.tell([Told(point, found.score)])

    def _round(self, count: int) -> int | None:
        """One round; how many new schedules were among its points, None if no points are left."""
        begun = time.perf_counter()
        self.look_seconds, self.looked = 0.0, 0
        points = self.searcher.ask(count)
        if not points:
            return None
        expected = self._predicted(points)
        numbered = dict(enumerate(points, self._next_number()))
        predicted = dict(zip(numbered, expected, strict=True))
        derived = self.look_seconds * min(1.0, len(points) / max(1, self.looked))
        chosen = time.perf_counter() - begun - derived
        best = self.best
        measuring = time.perf_counter()
        told, fresh = [], 0
        requests = [Request(number, point) for number, point in numbered.items()]
        for result in self.runner.measure(requests, best.seconds if best else None):
            trial = self._trial(result, numbered[result.number], predicted[result.number], "search")
            self._keep(trial)
            fresh += trial.outcome != "illegal"
            told.append(Told(numbered[result.number], trial.score))
            if not self.going():
                break
        spent = time.perf_counter() - measuring + derived
        begun = time.perf_counter()
        self.searcher.tell(told)
        chosen += time.perf_counter() - begun
        self.search_seconds += chosen
        self.rounds.append(Round(len(self.rounds), len(points), chosen, spent, self._quality(numbered)))
        return fresh

    def _finals(self) -> None:
        """The fastest few once more, longer: the best of many short timings is partly luck."""
        measured = sorted((t for t in self.trials if t.score is not None), key=lambda t: t.score or 0.0)
        default = [t for t in measured if t.source == "default"]
        by_number = {t.number: t for t in (*measured[:FINALISTS], *default)}
        if all(t.confirmed for t in by_number.values()):
            return
        requests = [
            Request(t.number, t.point, self.default if t.source == "default" else None) for t in by_number.values()
        ]
        for result in self.runner.again(requests, PATIENCE):
            if result.outcome in ("measured", "estimated", "wrong"):
                old = by_number[result.number]
                final = self._trial(result, old.point, old.predicted, "final")
                self._keep(replace(final, number=old.number, round=old.round))

    def _quality(self, numbered: Mapping[int, Point]) -> RankQuality | None:
        own = [t for t in self.trials if t.number in numbered and t.predicted is not None and t.seconds is not None]
        return rank_quality([t.predicted or 0.0 for t in own], [t.seconds or 0.0 for t in own])

    def _require_legal(self) -> None:
        """ScheduleError if everything that was tried was illegal."""
        tried = [t for t in self.trials if t.source == "search"]
        if tried and all(t.outcome == "illegal" for t in tried):
            raise ScheduleError(
                f"none of the {len(tried)} points that were tried is a legal schedule; the first: {tried[0].message}"
            )

    def _features(self, points: Sequence[Point]) -> Sequence[dict[str, float] | None]:
        """The features of points, found by the runner's processes; None for one that is no legal schedule."""
        begun = time.perf_counter()
        own = getattr(self.runner, "features", None)
        if own is not None:
            found = own(points)
        else:
            found = [features_at(self.assignment.sketch, p, self.assignment.target) for p in points]
        self.look_seconds += time.perf_counter() - begun
        self.looked += len(points)
        return found

    def _predicted(self, points: Sequence[Point]) -> Sequence[float | None]:
        """Seconds that the searcher's model expects, if it has one."""
        tell = getattr(self.searcher, "predicted", None)
        return tell(points) if tell is not None else [None] * len(points)

    def _trial(self, result: Result, point: Mapping[str, Any], predicted: float | None, source: str) -> Trial:
        if result.outcome == "estimated":  # a model of a model says nothing of the GPU
            predicted = None
        return Trial(
            max(0, result.number), dict(point), result.outcome, result.seconds, result.lower, result.upper,
            result.record, result.steps, result.message, predicted, result.features, result.build_seconds,
            result.run_seconds, result.began, len(self.rounds), source, uuid.uuid4().hex, estimate=result.estimate,
        )  # fmt: skip

    def _next_number(self) -> int:
        return max((t.number for t in self.trials), default=0) + 1

    def _keep(self, trial: Trial) -> None:
        self.keep(trial)
        self._note(trial)

    def _note(self, trial: Trial) -> None:
        if trial.source == "final":
            self.trials = [with_final(t, trial) if t.number == trial.number else t for t in self.trials]
        else:
            self.trials.append(trial)


def _stands_in(space: Any, point: Mapping[str, Any]) -> bool:
    """Whether a stored point is one of the space."""
    try:
        return {d.name for d in space.decisions} == set(point) and bool(space.full(point))
    except ScheduleError:
        return False
