"""Merging nests whose loops share names."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.poly.programs.tree import path

TEXT = "def f(float(N) A, float(N,M) B) -> (X, Y) { X(p) = A(p)\n Y(q, p) = B(q, p) + X(q) }"


def test_a_merged_nest_has_no_two_loops_of_one_name():
    operator = wb.operator(TEXT)
    merged = wb.schedule(operator) | wb.merge("X", "Y")
    assert [loop.name for loop in path(merged.tree, "S1")] == ["p", "p_1"]
    parallel = merged | wb.parallelize("p")
    A, B = np.arange(5, dtype="float32"), np.ones((5, 3), "float32")
    for result, expected in zip(wb.build(parallel)(A, B), operator.evaluate(A, B), strict=True):
        np.testing.assert_array_equal(result, expected)


THREE = wb.operator("""def f(float(N,M) A) -> (X, Y, Z) {
    X(i,j) = A(i,j) + 1
    Y(i,j) = X(i,j) * 2
    Z(p,q) = X(q,p) * 3
}""")
TOGETHER = wb.merge("X", "Y", depth=2) | wb.merge("X", "Z", loops={"i": "q", "j": "p"})


def nest(schedule):
    return [line.strip() for line in str(schedule).partition("\nloops\n")[2].splitlines()]


def test_a_mapping_says_which_loops_walk_together():
    merged = wb.schedule(THREE) | TOGETHER
    loops = ["for i = i in X and Y, q in Z", "for j = j in X and Y, p in Z"]
    assert nest(merged) == [*loops, "X(i, j)", "Y(i, j)", "Z(p, q)"]
    agree(merged | wb.parallelize("i"), {"N": 5, "M": 4})
    with pytest.raises(IllegalSchedule):
        wb.schedule(THREE) | wb.merge("X", "Y", depth=2) | wb.merge("X", "Z", depth=2)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (
            wb.distribute("Y"),
            ["for i", "for j", "X(i, j)", "for i = i in Y, q in Z", "for j = j in Y, p in Z", "Y(i, j)", "Z(p, q)"],
        ),
        (
            wb.distribute("Y", loop="j"),
            ["for i = i in X and Y, q in Z", "for j", "X(i, j)", "for j = j in Y, p in Z", "Y(i, j)", "Z(p, q)"],
        ),
        (
            wb.distribute("Y", loop="j") | wb.distribute("Z", loop="i"),
            ["for i", "for j", "X(i, j)", "for j", "Y(i, j)", "for i = q", "for j = p", "Z(p, q)"],
        ),
        (
            wb.distribute("Z") | wb.distribute("Y", loop="j") | wb.merge("X", "Y"),
            ["for i", "for j", "X(i, j)", "Y(i, j)", "for i = q", "for j = p", "Z(p, q)"],
        ),
    ],
    ids=str,
)
def test_a_middle_statement_is_cut_at_any_loop(step, expected):
    cut = wb.schedule(THREE) | TOGETHER | step
    assert nest(cut) == expected
    agree(cut, {"N": 5, "M": 4})
    assert wb.Schedule.from_json(THREE, cut.to_json()).tree == cut.tree


def test_a_recurrence_between_two_statements_keeps_them_together():
    chain = wb.operator("""def f(float(N) A, int32 T) -> (X) {
        X(i) = A(i)
        for t in 0:T { X(i) = X(i) + 1 where i in 0:N  X(i) = X(i) * X(0) where i in 1:N }
    }""")
    with pytest.raises(IllegalSchedule):
        wb.schedule(chain) | wb.distribute("X.2", loop="t")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (wb.merge("X", "Z", loops={"i": "r"}), "unknown outer loop 'r'; known: p, q"),
        (wb.merge("X", "Z", loops={"i": "q", "j": "q"}), "named twice"),
        (wb.merge("X", "Z", depth=3), "do not both have 3 outer loops"),
        (wb.merge("X", "Z", depth=0), "depth=0 does not fit"),
        (wb.merge("Z", "X"), "does not stand before"),
        (wb.distribute("Y", loop="p"), "no loop around 'Y'"),
        (wb.distribute("Y", loop="r"), "unknown loop 'r'"),
        (wb.distribute("X", loop="i"), "no statement in loop i stands before 'X'"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(step, message):
    with pytest.raises(ScheduleError, match=message):
        wb.schedule(THREE) | step


def test_arguments_of_merge_are_checked_at_once():
    with pytest.raises(ScheduleError, match="expected a mapping"):
        wb.merge("X", "Y", loops=["i"])
    with pytest.raises(ScheduleError, match="different numbers"):
        wb.merge("X", "Y", depth=2, loops={"i": "q"})
    with pytest.raises(ScheduleError, match="names of loops"):
        wb.merge("X", "Y", loops={"i": 1})
