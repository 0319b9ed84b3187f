"""While a candidate is timed nothing else of the study runs: no builder, no look, no tree that grows."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import workbench as wb
from tests.tune.support import SIZES, SMALL
from workbench.tune.measuring.building import Look, Request
from workbench.tune.measuring.helpers import Helper
from workbench.tune.measuring.timing import PAIRS, Load, Prepare, _Runner


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
