"""A refused step comes with what would be accepted; whatever is offered is."""

from __future__ import annotations

import time
from collections import Counter
from random import Random

import pytest

import workbench as wb
from tests.poly.making import Maker
from tests.properties.wild_steps import wild_step
from tests.schedules.texts import EVERY, MATMUL, SEIDEL
from tests.support import examples
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.schedules import Schedule, Transform
from workbench.schedules.repairs import search

LAG = "def lag(float(N) X) -> (float(N) A) { A(i) = X(i)  A(i) = A(i-8) + X(i) where i in 8:N }"
NEIGHBOURS = """
def neighbours(float(N,M) X) -> (A, B) {
    A(i,j) = X(i,j) where i in 0:N, j in 0:M
    B(i,j) = A(i,j+1) + A(i,j) where i in 0:N, j in 0:M-1
}"""


ORDER = ("interchange", "merge", "distribute", "parallelize", "tile", "vectorize")


def refused(schedule: Schedule, step: Transform) -> IllegalSchedule:
    with pytest.raises(IllegalSchedule) as caught:
        schedule | step
    return caught.value


def texts(error: IllegalSchedule) -> list[str]:
    return [str(repair) for repair in error.repairs]


def test_lanes_reach_as_far_as_the_next_dependence() -> None:
    error = refused(wb.schedule(wb.operator(LAG)), wb.vectorize("A.1/i"))
    assert texts(error)[0] == "split('A.1/i', 8) | vectorize('A.1/i_i')"


def test_fusion_of_fewer_loops() -> None:
    error = refused(wb.schedule(wb.operator(NEIGHBOURS)), wb.merge("A", "B", depth=2))
    assert "merge('A', 'B')" in texts(error)


def test_threads_go_to_the_outermost_loop_that_takes_them() -> None:
    error = refused(wb.schedule(wb.operator(MATMUL)), wb.parallelize("k"))
    assert [t for t in texts(error) if t.startswith("parallelize")][0] == "parallelize('m')"  # noqa: RUF015


def test_a_message_shows_the_first_repair_and_looks_for_no_other() -> None:
    error = refused(wb.schedule(wb.operator(MATMUL)), wb.parallelize("k"))
    told = str(error)
    assert told.endswith(f"; instead: {error.repairs[0]}")
    assert str(error) == told
    assert error.repairs is not error.repairs
    assert error.repairs == error.repairs


def test_the_search_ends_with_its_time(monkeypatch) -> None:
    monkeypatch.setattr(search, "SECONDS", 0.0)
    assert refused(wb.schedule(wb.operator(MATMUL)), wb.parallelize("k")).repairs == ()
    monkeypatch.setattr(search, "SECONDS", 1.0)
    monkeypatch.setattr(search, "accepted", lambda *_: time.sleep(0.3))
    start = time.monotonic()
    assert refused(wb.schedule(wb.operator(SEIDEL)), wb.parallelize("t")).repairs == ()
    assert time.monotonic() - start < 20


def offered(schedule: Schedule, step: Transform, counts: Counter[str]) -> None:
    """Every repair of a refused step is accepted, one step after another."""
    try:
        schedule | step
    except IllegalSchedule as error:
        counts["refused"] += 1
        counts["repaired"] += bool(error.repairs)
        for repair in error.repairs:
            assert (schedule | repair).verdict, (str(step), str(repair))
            assert repair != step
    except ScheduleError:
        counts["does not fit"] += 1


def test_repairs_on_known_operators_are_accepted() -> None:
    counts: Counter[str] = Counter()
    for text, sizes in EVERY.values():
        schedule = wb.schedule(wb.operator(text), **sizes)
        for offer in wb.next_steps(schedule, seconds=5.0, only=ORDER).refused:
            offered(schedule, offer.step, counts)
    assert counts["repaired"] > 5


def test_repairs_on_random_programs_are_accepted() -> None:
    counts: Counter[str] = Counter()
    for seed in range(examples(quick=15, ci=30, full=1000)):
        random = Random(seed)
        schedule = wb.schedule(Maker(seed).operator())
        for _ in range(4):
            step = wild_step(schedule, random)
            if step is not None and step.name != "affine":
                offered(schedule, step, counts)
    assert counts["repaired"]
