"""Ctrl-C in the middle of a question: it reaches the user, and the next question is answered."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from types import FrameType

import pytest

import workbench as wb
from workbench.errors import BudgetExceeded, IllegalSchedule, ScheduleError
from workbench.poly.sets import isl

TILES = {"C/m": 8, "C/n": 8, "C/k": 4}


@pytest.fixture
def interrupted() -> Iterator[None]:
    """An interrupt every tenth of a second, until the test ends."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def asked_for_ever() -> None:
    """Questions of all kinds; each round has other sizes, so that nothing is remembered."""
    for size in count(50):
        start = wb.schedule(wb.ops.load("matmul"), M=size) | wb.decompose_reduction("C") | wb.tile(TILES)
        staged = start | wb.stage("A", "k_o") | wb.stage("C", "n_o")
        _ = staged | wb.isolate("n_o")
        with suppress(ScheduleError):
            _ = staged | wb.pad("k_o")
        wb.next_steps(staged)


@pytest.mark.usefixtures("interrupted")
def test_an_interrupt_ends_a_question_and_leaves_everything_in_order():
    with pytest.raises(KeyboardInterrupt):
        asked_for_ever()
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert isl._depth == 0
    assert isl.islpy.DEFAULT_CONTEXT.get_max_operations() == 0
    start = wb.schedule(wb.ops.load("matmul"), M=40) | wb.decompose_reduction("C") | wb.tile(TILES)
    assert (start | wb.stage("A", "k_o") | wb.isolate("n_o")).verdict


def test_a_step_that_needs_more_than_its_cap_says_so():
    start = wb.schedule(wb.ops.load("matmul"), M=41) | wb.decompose_reduction("C") | wb.tile(TILES)
    with wb.poly.budget(500):
        with pytest.raises(BudgetExceeded, match="after 500 polyhedral operations"):
            _ = start | wb.stage("A", "k_o")
        assert start.can(wb.stage("A", "k_o")).outcome == "unknown"
    assert start.can(wb.stage("A", "k_o"))


@pytest.mark.parametrize(
    ("sizes", "advice"),
    [
        ({"M": 43}, "Give concrete sizes (K=..., N=...), or raise"),
        ({"M": 43, "N": 44, "K": 45}, "All sizes are given: ask of an order with fewer skewed"),
    ],
)
def test_what_is_too_much_work_advises_what_was_not_done_yet(sizes, advice):
    start = wb.schedule(wb.ops.load("matmul"), sizes=sizes) | wb.decompose_reduction("C") | wb.tile(TILES)
    with wb.poly.budget(500), pytest.raises(BudgetExceeded) as caught:
        _ = start | wb.stage("A", "k_o")
    assert advice in str(caught.value)
    assert str(caught.value).startswith("stage('A', 'k_o'): ")
    assert "with wb.poly.budget(operations): ..." in str(caught.value)


def test_an_order_that_is_not_judged_within_the_cap_is_refused():
    start = wb.schedule(wb.ops.load("grouped_attention"), M=42)
    with wb.poly.budget(100), pytest.raises(IllegalSchedule, match="not known to be legal, so refused"):
        _ = start | wb.parallelize("S/b")
