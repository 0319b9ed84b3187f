"""The default recipe sums up a long array in parts, which threads share, and in the same ones on every machine."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.default_recipe import recipes_taken
from workbench.target import Target

TWO = """def two(float(B,C) X, float(B,C) Z) -> (Y, W) {
    Y +=! X(b,c)
    W max=! X(b,c) * Z(b,c)
}"""
MEAN = """def spread(float(N) X) -> (m, v) {
    m +=! X(i)
    v +=! (X(i) - m / N) * (X(i) - m / N)
}"""
ROWS = "def rows(float(B,C) X) -> (Y) { Y(b) +=! X(b,c) }"
TEXTS = {"two": (TWO, {"B": 700, "C": 1001}), "spread": (MEAN, {"N": 1_000_003})}


def names(text: str, cores: int, **sizes: int) -> list[str]:
    """The recipes that a program takes."""
    return [row.name for row, _ in recipes_taken(wb.lower(wb.operator(text), **sizes), Target(cores=cores))]


@pytest.mark.parametrize("name", TEXTS)
def test_parts_give_what_the_operator_says(name: str) -> None:
    text, sizes = TEXTS[name]
    schedule = default_schedule(wb.lower(wb.operator(text), **sizes), Target(cores=2))
    assert [s.name for s in schedule.trace].count("split_reduction") == (1 if name == "two" else 2)
    assert any(s.name == "parallelize" for s in schedule.trace)
    agree(schedule, {})


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    program = wb.lower(wb.ops.load("dot"), N=1 << 20)
    few, many = (default_schedule(program, Target(cores=cores)) for cores in (2, 48))
    assert few == many
    x, y = np.random.default_rng(5).standard_normal((2, 1 << 20), np.float32)
    one, two = (wb.build(few, threads=threads)(x, y) for threads in (1, 2))
    assert one == two
    exact = float(np.dot(x.astype(np.float64), y.astype(np.float64)))
    assert abs(float(one) - exact) < 1e-2


def test_sums_stay_whole_where_parts_serve_nobody() -> None:
    assert "partial_sums" in names(TWO, 2, B=4096, C=4096)
    assert "partial_sums" not in names(TWO, 1, B=4096, C=4096)
    assert "partial_sums" not in names(TWO, 16, B=64, C=64)
    assert "partial_sums" not in names(TWO, 16, B=8, C=1 << 22)
    assert "partial_sums" not in names(ROWS, 16, B=4096, C=4096)
