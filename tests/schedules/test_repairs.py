"""A refused step comes with what would be accepted; whatever is offered is."""

from __future__ import annotations

import time
from collections import Counter
from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.poly.making import Maker
from tests.schedules.orders import ORDER, order_step
from tests.schedules.test_known_cases import DIAGONAL, SEIDEL_9
from tests.schedules.texts import EVERY, MATMUL, SEIDEL
from tests.support import examples
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.schedules import Schedule, Transform, Verdict
from workbench.schedules.repairs import search

LAG = "def lag(float(N) X) -> (float(N) A) { A(i) = X(i)  A(i) = A(i-8) + X(i) where i in 8:N }"
NEIGHBOURS = """
def neighbours(float(N,M) X) -> (A, B) {
    A(i,j) = X(i,j) where i in 0:N, j in 0:M
    B(i,j) = A(i,j+1) + A(i,j) where i in 0:N, j in 0:M-1
}"""


def refused(schedule: Schedule, step: Transform) -> IllegalSchedule:
    with pytest.raises(IllegalSchedule) as caught:
        schedule | step
    return caught.value


def texts(error: IllegalSchedule) -> list[str]:
    return [str(repair) for repair in error.repairs]


def test_lanes_reach_as_far_as_the_next_dependence() -> None:
    error = refused(wb.schedule(wb.operator(LAG)), wb.vectorize("A.1/i"))
    assert texts(error)[0] == "split('A.1/i', 8) | vectorize('A.1/i_i')"


AHEAD = """
def ahead(float(N,M) X) -> (A, B) {
    A(i,j) = X(i,j) where i in 0:N, j in 0:M
    B(i,j) = A(i+1,j+2) + A(i,j+1) where i in 0:N-1, j in 0:M-2
}"""
WINDOW = """
def window(float(N) X) -> (A, B) {
    A(i) = X(i) where i in 0:N
    B(i) +=! A(i+k) where i in 0:N-3, k in 0:4
}"""
FROM_THE_END = """
def from_the_end(float(N) X) -> (A, B) {
    A(i) = X(i) * 2 where i in 0:N
    B(i) = A(N-1-i) + X(i) where i in 0:N
}"""

LSTM_GATES = """
def gates(float(N,I) X, float(N,J) H, float(K,I) W, float(K,J) U, float(K) b) -> (Z, h) {
    Z(n,k) +=! X(n,i) * W(k,i)
    Z(n,k) += H(n,j) * U(k,j)
    Z(n,k) += b(k)
    h(n,k) = tanh(Z(n,k))
}"""
APART = """
def apart(float(N) X, float(N) Y) -> (A, B, C) {
    A(i) = X(i) * 2 where i in 0:N
    C(i) = A(N-1-i) + Y(i) where i in 0:N
    B(i) = A(i) + Y(i) where i in 0:N
}"""
PYRAMID = """
def pyramid(float(N) X) -> (A, B, C) {
    A(i) = X(i) * 2 where i in 0:N
    B(i) = A(i) + A(i+1) where i in 0:N-1
    C(i) = B(i) + B(i+1) where i in 0:N-2
}"""

FIRST = {
    "rows of a tile": (SEIDEL_9, wb.tile({"A.1/i": 4, "A.1/j": 4}),
        "skew('A.1/j', by='A.1/i') | tile({'A.1/i': 4, 'A.1/j': 4})"),
    "time and space": (SEIDEL_9, wb.tile({"A.1/t": 4, "A.1/i": 4, "A.1/j": 4}),
        "skew('A.1/i', by='t') | skew('A.1/j', by='t') | skew('A.1/j', by='A.1/i') | "
        "tile({'A.1/t': 4, 'A.1/i': 4, 'A.1/j': 4})"),
    "interchange": (DIAGONAL, wb.interchange("B.1/j", "B.1/i"),
        "skew('B.1/j', by='B.1/i') | interchange('B.1/j', 'B.1/i')"),
    "wavefront": (SEIDEL, wb.parallelize("A.1/i"), "skew('A.1/i', by='A.1/j') | parallelize('A.1/j')"),
    "wavefront in time": (SEIDEL, wb.parallelize("t"),
        "skew('A.1/i', by='t') | skew('t', by='A.1/i') | parallelize('A.1/i')"),
    "consumer reads ahead": (AHEAD, wb.merge("A", "B", depth=2),
        "shift('B/i', 1) | shift('B/j', 2) | merge('A', 'B', depth=2)"),
    "reduction reads ahead": (WINDOW, wb.merge("A", "B"),
        "together(shift('B.init/i', 3), shift('B/i', 3)) | merge('A', 'B')"),
    "nests between": (LSTM_GATES, wb.merge("Z", "h"), "merge('Z', 'Z.1') | merge('Z', 'Z.2') | merge('Z', 'h')"),
    "a nest between that waits": (APART, wb.merge("A", "B"), "arrange('A', 'B', 'C') | merge('A', 'B')"),
    "nests between, one reads ahead": (PYRAMID, wb.merge("A", "C"),
        "shift('B/i', 1) | merge('A', 'B') | shift('C/i', 2) | merge('A', 'C')"),
    "a nest turned round": (MATMUL, wb.reverse("C/m"), "together(reverse('C.init/m'), reverse('C/m'))"),
    "threads on a reduction": (MATMUL, wb.parallelize("k"), "split_reduction('k', 8) | parallelize('k_o')"),
}  # fmt: skip


