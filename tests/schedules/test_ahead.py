"""Rows ahead: the default recipe asks for later rows where a nest goes over large rows several times."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

SMALL = Target(vector_bits=256, cores=2, cache_bytes=(8 << 10, 64 << 10, 1 << 20))

TWICE = """def standardised(float(M,N) X) -> (Y, top) {
    top(m) max=! X(m,n)
    Y(m,n) = exp(X(m,n) - top(m))
}"""
ONCE = "def doubled(float(M,N) X) -> (Y) { Y(m,n) = 2 * X(m,n) }"
COLUMNS = """def columns(float(M,N) X) -> (Y, top) {
    top(n) max=! X(m,n)
    Y(m,n) = exp(X(m,n) - top(n))
}"""


def requests(text: str, **sizes: int) -> list[str]:
    schedule = default_schedule(wb.lower(wb.operator(text), sizes), SMALL)
    return [str(step) for step in schedule.trace if step.name == "prefetch"]


def test_two_passes_ask_in_the_last_one_for_the_row_after_the_next():
    assert requests(TWICE, M=100, N=512) == [f"prefetch('X', 'Y/n', {2 * 512 // 8})"]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (ONCE, {"M": 100, "N": 512}),
        (COLUMNS, {"M": 100, "N": 512}),
        (TWICE, {"M": 20, "N": 512}),  # all rows stay in the second cache
        (TWICE, {"M": 1000, "N": 100}),  # short rows
        (TWICE, {"M": 100, "N": 5000}),  # the row itself leaves the second cache
        (TWICE, {}),
    ],
)
def test_nothing_is_asked_for_where_it_does_not_help(text, sizes):
    assert requests(text, **sizes) == []


def test_a_request_stands_in_the_text_and_changes_no_value():
    op = wb.operator(TWICE)
    kernel = wb.build(default_schedule(wb.lower(op, {"M": 100, "N": 516}), SMALL))
    assert kernel.source.count("__builtin_prefetch") >= 1
    given = np.random.default_rng(0).standard_normal((100, 516)).astype(np.float32)
    for found, wanted in zip(kernel(given), op.evaluate(given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
