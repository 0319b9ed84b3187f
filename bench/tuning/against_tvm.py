"""python -m bench.tuning.against_tvm: a study beside MetaSchedule, with as many trials, from scratch.

Our study knows nothing: its database is empty, the default recipe is neither measured nor where the search begins.
What both found is timed in the same rounds by bench.rounds, plain arrays in and out.  The trials that were our best so
far are timed once more, in turn with the last of them: a lucky timing is no result.  Those of MetaSchedule are brought
onto the scale of the rounds by what became of its final result.  Its clock begins when it is imported, ours when the
call does; its trials come in batches, each of which counts when it ends.  Its result is reached by what is as fast as
far as rounds can tell (1 %).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import workbench as wb
from bench.contenders import operator_of
from bench.record import Comparison, Tuned
from bench.rounds import SEARCH_SECONDS, Effort, compare, contender_worker
from bench.suite import CASES as SUITE
from bench.suite import Case
from bench.tuning.campaign import Campaign, main
from bench.tuning.retiming import passes_of
from bench.tuning.studies import facts_of
from workbench.runtime.host.machine import thread_count
from workbench.tune.measuring.building import Request
from workbench.tune.study import Study
from workbench.tune.trials import Trial, fastest

TRIALS, EARLY = 200, 20
TIE = 1.01
TVM_TRIALS = "WORKBENCH_BENCH_TVM_TRIALS"
EFFORT = Effort(rounds=7, seconds=0.15)
HISTORY = "history.jsonl"

GELU = """
def matmul_bias_gelu(float(M,K) A, float(K,N) B, float(N) b) -> (O) {
    H(m,n) +=! A(m,k) * B(k,n)
    X(m,n) = H(m,n) + b(n)
    O(m,n) = 0.5 * X(m,n) * (1.0 + tanh(0.7978845608 * (X(m,n) + 0.044715 * X(m,n) * X(m,n) * X(m,n))))
}
"""

RESIDUAL = """
def scaled_residual_relu(float(M,N) X, float(N) s, float(N) b, float(M,N) R) -> (O) {
    S(m,n) = X(m,n) * s(n) + b(n)
    T(m,n) = S(m,n) + R(m,n)
    O(m,n) = fmax(T(m,n), 0.0)
}
"""

NAMES = ("matmul 512", "matmul 1024", "conv 3x3 64x56x56 to 64", "softmax 4096x1024")
CHAINS = (
    Case(
        "matmul + bias + GELU 512", "matmul_bias_gelu", {"M": 512, "N": 512, "K": 512}, "", "matmul_bias_gelu",
        text=GELU,
    ),
    Case(
        "scale + residual + ReLU 4096x1024", "scaled_residual_relu", {"M": 4096, "N": 1024}, "",
        "scaled_residual_relu", text=RESIDUAL,
    ),
)  # fmt: skip
CASES = {case.name: case for case in (*(c for name in NAMES for c in SUITE if c.name == name), *CHAINS)}

Curve = list[tuple[float, float | None]]
"""(seconds since the search began, seconds of a call) of each trial, in order."""


def run(case: str, trials: int) -> Tuned:
    """One case: their search (unless it is kept from before), ours, and both results timed together."""
    own, threads = CASES[case], thread_count()
    os.environ[TVM_TRIALS] = str(trials)
    with TemporaryDirectory(prefix="workbench-bench-") as folder:
        theirs = contender_worker("tvm", threads, Path(folder) / "tvm")
        try:
            answer = theirs.ask({"do": "prepare", "case": asdict(own)}, SEARCH_SECONDS["tvm"])
            if "function" not in answer:
                raise RuntimeError(f"MetaSchedule on {case}: {answer}")
            database = Path(folder) / "trials.sqlite"
            study, began, seconds = alone(own, trials, database)
            os.environ["WORKBENCH_DATABASE"] = str(database)
            ours = contender_worker("workbench", threads, Path(folder) / "workbench")
            with_both = compare(own, {"workbench": ours, "tvm": theirs}, EFFORT)
            ours.close()
        finally:
            theirs.close()
    about, _, kept = answer["function"].rpartition(", kept in ")  # where it is kept is of this machine alone
    head, their_curve = history(Path(kept) / HISTORY)
    found = compared(study, began, their_curve, with_both) | facts_of(study, seconds) | {"tvm": about}
    return Tuned(case, dict(own.sizes), threads, trials, facts=found | head, gain=found["final_ratio"])


def alone(case: Case, trials: int, database: Path) -> tuple[Study, float, float]:
    """(our study, when it was called for, the seconds it took)."""
    began, begun = time.time(), time.perf_counter()
    study = wb.autotune(operator_of(case), case.sizes, trials=trials, database=database, seed=1, default=False).result()
    return study, began, time.perf_counter() - begun


def compared(study: Study, began: float, theirs: Curve, both: Comparison) -> dict[str, Any]:
    """Both curves in seconds of the rounds, and after how many trials and seconds ours reached their last result."""
    times = {name: r.fresh for name, r in both.results.items()}
    if times["workbench"] is None or times["tvm"] is None:
        raise RuntimeError(f"{both.case}: {[r.missing for r in both.results.values()]}")
    ours_last, theirs_last = times["workbench"].seconds, times["tvm"].seconds
    tried = [t for t in study.database.trials(study.key.key) if t.source == "search"]  # as they were before the finals
    tried = sorted(tried, key=lambda t: t.number)
    ratios = again(study, records_of(tried))
    curve: Curve = [
        (t.began + t.run_seconds - began, ours_last * ratios[t.number] if t.number in ratios else None) for t in tried
    ]
    early = min(s for _, s in curve[:EARLY] if s is not None)
    trial, at = reached(curve, TIE * theirs_last)
    recorded = least(theirs)
    return {
        "ours": curve,
        "theirs": [(at, None if s is None else s * theirs_last / recorded) for at, s in theirs],
        "ours_last": ours_last, "theirs_last": theirs_last, "theirs_recorded": recorded,
        "final_ratio": theirs_last / ours_last,
        "reached_trial": trial, "reached_seconds": at,
        "early_ratio": theirs_last / early,
        "theirs_seconds": theirs[-1][0],
    }  # fmt: skip


def records_of(tried: Sequence[Trial]) -> list[Trial]:
    """The trials that were faster than all before them."""
    found: list[Trial] = []
    for trial in tried:
        if trial.seconds is not None and (not found or trial.seconds < (found[-1].seconds or 0.0)):
            found.append(trial)
    return found


def again(study: Study, trials: Sequence[Trial]) -> dict[int, float]:
    """The time of each trial over that of the study's best, both timed again in turn, by the trial's number."""
    best = fastest(study.trials)
    assert best is not None
    every = {t.number: t for t in (*trials, best)}
    passes = passes_of(study.assignment, [Request(n, {}, study.schedule(t)) for n, t in every.items()])
    return {t.number: passes.ratio(t.number, best.number) for t in trials}


def least(curve: Curve) -> float:
    """The fastest trial's seconds."""
    return min((s for _, s in curve if s is not None), default=float("inf"))


def reached(curve: Curve, seconds: float) -> tuple[int | None, float | None]:
    """(trial, when) a curve first came to so few seconds; None where it never did."""
    for number, (at, own) in enumerate(curve, 1):
        if own is not None and own <= seconds:
            return number, at
    return None, None


def history(file: Path) -> tuple[dict[str, Any], Curve]:
    """What MetaSchedule's callback wrote: the seconds of its import, and its trials."""
    lines = []
    for text in file.read_text(encoding="utf-8").splitlines():
        with suppress(json.JSONDecodeError):
            lines.append(json.loads(text))
    head, *batches = lines
    curve = [(batch["at"] - head["began"], s) for batch in batches for s in batch["seconds"]]
    return {"import_seconds": head["import_seconds"], "batches": len(batches)}, curve


CAMPAIGN = Campaign("against_tvm", "a study beside MetaSchedule", TRIALS, CASES, run)

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN))
