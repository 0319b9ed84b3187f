"""A learned cost model: boosted trees on the features of schedules, on top of the analytic cycles.

It learns how far the measured seconds are from the analytic ones, so that it is as good as those before it has seen
anything.  Trials of other problems (sizes, operators, machines) are groups of their own: what they share with this is
the order inside a group, so each group is centred.  Several models, each grown on other rows, tell how sure they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import cache, partial
from math import log2
from operator import itemgetter
from threading import Thread
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.records import record

Array = np.ndarray[Any, Any]
Row = Mapping[str, float]

MODELS = 2
"""Models whose difference is the uncertainty."""

BOOSTING = {
    "max_depth": 5, "eta": 0.35, "subsample": 0.8, "colsample_bynode": 0.6, "min_child_weight": 1.0, "lambda": 1.0,
    "max_bin": 32,
}  # fmt: skip
ROUNDS = 20
"""Few trees, each a large step, and two models: twice as many of each found nothing sooner on the recorded spaces."""

FAILED = 2.0
"""What did not run counts as so many times slower than the slowest, as a power of two."""

FORGETTING = 48
"""After so many own trials those of other problems count half."""


@record(slots=True, eq=False)
class Group:
    """Trials of one problem: features, and log2 of seconds (NaN where it failed)."""

    rows: tuple[Row, ...]
    log_seconds: tuple[float, ...]

    @staticmethod
    def of(rows: Sequence[Row], seconds: Sequence[float | None]) -> Group:
        """From seconds; None for what failed."""
        return Group(tuple(rows), tuple(float("nan") if s is None else log2(s) for s in seconds))


class Ranker:
    """Predicts log2 of seconds, and how far that may be off; `others` are groups of other problems.

    Trees grow in threads, which do not hold the interpreter: `fit` returns before they are there, and who asks for a
    prediction waits for them.
    """

    def __init__(
        self, others: Sequence[Group] = (), seed: int = 0, models: int = MODELS, rounds: int = ROUNDS
    ) -> None:  # fmt: skip
        self.others = tuple(g for g in others if sum(x == x for x in g.log_seconds) > 1)
        self.seed = seed
        self.wanted = models
        self.rounds = rounds
        self._growing: list[Future[Any]] = []
        self._named = frozenset[str]().union(*(row for g in self.others for row in g.rows))
        self._prior: list[tuple[Array, Array]] = []
        self.names: list[str] = []
        self.offset = 0.0
        self.count = 0

    @property
    def learned(self) -> bool:
        """Whether there are trees, or will be in a moment."""
        return bool(self._growing)

    @property
    def models(self) -> list[Any]:
        """The trees, once they are grown; none where there was too little to learn from."""
        return [grown.result() for grown in self._growing]

    def fit(self, own: Group) -> None:
        """Begin to learn from the trials of this problem, and from the others."""
        self.count = sum(x == x for x in own.log_seconds)
        names = sorted(self._named.union(*own.rows))
        if names != self.names:
            self.names = names
            self._prior = [self._prepared(g) for g in self.others]
        parts = [*([self._prepared(own)] if own.rows else []), *self._prior]
        analytic = [row.get("cycles", 0.0) for row in own.rows]
        known = [a - y for a, y in zip(analytic, own.log_seconds, strict=True) if y == y]
        self.offset = -float(np.mean(known)) if known else 0.0
        rows = sum(len(x) for x, _ in parts)
        if rows < 4:
            self._growing = []
            return
        weight = 2.0 ** (-self.count / FORGETTING)
        weights = np.concatenate([
            np.full(len(x), 1.0 if place == 0 and own.rows else weight) for place, (x, _) in enumerate(parts)
        ])  # fmt: skip
        table = np.concatenate([x for x, _ in parts])
        aims = np.concatenate([y for _, y in parts])
        xgboost = _xgboost()
        seeds = [self.seed * MODELS + n for n in range(self.wanted)]
        self._growing = [_begun(partial(_grown, xgboost, table, aims, weights, seed, self.rounds)) for seed in seeds]

    def predict(self, rows: Sequence[Row]) -> tuple[Array, Array]:
        """(log2 of seconds, standard deviation) of each row."""
        analytic = np.array([row.get("cycles", 0.0) for row in rows], np.float64)
        if not rows or not self.learned:
            return analytic + self.offset, np.full(len(rows), 1.0)
        mean, deviation = self.correction(self._table(rows))
        return analytic + self.offset + mean, deviation

    def correction(self, table: Array) -> tuple[Array, Array]:
        """(what the trees add to the analytic log2 of seconds, standard deviation) of rows in the order of `names`."""
        found = np.array([model.inplace_predict(table) for model in self.models], np.float64)
        if len(found) == 1:
            return found[0], np.zeros(len(table))
        return found.mean(axis=0), found.std(axis=0)

    def importance(self) -> dict[str, float]:
        """How much each feature contributed to the trees, in parts of all."""
        total: dict[str, float] = {}
        for model in self.models:
            for place, gain in model.get_score(importance_type="total_gain").items():
                name = self.names[int(place[1:])]
                total[name] = total.get(name, 0.0) + gain
        whole = sum(total.values()) or 1.0
        return {name: gain / whole for name, gain in sorted(total.items(), key=lambda p: -p[1])}

    def _prepared(self, group: Group) -> tuple[Array, Array]:
        """(table, how far seconds are from the analytic ones, centred)."""
        analytic = np.array([row.get("cycles", 0.0) for row in group.rows])
        seconds = np.array(group.log_seconds)
        known = seconds == seconds
        off = seconds - analytic
        centre = float(np.mean(off[known])) if known.any() else 0.0
        worst = float(np.max(seconds[known])) + FAILED if known.any() else 0.0
        off = np.where(known, off, worst - analytic)
        return self._table(group.rows), off - centre

    def _table(self, rows: Sequence[Row]) -> Array:
        if len(self.names) > 1:
            with suppress(KeyError):  # nearly always every row has every name
                return np.array(list(map(itemgetter(*self.names), rows)), np.float32)
        return np.array([[row.get(name, np.nan) for name in self.names] for row in rows], np.float32)


def _grown(xgboost: Any, table: Array, aims: Array, weights: Array, seed: int, rounds: int) -> Any:
    """Trees; each model has data of its own, because what XGBoost makes of them when they are first used is no matter
    of two threads.
    """
    data = xgboost.DMatrix(table, label=aims, weight=weights, nthread=1)
    return xgboost.train({**BOOSTING, "nthread": 1, "seed": seed}, data, num_boost_round=rounds)


def _begun(work: Callable[[], Any]) -> Future[Any]:
    """What comes of a function that runs in a thread of its own, which nobody waits for at the end."""
    found: Future[Any] = Future()

    def run() -> None:
        try:
            found.set_result(work())
        except BaseException as error:  # raised where the result is asked for
            found.set_exception(error)

    Thread(target=run, name="growing trees", daemon=True).start()
    return found


def load_trees() -> None:
    """Load what grows trees, which takes a moment; WorkbenchError where it is missing."""
    _xgboost()


@cache
def _xgboost() -> Any:
    try:
        import xgboost
    except ImportError as error:
        advice = "pip install xgboost-cpu (or xgboost), or choose another searcher: wb.tune.searchers()"
        raise WorkbenchError(f"the learned cost model needs XGBoost: {advice}") from error
    return xgboost
