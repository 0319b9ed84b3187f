"""Many operators at once: each round of trials goes to the one where it is expected to save most time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

from workbench.errors import WorkbenchError, shown
from workbench.runtime.measuring.timing import duration
from workbench.target import Target
from workbench.tune.measuring.runner import Limits
from workbench.tune.progress import LOOK_SECONDS, wait_for
from workbench.tune.searching import Searcher, Surroundings
from workbench.tune.storing.database import Database
from workbench.tune.study import Study
from workbench.tune.trials import fastest
from workbench.tune.tuner import ROUND
from workbench.tune.tuning import made_study

LATELY = 0.2
"""How much what the last rounds saved counts, against what an operator could still save (Ansor's alpha)."""

LAST_ROUNDS = 3
"""Rounds whose savings are looked at (Ansor's backward window)."""


def many(
    what: Sequence[Any],
    /,
    trials: int = 1000,
    weights: Sequence[float] | None = None,
    *,
    target: str | Target = "c",
    searcher: str | Callable[[Surroundings], Searcher] = "xgb",
    database: str | os.PathLike[str] | Database | None = None,
    runner: Callable[[], Any] | None = None,
    seed: int | None = None,
    limits: Limits | None = None,
) -> Studies:
    """Tune many operators with one number of trials; returns at once.

    `what` are operators, sketches, or pairs of an operator and its sizes; `weights` say how often each is called (an
    operator that stands twice has the sum).  After one round each, a round goes to the operator for which weight times
    seconds is expected to fall most: what its last rounds saved, and, as it had ever more trials, a smaller part of
    what it takes (Zheng et al., Ansor, OSDI 2020, section 6; without the comparison of flop rates, which says little
    of operators that are not alike).  `runner` is called for the runner of each study; the other arguments are those of
    `wb.autotune`.

    Each study is kept in the database like one of its own.  WorkbenchError for arguments that do not fit.
    """
    if not isinstance(trials, int) or isinstance(trials, bool) or trials < 0:
        raise WorkbenchError(f"trials={shown(trials)} does not fit; expected a whole number, 0 or more")
    items = [_item(w) for w in _listed(what)]
    chosen = _weights(weights, len(items))
    store = database if isinstance(database, Database) else Database(database)
    studies: dict[str, Study] = {}
    summed: dict[str, float] = {}
    places = []
    for (operator, sizes), weight in zip(items, chosen, strict=True):
        own = runner() if runner is not None else None
        study = made_study(operator, sizes, target, 0, searcher, store, own, seed, limits, shared=True)
        key = study.key.key
        studies.setdefault(key, study)
        summed[key] = summed.get(key, 0.0) + weight
        places.append(key)
    return Studies([studies[key] for key in places], [summed[key] for key in studies], trials).start()


class Studies:
    """Studies that share one number of trials; `wb.tune.many` starts them.

    `studies` has one for each operator that was given, in that order; operators that are equal share theirs.
    """

    def __init__(self, studies: Sequence[Study], weights: Sequence[float], budget: int) -> None:
        self.studies = tuple(studies)
        self.budget = budget
        self._own = list(dict.fromkeys(self.studies))
        self._weights = dict(zip(self._own, weights, strict=True))
        self._already = sum(s.done for s in self._own)
        self._stop = False
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> Studies:
        """Begin, in threads of their own."""
        if self.budget - self.done <= 0:
            for study in self._own:
                study.conclude()
                study.start()
            self._ended.set()
            return self
        for study in self._own:
            study.start()
        self._thread = threading.Thread(target=self._share, name="sharing trials", daemon=True)
        self._thread.start()
        return self

    @property
    def state(self) -> str:
        """ "running", "paused", "stopped", "failed" or "finished"."""
        if self._stop and self._ended.is_set() and self.done < self.budget:
            return "stopped"  # also where each study had used what it was granted
        states = {s.state for s in self._own}
        return next((s for s in ("running", "paused", "failed", "stopped") if s in states), "finished")

    @property
    def done(self) -> int:
        """Trials that count, of all studies, those that the database had included."""
        return sum(s.done for s in self._own)

    @property
    def seconds(self) -> float | None:
        """Weighted sum of the fastest calls; None before each operator has one."""
        found = [(weight, _seconds(study)) for study, weight in self._weights.items()]
        return None if any(s is None for _, s in found) else sum(w * (s or 0.0) for w, s in found)

    @property
    def headline(self) -> str:
        """The weighted seconds in a few words; empty before they are known."""
        return f"together {duration(self.seconds)}" if self.seconds else ""

    def result(self) -> Studies:
        """Wait until all have ended.  An interrupt pauses them; what made one fail is raised."""
        wait_for(self, self._ended)
        for study in self._own:
            study.result()
        return self

    def pause(self) -> None:
        """Begin nothing new until `resume`."""
        for study in self._own:
            study.pause()

    def resume(self) -> None:
        """Go on after a pause."""
        for study in self._own:
            if study.state == "paused":
                study.resume()

    def stop(self) -> None:
        """End all; what was measured is kept."""
        self._stop = True
        for study in self._own:
            study.stop()
        if self._thread is not None:
            self._thread.join()
        self._ended.set()

    def __str__(self) -> str:
        lines = [f"{len(self._own)} studies: {self.state}, {self.done} of {self.budget} trials"]
        lines += [f"together {duration(self.seconds)} a call, weighted"] if self.seconds else []
        for study, weight in self._weights.items():
            best = f", {study.headline}" if study.headline else ""
            more = f", {study.speedup:.2f} times as fast as the default" if study.speedup else ""
            lines.append(f"  {weight:g} x {study.key.problem}: {study.done} trials{best}{more}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    # -- who is next --

    def _share(self) -> None:
        """Grant rounds, one at a time, so that no candidate is timed beside another's build."""
        histories: dict[Study, list[float | None]] = {study: [] for study in self._own}
        while not self._stop and (left := self.budget - self.done) > 0:
            able = [s for s in self._own if self._waiting(s)]
            if not able:
                break
            study = max(able, key=lambda s: self._weights[s] * expected_saving(histories[s]))
            study.grant(min(ROUND, left))
            self._waiting(study)
            histories[study].append(_seconds(study))
        for study in self._own:  # one after the other: each times its finalists again
            if self._stop:
                break
            study.conclude()
            while study.state in ("running", "paused") and not self._stop:
                study._ended.wait(LOOK_SECONDS)
        self._ended.set()

    def _waiting(self, study: Study) -> bool:
        """Wait until a study has used what it was granted; whether it can take more."""
        while not self._stop and study.state in ("running", "paused"):
            if study.waits:
                return True
            study._ended.wait(LOOK_SECONDS / 5)
        return False


def expected_saving(history: Sequence[float | None]) -> float:
    """Seconds a call that a round more is expected to save, from the best seconds after each round so far.

    >>> expected_saving([])
    inf
    >>> expected_saving([4.0, 4.0]) > expected_saving([4.0, 4.0, 4.0, 4.0])
    True
    >>> expected_saving([4.0, 3.0, 2.0]) > expected_saving([2.0, 2.0, 2.0])
    True
    """
    if not history:
        return float("inf")
    best = history[-1]
    if best is None:  # nothing could be measured yet: the more rounds in vain, the less it is worth
        return 1e-6 / len(history)
    known = [s for s in history if s is not None][-1 - LAST_ROUNDS :]
    lately = (known[0] - best) / (len(known) - 1) if len(known) > 1 else 0.0
    return LATELY * lately + (1 - LATELY) * best / len(history)


def _seconds(study: Study) -> float | None:
    best = fastest(study.trials)
    return best.score if best is not None else None


def _listed(what: Any) -> list[Any]:
    if isinstance(what, str) or not isinstance(what, Sequence) or not what:
        raise WorkbenchError(f"many takes a list of operators or sketches, not {shown(what)}")
    return list(what)


def _item(what: Any) -> tuple[Any, Any]:
    """An operator or sketch, and its sizes."""
    return what if isinstance(what, tuple) and len(what) == 2 else (what, None)


def _weights(weights: Sequence[float] | None, count: int) -> list[float]:
    if weights is None:
        return [1.0] * count
    found = list(weights)
    if len(found) != count:
        raise WorkbenchError(f"there are {len(found)} weights for {count} operators")
    bad = next((w for w in found if isinstance(w, bool) or not isinstance(w, int | float) or not w >= 0), None)
    if bad is not None:
        raise WorkbenchError(f"the weight {shown(bad)} does not fit; expected numbers, 0 or more")
    return [float(w) for w in found]
