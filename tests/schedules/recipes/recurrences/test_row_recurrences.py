"""Recurrences over rows: what they begin with is written beside them; a tuner may divide their columns."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.schedules.recipes import default_schedule, reasons
from workbench.schedules.recipes.decisions import deciding
from workbench.target import Target

TWO = Target(vector_bits=256, cores=2)
SECOND = """def second(float(S,C) x, float(C) a) -> (y) {
    y(t,c) = x(t,c)
    for t in 2:S { y(t,c) = x(t,c) + a(c) * y(t-1,c) - y(t-2,c) }
}"""
NEIGHBOURS = """def neighbours(float(S,C) x) -> (y) {
    y(t,c) = x(t,c)
    for t in 1:S { y(t,c) = x(t,c) + y(t-1,c-1) where c in 1:C }
}"""
BATCHES = """def batches(float(B,S,C) x) -> (y) {
    y(b,t,c) = x(b,t,c)
    for t in 1:S { y(b,t,c) = x(b,t,c) + y(b,t-1,c) }
}"""


def chosen(text: str, target: Target = TWO, *, strips: bool = False, **sizes: int) -> wb.Schedule:
    with deciding({"y_1_strips": True} if strips else {}):
        return default_schedule(wb.lower(wb.operator(text), sizes), target)


@pytest.mark.parametrize("text", [SECOND, NEIGHBOURS])
def test_what_rows_begin_with_is_written_beside_them(text: str) -> None:
    schedule = default_schedule(wb.lower(wb.operator(text), S=2000, C=300), TWO)
    assert [str(step) for step in schedule.trace] == ["merge('y', 'y.1', depth=2)", "vectorize('y.1/c')"]
    assert reasons(schedule)[0][1].startswith("y writes what y.1 begins with")


def test_loops_whose_iterations_are_independent_are_divided_themselves() -> None:
    assert "parallelize('y.1/b')" in str(chosen(BATCHES, B=16, S=100, C=300, strips=True))


def test_a_tuner_may_give_each_thread_a_strip_of_whole_lines() -> None:
    schedule = chosen(SECOND, S=2000, C=300, strips=True)
    assert [str(step) for step in schedule.trace] == [
        "merge('y', 'y.1', depth=2)",
        "split('y.1/c', 160)",
        "reorder('y.1/c_o', 'y.1/t', 'y.1/c_i')",
        "vectorize('y.1/c_i')",
        "parallelize('y.1/c_o')",
    ]
    assert wb.generate(schedule, TWO).source.count("#pragma omp parallel") == 1


@pytest.mark.parametrize(
    ("text", "sizes", "target"),
    [
        (NEIGHBOURS, {"S": 2000, "C": 300}, TWO),  # a column waits for the one before
        (SECOND, {"S": 2000, "C": 90}, TWO),  # strips would be narrow
        (SECOND, {"S": 8, "C": 200}, TWO),  # too little work for a second thread
        (SECOND, {"S": 2000, "C": 300}, Target(vector_bits=256, cores=1)),
    ],
)
def test_what_has_no_strips(text: str, sizes: dict[str, int], target: Target) -> None:
    assert "split('y.1/c'" not in str(chosen(text, target, strips=True, **sizes))


@pytest.mark.parametrize(("rows", "columns"), [(400, 128), (500, 131), (1000, 300)])
@pytest.mark.parametrize("strips", [False, True])
@pytest.mark.parametrize("text", [SECOND.replace("a(c) *", "0 - "), NEIGHBOURS.replace("y(t-1,c-1)", "y(t-1,c)")])
def test_results_are_the_oracles(text: str, strips: bool, rows: int, columns: int) -> None:
    with wb.settings(threads=2):
        agree(chosen(text, strips=strips, S=rows, C=columns))