@pytest.mark.parametrize("case", FIRST)
def test_the_first_repair_still_does_what_was_asked(case: str) -> None:
    text, step, expected = FIRST[case]
    schedule = wb.schedule(wb.operator(text))
    error = refused(schedule, step)
    assert texts(error)[0] == expected
    assert (schedule | error.repairs[0]).verdict


def test_a_consumer_from_the_end_is_delayed_or_turned_round() -> None:
    error = refused(wb.schedule(wb.operator(FROM_THE_END), N=9), wb.merge("A", "B"))
    assert texts(error) == ["shift('B/i', 8) | merge('A', 'B')", "reverse('B/i') | shift('B/i', 8) | merge('A', 'B')"]


def test_repaired_schedules_compute_the_same() -> None:
    image = np.random.default_rng(2).random((11, 11), dtype=np.float32)
    for text, step, _ in (FIRST["time and space"], FIRST["consumer reads ahead"], FIRST["wavefront in time"]):
        op = wb.operator(text)
        scalars = {"T": 3} if "T" in op.scalars else {}
        schedule = wb.schedule(op, sizes={**{n: 11 for n in op.size_names}, **scalars})
        repaired = schedule | refused(schedule, step).repairs[0]
        expected = op.evaluate(image, *scalars.values())
        found = wb.build(repaired)(image, *scalars.values())
        both = (expected, found) if isinstance(found, tuple) else ((expected,), (found,))
        for a, b in zip(*both, strict=True):
            assert np.allclose(a, b)


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


def test_nothing_is_said_or_looked_for_before_a_refusal_is_read(monkeypatch) -> None:
    done: list[str] = []
    explain = Verdict.explain
    monkeypatch.setattr(Verdict, "explain", lambda self: done.append("explained") or explain(self))
    monkeypatch.setattr(search, "_accepted", lambda *known: done.append(f"looked for {known[1]}") or iter(()))
    error = refused(naive := wb.schedule(wb.operator(MATMUL)), step := wb.parallelize("k"))
    assert (error.schedule, error.step, done) == (naive, step, [])
    assert str(error).startswith("parallelize('k'): would race on C")
    assert str(error) == error.reason
    assert sorted(done) == ["explained", "looked for parallelize('k')"]


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
    assert counts["repaired"] > counts["refused"] / 3


def test_repairs_on_random_programs_are_accepted() -> None:
    counts: Counter[str] = Counter()
    for seed in range(examples(quick=15, ci=30, full=1000)):
        random = Random(seed)
        schedule = wb.schedule(Maker(seed).operator())
        for _ in range(4):
            step = order_step(schedule, random)
            if step is not None and step.name != "affine":
                offered(schedule, step, counts)
    assert counts["repaired"]


def test_where_nothing_stands_in_its_place_it_says_what_was_tried(monkeypatch) -> None:
    assert refused(wb.schedule(wb.operator(MATMUL)), wb.parallelize("k")).why_no_repair == ""
    monkeypatch.setattr(search, "accepted", lambda *_: False)
    error = refused(wb.schedule(wb.operator(MATMUL)), wb.parallelize("k"))
    assert error.why_no_repair.startswith("nothing known: ")
    assert "split_reduction" in error.why_no_repair
    monkeypatch.setattr(search, "SECONDS", 0.0)
    error = refused(wb.schedule(wb.operator(MATMUL)), wb.parallelize("k"))
    assert error.why_no_repair == "none within 0 s"
