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
from workbench.tune.looking import Looking, stands_in
from workbench.tune.measuring.building import Request
from workbench.tune.measuring.runner import Assignment, Result, Runner
from workbench.tune.models.quality import RankQuality, rank_quality
from workbench.tune.models.ranker import Group
from workbench.tune.searching import Searcher, Surroundings, Told
from workbench.tune.searching.twins import Twins
from workbench.tune.trials import Trial, concerns, fastest, twin, with_final

FIRST, ROUND, LATER, SETTLED = 4, 8, 16, 24
"""Points of a round: few at first, so that something is soon there, then enough for several builders and few enough to
learn often; more once so many were tried: a round teaches less then, and what is done once in each costs as much.
"""

FINALISTS, PATIENCE = 5, 6.0
"""So many of the fastest are timed again, so many times as long, and the default recipe beside them."""

IN_VAIN = 400
"""Points in a row that are no new legal schedules, after which a space is given up."""

GIVEN_UP = f"the last {IN_VAIN} points gave no new legal schedule"
EXHAUSTED = "no other points are left"

DEFAULT = -1
"""The number of the default recipe's request."""


@record
class Round:
    """What one round of the search was like: points asked for, seconds it took to choose them, to build and time them,
    and how good the model's ranking was of what was measured then (None where nothing was predicted).

    Deriving the schedules of points that are measured then is part of building them, also where the model looked at
    them first; deriving those of others is part of choosing, but for those that a builder looked at while it waited for
    the others.
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
        self.twins = Twins(assignment.sketch.space)
        self.looking = Looking(assignment, runner, self.twins)
        surroundings = Surroundings(
            assignment.sketch.space, random.Random(assignment.seed), self.looking.features, tuple(others),
            tuple(starts), self.twins,
        )  # fmt: skip
        self.searcher = make(surroundings)
        self.trials: list[Trial] = []
        self.rounds: list[Round] = []
        self.search_seconds = 0.0
        self.ended = ""

    def resume(self, trials: Iterable[Trial]) -> None:
        """Go on from trials that were made before."""
        space = self.assignment.sketch.space
        known = [replace(t, point=space.restored(t.point)) for t in trials]
        for trial in known:
            self._note(trial)
        own = [t for t in known if t.source == "search" and stands_in(space, t.point)]
        for trial in own:
            if trial.key:
                self.twins.note(space.index(space.full(trial.point)), trial.key)
        if own:
            self.searcher.tell([Told(space.full(t.point), t.score) for t in own])
        self._begin_at_default()

    def run(self, budget: Callable[[], int]) -> None:
        """Trials until there are so many, asked before each round, or no others are found: `ended` says why.
        ScheduleError if no point is a legal schedule.
        """
        self.runner.open(self.assignment)
        if (prepare := getattr(self.searcher, "prepare", None)) is not None:
            prepare()
        if self.default is not None and not self.trials:
            self._foresee()
        self._refer()
        in_vain = 0
        while (allowed := budget()) > self.searched and self.going():
            asked, fresh = self._round(round_size(self.searched, allowed - self.searched))
            in_vain = 0 if fresh else in_vain + asked
            if not asked or in_vain >= IN_VAIN:
                self.ended = GIVEN_UP if asked else EXHAUSTED
                break
        self._require_legal()
        if self.searched and self.going():
            self._finals()

    @property
    def searched(self) -> int:
        """Trials that count."""
        return sum(t.counts for t in self.trials)

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

    def _foresee(self) -> None:
        """What the searcher wants to see next is looked at by builders that wait for others."""
        if (foreseen := getattr(self.searcher, "foreseen", None)) is not None:
            self.looking.foresee(foreseen())

    def _begin_at_default(self) -> None:
        """Tell the searcher what the default recipe takes, if it is a point of the space: so it looks around there."""
        found = next((t for t in self.trials if t.source == "default"), None)
        if found is None or self.default is None:
            return
        space = self.assignment.sketch.space
        point = space.full({})
        with suppress(WorkbenchError):  # as where that point is no legal schedule
            schedule, follows = self.assignment.sketch.followed(point)
            if schedule.key == self.default.key:
                self.twins.note(space.index(point), schedule.key, follows)
                self.searcher.tell([Told(point, found.score)])

    def _round(self, count: int) -> tuple[int, int]:
        """One round: (its points, how many of them gave legal schedules that were not tried before)."""
        begun = time.perf_counter()
        self.looking.begin()
        points = self.searcher.ask(count)
        if not points:
            return 0, 0
        expected = self._predicted(points)
        self.looking([p for p in points if not self.looking.key(p)])
        derived = self.looking.seconds_for(points)
        chosen = time.perf_counter() - begun - derived
        measuring = time.perf_counter()
        numbered = dict(enumerate(points, self._next_number()))
        made = self._made(numbered, dict(zip(numbered, expected, strict=True)))
        spent = time.perf_counter() - measuring + derived
        begun = time.perf_counter()
        self.searcher.tell([Told(numbered[t.number], t.score) for t in made])
        chosen += time.perf_counter() - begun
        self.search_seconds += chosen
        self.rounds.append(Round(len(self.rounds), len(points), chosen, spent, self._quality(numbered)))
        return len(points), sum(t.counts for t in made)

    def _made(self, numbered: Mapping[int, Point], predicted: Mapping[int, float | None]) -> list[Trial]:
        """The trials of a round: what is a twin of an earlier trial, or of one of this round, is not built again."""
        keys = {number: self.looking.key(point) for number, point in numbered.items()}
        tried = {t.key for t in self.trials if t.key}
        requests = []
        for number, point in numbered.items():
            if not keys[number] or keys[number] not in tried:
                requests.append(Request(number, point))
                tried.add(keys[number])
        made, best = [], self.best
        self._foresee()
        for result in self.runner.measure(requests, best.seconds if best else None):
            n = result.number
            made.append(replace(self._trial(result, numbered[n], predicted[n], "search"), key=result.key or keys[n]))
            self._keep(made[-1])
            if not self.going():
                return made
        firsts = {t.key: t for t in self.trials if t.key and t.twin_of is None}
        for number in sorted(numbered.keys() - {r.number for r in requests}):
            if (first := firsts.get(keys[number])) is not None:
                made.append(twin(first, number, numbered[number], len(self.rounds)))
                self._keep(made[-1])
        return made

    def _finals(self) -> None:
        """The fastest few once more, longer: the best of many short timings is partly luck."""
        own = (t for t in self.trials if t.score is not None and t.twin_of is None)
        measured = sorted(own, key=lambda t: t.score or 0.0)
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
            key=result.key,
        )  # fmt: skip

    def _next_number(self) -> int:
        return max((t.number for t in self.trials), default=0) + 1

    def _keep(self, trial: Trial) -> None:
        self.keep(trial)
        self._note(trial)

    def _note(self, trial: Trial) -> None:
        if trial.source == "final":
            self.trials = [with_final(t, trial) if concerns(trial, t) else t for t in self.trials]
        else:
            self.trials.append(trial)


def round_size(searched: int, left: int) -> int:
    """Points of the round after so many trials, of which so many are `left`: what would be a small last round belongs
    to the one before.

    >>> round_size(44, 156), round_size(44, 20), round_size(60, 4)
    (16, 20, 4)
    """
    size = FIRST if not searched else ROUND if searched < SETTLED else LATER
    return left if left <= size * 3 // 2 else size
