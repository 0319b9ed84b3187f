"""Lanes in lockstep: loops inside lanes are counted from where each lane begins."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb

SWEEP = """
void f(int x, double A[4][13], double C[3][14])
{
    for (int i = 1; i < 3; i++)
        for (int j = 0; j < 12; j++)
            A[i + 1][j + 1] = C[i][j + 2] * 0.5 + A[i][j + 1] * 0.5 + A[i + 1][2] * 0.5;
}"""


@pytest.mark.parametrize("kind", ["serial", "unroll"])
def test_an_iteration_that_lanes_delay_is_executed_by_all_of_them_at_once(kind):
    # Found by the chain of compilers: u = 2 * j seemed to order lanes, but each has one iteration of it.
    delayed = wb.schedule(wb.from_c(SWEEP)) | wb.tile(i=1, j=8) | wb.add_unit_loop("A", 4)
    delayed = delayed | wb.interchange("j_o", "i_o") | wb.skew("u", by="j_i", factor=2)
    if kind == "unroll":
        delayed = delayed | wb.unroll("u")
    verdict = delayed.can(wb.vectorize("j_i"))
    assert not verdict
    assert "would race on A (flow, loop j_i)" in verdict.explain()


def test_loops_that_all_lanes_begin_alike_order_them():
    source = """
    void h(double A[20][20]) {
        for (int j = 0; j < 16; j++)
            for (int i = 1; i < 16; i++)
                A[i][j] = A[i - 1][j] * 0.5;
    }"""
    schedule = wb.schedule(wb.from_c(source)) | wb.vectorize("j")
    A = np.random.default_rng(0).random((20, 20))
    kernel = wb.build(schedule)
    assert wb.verify(kernel, A.copy())
