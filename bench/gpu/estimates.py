"""How well the model of times on a GPU ranks what was measured: `python -m bench.gpu.estimates`, on a machine with one.

Each case takes `--seconds` at most: it is tuned, and the estimate of every measured trial, made without looking at its
time, is compared with it: Kendall's tau, the part of the best that is among the best estimates, and how much slower the
best estimate is.  Trials are printed as they come.
"""

from __future__ import annotations

import argparse
import time
from math import inf
from tempfile import TemporaryDirectory

import workbench as wb
from bench.gpu.cases import CASES, GpuCase
from workbench.errors import WorkbenchError
from workbench.runtime.compilers.gpu_compiling import gpu_resources
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.tune.models.gpu_times import Registers, kernel_times, total_seconds
from workbench.tune.models.gpu_work import kernel_of
from workbench.tune.models.quality import RankQuality, rank_quality
from workbench.tune.study import Study

TRIALS, SECONDS = 64, 60.0
TUNED = 0.7
"""The part of its seconds that a case is tuned for; the rest is for the estimates."""

LOOK_SECONDS = 0.1


def estimated(schedule: Schedule, target: Target) -> float:
    """Seconds that the model expects, with the registers that the compiler gives."""
    resources = gpu_resources(kernel_of(schedule, target))
    known = {k.name: Registers(k.registers, k.spill_store_bytes + k.spill_load_bytes) for k in resources.kernels}
    return total_seconds(kernel_times(schedule, target, known))


def quality(study: Study, seconds: float = inf) -> RankQuality | None:
    """The model's ranking of a study's measured trials, of as many as have an estimate after so many seconds; None with
    fewer than two.
    """
    end, expected, found = time.perf_counter() + seconds, list[float](), list[float]()
    for trial in study.trials:
        if trial.seconds is not None and time.perf_counter() < end:
            expected.append(estimated(study.schedule(trial), study.assignment.target))
            found.append(trial.seconds)
    return rank_quality(expected, found)


def tuned(case: GpuCase, trials: int, seconds: float, database: str) -> Study:
    """A study of random points, stopped after so many seconds; its trials are printed as they come."""
    begun, operator = time.perf_counter(), wb.ops.load(case.operator)
    study = wb.autotune(operator, case.sizes, "cuda", trials, "random", database, seed=1)
    points, said = study.assignment.sketch.space.size, 0
    print(f"{case.name}: {points:,} points, found in {time.perf_counter() - begun:.1f} s", flush=True)
    while time.perf_counter() - begun < seconds and study.state == "running":
        time.sleep(LOOK_SECONDS)
        for trial in study.trials[said:]:
            print(f"  {time.perf_counter() - begun:5.1f} s  {trial}", flush=True)
            said += 1
    if study.state == "running":
        study.stop()
    return study.result()


def main() -> None:
    """A line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a case's name")
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a case")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        for case in (c for c in CASES if given.only in c.name):
            try:
                study = tuned(case, given.trials, TUNED * given.seconds, f"{folder}/trials.sqlite")
                ranked = "no GPU: nothing was measured"
                said = ranked if study.ranked else str(quality(study, (1 - TUNED) * given.seconds))
            except WorkbenchError as error:
                said = f"{type(error).__name__}: {error}"
            print(f"{case.name}: {said}", flush=True)


if __name__ == "__main__":
    main()
