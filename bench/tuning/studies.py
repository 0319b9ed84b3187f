"""One study from the call to the end, as the campaigns make it: a database of its own, nothing known before."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import workbench as wb
from bench.record import Tuned
from bench.tuning.retiming import retimed
from workbench.lang.operator import Operator
from workbench.runtime.host.machine import thread_count
from workbench.tune.study import Study
from workbench.tune.trials import default_of

SEED = 1


def in_turn(
    case: str, operator: Operator, sizes: Mapping[str, int], trials: int,
    also: Callable[[Study], Mapping[str, Any]] = lambda study: {},
) -> Tuned:  # fmt: skip
    """A study in an empty database, whose default and best are timed again, in turn; `also` adds facts."""
    with TemporaryDirectory(prefix="workbench-bench-") as folder:
        study, seconds = studied(operator, sizes, trials, Path(folder) / "trials.sqlite")
        default, best, gain = retimed(study)
        facts = {**facts_of(study, seconds), **also(study)}
        return Tuned(case, dict(sizes), thread_count(), trials, default, best, gain, facts)


def alone(case: str, operator: Operator, sizes: Mapping[str, int], trials: int) -> Tuned:
    """A study of which only is asked what it took."""
    with TemporaryDirectory(prefix="workbench-bench-") as folder:
        study, seconds = studied(operator, sizes, trials, Path(folder) / "trials.sqlite")
        return Tuned(case, dict(sizes), thread_count(), trials, facts=facts_of(study, seconds))


def studied(operator: Operator, sizes: Mapping[str, int], trials: int, database: Path) -> tuple[Study, float]:
    """(study, seconds from the call to the end)."""
    begun = time.perf_counter()
    study = wb.autotune(operator, sizes, trials=trials, database=database, seed=SEED).result()
    return study, time.perf_counter() - begun


def facts_of(study: Study, seconds: float) -> dict[str, Any]:
    """What a study was like: seconds by what they were spent on, points, what the best decided otherwise."""
    space, best = study.assignment.sketch.space, study.best_trial
    usual = {d.name: d.options[0] for d in space.decisions}
    own = best.point if best is not None else {}
    return {
        "wall_seconds": seconds,
        "search_seconds": sum(r.search_seconds for r in study.rounds),
        "measure_seconds": sum(r.measure_seconds for r in study.rounds),
        "built_and_timed": study.done,
        "twins": study.twins,
        "points": space.size,
        "outcomes": {name: count for name, count in study.outcomes.items() if count},
        "default_alone": _seconds(default_of(study.trials)),
        "best_alone": _seconds(best),
        "decided": {name: value for name, value in own.items() if usual.get(name) != value},
        "steps": best.steps if best is not None else "",
    }


def _seconds(trial: Any) -> float | None:
    return trial.seconds if trial is not None else None
