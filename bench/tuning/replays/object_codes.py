"""Whether features of machine code help the learned model: python -m bench.tuning.replays.object_codes [space ...].

Some recorded points of each space are built once more, in about three minutes on two cores, and nothing is timed.  The
model learns from trials of the space and of other sizes, or from other sizes alone, or from other operators alone, and
ranks points that it did not see.  Printed is Kendall's tau, the mean of several draws of what is learned from:
"without" the features, "known" where those of every point are (as after building all of them), "absent" where only what
was learned from has them, "foretold" where trees that learned them from the features of schedules fill them in.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from multiprocessing import Pool
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import workbench as wb
from bench.tuning.replays.recording import recorded
from bench.tuning.replays.spaces import SPACES
from workbench.codegen import generate
from workbench.records import record
from workbench.runtime.calls.bare import build_bare
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.host.machine import this_machine
from workbench.tune.models.object_code import object_features
from workbench.tune.models.quality import kendall_tau
from workbench.tune.models.ranker import BOOSTING, Group, Ranker

Row = dict[str, float]
POINTS, OTHER_POINTS, DRAWS = 160, 48, 12
LEARNED = (16, 64)
BATCH = 16


@record
class Sample:
    """A recorded point: the features of its schedule, those of its machine code, its seconds."""

    plain: Row
    made: Row
    seconds: float


def samples(name: str, which: int, places: Sequence[Sequence[int]]) -> list[Sample]:
    """Some points of a recording, built."""
    own = SPACES[name]
    rows, seconds = _recorded(name, which)
    found: list[Sample] = []
    with wb.settings(threads=1):
        sketch = own.make(**[own.sizes, *own.others][which])
        for place in places:
            with tempfile.TemporaryDirectory() as folder:
                kernel = generate(sketch.at(sketch.space.at(place)), this_machine())
                made = object_features(build_bare(kernel, preferred_toolchain(), Path(folder)))
            decided = {f"decision {d.name}": float(n) for d, n in zip(sketch.space.decisions, place, strict=True)}
            found.append(Sample({**rows[tuple(place)], **decided}, made, seconds[tuple(place)]))
    return found


def _recorded(name: str, which: int) -> tuple[dict[tuple[int, ...], Row], dict[tuple[int, ...], float]]:
    """Features and seconds of the points of a recording that ran."""
    one = recorded(name)[1][which]
    ran = [
        (tuple(place), row, s)
        for place, row, s in zip(one.index.tolist(), one.rows(), one.seconds.tolist(), strict=True)
        if row is not None and not isnan(s)
    ]  # fmt: skip
    return {place: row for place, row, _ in ran}, {place: s for place, _, s in ran}


def drawn(names: Sequence[str]) -> dict[str, list[list[Sample]]]:
    """Of each space samples at its own sizes, and at each of the others."""
    jobs: list[tuple[str, int, list[tuple[int, ...]]]] = []
    for name in names:
        for which in range(1 + len(SPACES[name].others)):
            places = sorted(_recorded(name, which)[0])
            random.Random(which).shuffle(places)
            places = places[: OTHER_POINTS if which else POINTS]
            jobs += [(name, which, places[n : n + BATCH]) for n in range(0, len(places), BATCH)]
    found = {name: [[] for _ in range(1 + len(SPACES[name].others))] for name in names}
    with Pool(2) as pool:
        for (name, which, _), made in zip(jobs, pool.starmap(samples, jobs, chunksize=1), strict=True):
            found[name][which] += made
    return found


class Foreteller:
    """Trees for each feature of machine code, which learned it from those of schedules."""

    def __init__(self, known: Sequence[Sample], seed: int) -> None:
        import xgboost

        self.xgboost = xgboost
        self.names = sorted({name for s in known for name in s.plain})
        self.trees: dict[str, Any] = {}
        for name in sorted({name for s in known for name in s.made}):
            own = [s for s in known if name in s.made]
            aims = [s.made[name] for s in own]
            if len({*aims}) > 1:
                data = xgboost.DMatrix(self._table(own), label=aims, nthread=1)
                self.trees[name] = xgboost.train({**BOOSTING, "nthread": 1, "seed": seed}, data, num_boost_round=20)

    def __call__(self, wanted: Sequence[Sample]) -> list[Row]:
        if not wanted:
            return []
        data = self.xgboost.DMatrix(self._table(wanted), nthread=1)
        columns = {name: tree.predict(data).tolist() for name, tree in self.trees.items()}
        return [{**s.plain, **{name: c[n] for name, c in columns.items()}} for n, s in enumerate(wanted)]

    def _table(self, wanted: Sequence[Sample]) -> np.ndarray:
        return np.array([[s.plain.get(name, np.nan) for name in self.names] for s in wanted], np.float32)


def plain(wanted: Sequence[Sample]) -> list[Row]:
    return [s.plain for s in wanted]


def whole(wanted: Sequence[Sample]) -> list[Row]:
    return [{**s.plain, **s.made} for s in wanted]


def taus(own: Sequence[Sample], others: Sequence[Sequence[Sample]], asked: Sequence[Sample], seed: int) -> list[float]:
    """Kendall's tau on the points that are asked for: without, known, absent, foretold."""
    foretold = Foreteller([s for group in (own, *others) for s in group], seed)
    ways: list[tuple[Callable[..., list[Row]], Callable[..., list[Row]]]] = [
        (plain, plain), (whole, whole), (whole, plain), (foretold, foretold),
    ]  # fmt: skip
    found = []
    for learned, predicted in ways:
        ranker = Ranker([Group.of(learned(g), [s.seconds for s in g]) for g in others], seed)
        ranker.fit(Group.of(learned(own), [s.seconds for s in own]))
        expected = ranker.predict(predicted(asked))[0].tolist()
        found.append(kendall_tau([(e, s.seconds) for e, s in zip(expected, asked, strict=True)]))
    return found


def main() -> None:
    known = drawn(sys.argv[1:] or list(SPACES))
    totals: dict[str, list[list[float]]] = {}
    for name, (own, *sizes) in known.items():
        operators = [_without_decisions(groups[0]) for other, groups in known.items() if other != name]
        cases: list[tuple[str, int, list[list[Sample]]]] = [(f"{n} trials", n, []) for n in LEARNED]
        cases += [(f"{n} trials, other sizes", n, sizes) for n in LEARNED]
        cases += [("other sizes alone", 0, sizes), ("other operators alone", 0, operators)]
        for case, count, others in cases:
            found = []
            for seed in range(DRAWS if count else 3):
                mixed = random.Random(seed).sample(own, len(own))
                found.append(taus(mixed[:count], others, mixed[count:], seed))
            totals.setdefault(case, []).append(means := [mean(column) for column in zip(*found, strict=True)])
            print(f"{name:12} {case:24} {said(means)}", flush=True)
    for case, rows in totals.items():
        print(f"{'all':12} {case:24} {said([mean(column) for column in zip(*rows, strict=True)])}")


def _without_decisions(group: Sequence[Sample]) -> list[Sample]:
    """Those of other operators have the same names, and mean something else."""
    rows = [{name: x for name, x in s.plain.items() if not name.startswith("decision ")} for s in group]
    return [replace(s, plain=row) for s, row in zip(group, rows, strict=True)]


def said(values: Sequence[float]) -> str:
    names = ("without", "known", "absent", "foretold")
    return "  ".join(f"{name} {value:.3f}" for name, value in zip(names, values, strict=True))


if __name__ == "__main__":
    main()
