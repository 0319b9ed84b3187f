"""Contenders in turns: who differs, fails, dies or hangs is an outcome, not the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.rounds import Effort, compare, worker_pool
from bench.suite import CASES, Case
from bench.workers.worker_pool import Worker

CASE = next(case for case in CASES if case.name == "moments 128x2304")
EFFORT = Effort(rounds=3, seconds=0.001)


class Actor(Worker):
    """A worker that plays its part: `error` is added to its results, each turn takes `seconds`."""

    def __init__(self, contender: str, seconds: float, error: float = 0.0, wrong: dict[str, Any] | None = None) -> None:
        super().__init__(contender, 1, Path())
        self.seconds, self.error, self.wrong = seconds, error, wrong
        self.asked: list[str] = []
        self.log: list[str] = []

    def ask(self, request: dict[str, Any], limit_seconds: float) -> dict[str, Any]:
        self.asked.append(request["do"])
        self.log.append(f"{request['do']} {self.contender}")
        match request["do"]:
            case "prepare":
                return self.wrong or {"first_seconds": 0.5, "function": ""}
            case "results":
                np.savez(request["file"], a0=np.arange(5.0) + self.error, a1=np.arange(3))
                return {"forms": 1}
            case _ if request["form"] == "preallocated" and self.contender == "numpy":
                return {"unavailable": "has no preallocated form"}
        return {"times": [self.seconds] * 3, "calls": 3}


def stage(*others: Worker) -> dict[str, Worker]:
    return {w.contender: w for w in (Actor("workbench", 2.0), *others, Actor("copy", 0.5))}


def test_a_ratio_is_their_time_over_ours():
    row = compare(CASE, stage(Actor("numpy", 3.0)), EFFORT)
    assert row.ratios == {"numpy": {"fresh": 1.5}}
    assert row.results["numpy"].preallocated is None
    assert row.copy is not None
    assert row.copy.fresh is not None
    assert row.copy.fresh.seconds == 0.5


def test_turns_alternate():
    ours, other = Actor("workbench", 1.0), Actor("numpy", 1.0)
    other.log = ours.log
    compare(Case("m", "moments", CASE.sizes, "moments", ""), {"workbench": ours, "numpy": other}, EFFORT)
    turns = [what.removeprefix("time ") for what in ours.log if what.startswith("time")]
    assert turns[:6] == ["workbench", "numpy", "numpy", "workbench", "workbench", "numpy"]


@pytest.mark.parametrize("error", [0.1, float("nan"), float("inf")])
def test_who_computes_something_else_is_not_timed(error):
    other = Actor("numpy", 1.0, error)
    row = compare(CASE, stage(other), EFFORT)
    assert row.results["numpy"].missing.startswith("differs")
    assert row.results["numpy"].fresh is None
    assert "time" not in other.asked
    assert row.ratios == {"numpy": {}}


def test_a_rounding_error_is_no_difference():
    row = compare(CASE, stage(Actor("numpy", 1.0, 1e-6)), EFFORT)
    assert row.results["numpy"].missing == ""
    assert row.results["numpy"].difference == pytest.approx(2.5e-7)


def test_who_fails_is_named_and_the_others_go_on():
    pytest.importorskip("torch", reason="install torch: a contender that goes on")
    failing = Actor("numpy", 1.0, wrong={"failed": "ValueError: no"})
    row = compare(CASE, stage(failing, Actor("torch.compile/x", 1.0)), EFFORT)
    assert row.results["numpy"].missing == "failed: ValueError: no"
    assert row.results["torch.compile/x"].fresh is not None


def test_without_our_result_the_others_are_still_compared_and_timed():
    workers = {"workbench": Actor("workbench", 1.0, wrong={"failed": "no"}), "numpy": Actor("numpy", 1.0)}
    row = compare(CASE, {**workers, "copy": Actor("copy", 1.0)}, EFFORT)
    assert row.results["numpy"].fresh is not None
    assert row.ratios == {"numpy": {}}


def test_a_worker_that_died_says_so_and_starts_again(tmp_path):
    worker = Worker("numpy", 1, tmp_path)
    request = {"do": "time", "form": "fresh", "seconds": 0.01}
    try:
        assert worker.ask(dict(request), 60) == {"unavailable": "nothing is prepared"}
        assert worker.process is not None
        worker.process.kill()
        worker.process.wait()
        assert worker.ask(dict(request), 60) == {"unavailable": "nothing is prepared"}
        worker.process.stdin.close()
        worker.process.wait()
        assert "failed" in worker.ask({"do": "nonsense"}, 60)
    finally:
        worker.close()


def test_a_worker_that_takes_too_long_is_ended(tmp_path):
    worker = Worker("numpy", 1, tmp_path)
    answer = worker.ask({"do": "time", "form": "fresh", "seconds": 0.01}, 1e-4)
    assert "took over" in answer["failed"]
    assert worker.process is None


def test_a_contender_that_nobody_knows_says_so():
    with worker_pool(["nobody"], 1) as workers:
        row = compare(CASE, workers, EFFORT)
    assert "unknown contender 'nobody'" in row.results["nobody"].missing


def test_without_a_process_that_copies_the_others_are_timed_alone():
    row = compare(CASE, {"workbench": Actor("workbench", 2.0), "numpy": Actor("numpy", 3.0)}, EFFORT)
    assert CASE.memory_bound
    assert row.copy is None
    assert row.ratios == {"numpy": {"fresh": 1.5}}
