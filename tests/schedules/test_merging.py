"""Merging nests whose loops share names."""

from __future__ import annotations

import numpy as np

import workbench as wb
from workbench.poly.tree import path

TEXT = "def f(float(N) A, float(N,M) B) -> (X, Y) { X(p) = A(p)\n Y(q, p) = B(q, p) + X(q) }"


def test_a_merged_nest_has_no_two_loops_of_one_name():
    operator = wb.operator(TEXT)
    merged = wb.schedule(operator) | wb.merge("X", "Y")
    assert [loop.name for loop in path(merged.tree, "S1")] == ["p", "p_1"]
    parallel = merged | wb.parallelize("p")
    A, B = np.arange(5, dtype="float32"), np.ones((5, 3), "float32")
    for result, expected in zip(wb.build(parallel)(A, B), operator.evaluate(A, B), strict=True):
        np.testing.assert_array_equal(result, expected)
