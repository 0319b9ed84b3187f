"""Every point of the five spaces measured once: python -m bench.tuning.replays.recording [space ...].

A recording that was broken off goes on where it was.  One thread, an otherwise idle machine; the fastest points are
timed again, longer.  What is kept of a space stands in `recorded/<name>.npz`: the options of each point by
number, its seconds (nan where there are none) and its features, for the sizes of the space and, of some hundred random
points, for other sizes.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import workbench as wb
from bench.tuning.replays.spaces import SPACES, Recorded
from workbench.records import record
from workbench.runtime.host.machine import this_machine
from workbench.tune.measuring.building import Request
from workbench.tune.measuring.local_runner import LocalRunner
from workbench.tune.models.object_code import of_schedule
from workbench.tune.study import Study
from workbench.tune.trials import Trial

FOLDER = Path(__file__).parent / "recorded"
CONFIRMED, PATIENCE, PASSES = 120, 4.0, 3
"""So many of the fastest points are timed again, so many times as long, so often: their medians are kept."""

LEARNED_FROM = 256
"""Points of each of the other sizes."""


@record(eq=False)
class Recording:
    """Points of a space at some sizes: options by number (points x decisions), seconds, features (points x names)."""

    sizes: Mapping[str, int]
    index: np.ndarray
    seconds: np.ndarray
    features: np.ndarray
    names: tuple[str, ...]

    def rows(self) -> list[dict[str, float] | None]:
        """The features of each point by name; None for one that was not built."""
        found = [dict(zip(self.names, row, strict=True)) for row in self.features.tolist()]
        return [None if isnan(row[self.names[0]]) else row for row in found]


def recorded(name: str) -> tuple[dict[str, Any], list[Recording]]:
    """What is kept of a space: words about it, and its recordings, the whole one first."""
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as kept:
        about = json.loads(str(kept["about"]))
        return about, [
            Recording(
                sizes, kept[f"index{n}"], kept[f"seconds{n}"].astype(float), kept[f"features{n}"].astype(float),
                tuple(about["features"]),
            )
            for n, sizes in enumerate(about["sizes"])
        ]  # fmt: skip


def record_space(own: Recorded, database: Path) -> None:
    """Measure what is not measured yet, and write the file."""
    with wb.settings(threads=1):
        studies = [study(own.make(**own.sizes), "grid", None, database)]
        studies += [study(own.make(**sizes), "random", LEARNED_FROM, database) for sizes in own.others]
    fastest = again(studies[0])
    names = sorted({name for s in studies for t in s.trials for name in of_schedule(t.features or {})})
    about = {"sizes": [dict(own.sizes), *map(dict, own.others)], "features": names, "machine": machine()}
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about))}
    for n, one in enumerate(studies):
        space = one.assignment.sketch.space
        trials = [t for t in one.trials if t.source == "search"]
        arrays[f"index{n}"] = np.array([space.index(space.restored(t.point)) for t in trials], dtype="u1")
        arrays[f"seconds{n}"] = np.array([seconds_of(t, fastest if not n else {}) for t in trials])
        features = [[(t.features or {}).get(name, np.nan) for name in names] for t in trials]
        arrays[f"features{n}"] = np.array(features, dtype="f4")
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / f"{own.name}.npz", **arrays)


def machine() -> str:
    """What the seconds were measured on."""
    own = this_machine()
    return f"one thread, vectors of {own.vector_bits} bits, caches of {', '.join(map(str, own.cache_bytes))} bytes"


def study(sketch: wb.Sketch, searcher: str, trials: int | None, database: Path) -> Study:
    """All points in order, or some at random."""
    trials = trials or sketch.space.size
    return wb.autotune(sketch, trials=trials, searcher=searcher, database=database, seed=1).result()


def again(study: Study) -> dict[int, float]:
    """Seconds of the fastest points, medians of several passes over all of them, by the number of the trial."""
    measured = sorted((t for t in study.trials if t.seconds and t.source == "search"), key=lambda t: t.seconds or 0.0)
    space = study.assignment.sketch.space
    requests = [Request(t.number, space.restored(t.point)) for t in measured[:CONFIRMED]]
    runner, found = LocalRunner(), defaultdict[int, list[float]](list)
    runner.open(study.assignment)
    try:
        for _ in range(PASSES):
            for result in runner.again(requests, PATIENCE):
                if result.seconds:
                    found[result.number].append(result.seconds)
    finally:
        runner.close()
    return {number: median(seconds) for number, seconds in found.items()}


def seconds_of(trial: Trial, fastest: Mapping[int, float]) -> float:
    """Seconds, the later ones where there are any."""
    return fastest.get(trial.number, trial.seconds if trial.seconds is not None else float("nan"))


def main() -> None:
    for name in sys.argv[1:] or SPACES:
        record_space(SPACES[name], Path(f"recording-{name}.sqlite"))
        about, (whole, *_) = recorded(name)
        best = np.nanmin(whole.seconds)
        near = int((whole.seconds <= 1.05 * best).sum())
        said = f"{name}: {len(whole.seconds)} points, best {best * 1e6:.1f} us, {near} within 5 %"
        print(f"{said} ({about['machine']})", flush=True)


if __name__ == "__main__":
    main()
