"""While a candidate is timed nothing else of the study runs: no builder, no look, no tree that grows."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import workbench as wb
from tests.tune.support import SIZES, SMALL
from workbench.codegen import generate
from workbench.schedules.scheduled_program import as_program
from workbench.tune.measuring.building import Look, Request
from workbench.tune.measuring.helpers import Helper
from workbench.tune.measuring.timing import PAIRS, Load, Prepare, _Runner
from workbench.tune.measuring.workload import workload


def test_no_builder_works_and_no_tree_grows_while_a_candidate_is_timed(database, monkeypatch):
    busy: set[int] = set()
    timed, disturbed = [], []
    send, receive = Helper.send, Helper.receive

    def sent(helper: Helper, request: object) -> None:
        if isinstance(request, Request | Look):
            busy.add(id(helper))
        if isinstance(request, Load):
            timed.append(request)
            growing = [t.name for t in threading.enumerate() if t.name == "growing trees"]
            disturbed.extend([*busy, *growing])
        send(helper, request)

    def received(helper: Helper, seconds: float) -> object:
        try:
            return receive(helper, seconds)
        finally:
            busy.discard(id(helper))

    monkeypatch.setattr(Helper, "send", sent)
    monkeypatch.setattr(Helper, "receive", received)
    study = wb.autotune(wb.ops.matmul, sizes={"M": 24, "N": 20, "K": 28}, trials=22, database=database, seed=1).result()
    assert study.done == 22
    assert len(timed) > 22
    assert disturbed == []


LOADED = """
import pickle, sys
from workbench.tune.measuring import timing
from workbench.tune.measuring.workload import Workload
from pathlib import Path
Workload.load(Path(sys.argv[1]))
pickle.loads(Path(sys.argv[2]).read_bytes())
print(*sys.modules)
"""


def test_the_process_that_times_loads_nothing_that_derives_compiles_or_knows_the_oracle(tmp_path):
    """It starts with every study, while there is much else to do."""
    odd = wb.operator("def odd(float(N,K) A, int32(N) i) -> (R) where in_range(i, 0, N) { R(n) +=! A(i(n),k) }")
    program = as_program(odd, {"N": 5, "K": 7})
    workload(program).save(tmp_path / "workload")
    kernel = generate(wb.autoschedule(program))
    (tmp_path / "load").write_bytes(pickle.dumps(Load("", kernel.signature, kernel.sizes or {})))
    command = [sys.executable, "-c", LOADED, str(tmp_path / "workload"), str(tmp_path / "load")]
    loaded = {*subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()}
    assert "workbench.tune.measuring.timing" in loaded
    heavy = ("islpy", "lark", "workbench.poly", "workbench.schedules", "workbench.ops", "workbench.lang.oracle")
    assert not {name for name in loaded if name.startswith((*heavy, "workbench.codegen.c.", "workbench.runtime.calls"))}


class Kernel:
    """Calls that take a microsecond each."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def begin(self) -> None:
        """Nothing to begin with."""

    def calls(self, times: int) -> tuple[float, int]:
        self.batches.append(times)
        return times * 1e-6, 0


@pytest.mark.parametrize("flush", [True, False])
def test_caches_are_flushed_before_each_call_where_that_is_asked_for(flush):
    runner, kernel = _Runner(), Kernel()
    runner.cache = np.zeros(1 << 10, np.uint8) if flush else None
    found = runner._timed(kernel, Load("", None, {}))  # type: ignore[arg-type]
    assert found.seconds == pytest.approx(1e-6)
    assert len(kernel.batches) > PAIRS[0]
    if runner.cache is None:
        assert max(kernel.batches) > 100  # as many as the clock needs
    else:
        assert set(kernel.batches) == {1}
        assert set(runner.cache.tolist()) == {len(kernel.batches)}


@pytest.mark.parametrize("flush", [True, False])
def test_a_study_says_whether_caches_are_flushed(flush, database, monkeypatch):
    said, send = [], Helper.send

    def sent(helper: Helper, request: object) -> None:
        said.extend([request.flush] if isinstance(request, Prepare) else [])
        send(helper, request)

    monkeypatch.setattr(Helper, "send", sent)
    limits = wb.tune.Limits(flush=flush)
    study = wb.autotune(SMALL, sizes=SIZES, trials=1, database=database, seed=1, limits=limits).result()
    assert {*said} == {flush}
    assert study.done == 1
