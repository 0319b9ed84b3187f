"""How well the model of times on a GPU ranks what was measured: `python -m bench.gpu.estimates`, on a machine with one.

Each case is tuned, and the model's estimate of every measured trial, made without looking at its time, is compared with
it: Kendall's tau, the part of the best that is among the best estimates, and how much slower the best estimate is.
"""

from __future__ import annotations

import argparse
from tempfile import TemporaryDirectory

import workbench as wb
from bench.gpu.cases import CASES
from workbench.errors import WorkbenchError
from workbench.runtime.compilers.gpu_compiling import gpu_resources
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.tune.models.gpu_times import Registers, kernel_times, total_seconds
from workbench.tune.models.gpu_work import kernel_of
from workbench.tune.models.quality import RankQuality, rank_quality
from workbench.tune.study import Study

TRIALS = 64


def estimated(schedule: Schedule, target: Target) -> float:
    """Seconds that the model expects, with the registers that the compiler gives."""
    resources = gpu_resources(kernel_of(schedule, target))
    known = {k.name: Registers(k.registers, k.spill_store_bytes + k.spill_load_bytes) for k in resources.kernels}
    return total_seconds(kernel_times(schedule, target, known))


def quality(study: Study) -> RankQuality | None:
    """The model's ranking of a study's measured trials; None with fewer than two."""
    measured = [t for t in study.trials if t.seconds is not None]
    expected = [estimated(study.schedule(t), study.assignment.target) for t in measured]
    return rank_quality(expected, [t.seconds or 0.0 for t in measured])


def main() -> None:
    """A line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a case's name")
    parser.add_argument("--trials", type=int, default=TRIALS)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        for case in (c for c in CASES if given.only in c.name):
            operator = wb.ops.load(case.operator)
            try:
                study = wb.autotune(
                    operator, case.sizes, "cuda", given.trials, "random", f"{folder}/trials.sqlite", seed=1
                ).result()
                said = "no GPU: nothing was measured" if study.ranked else str(quality(study))
            except WorkbenchError as error:
                said = f"{type(error).__name__}: {error}"
            print(f"{case.name}: {said}", flush=True)


if __name__ == "__main__":
    main()
