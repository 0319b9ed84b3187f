"""Buffers whose cells a simple hull leaves without bounds: what fills them ends all the same."""

from __future__ import annotations

import workbench as wb
from tests.schedules.agreeing import agree

PAIRS = """def pairs(float(3*M+2,2) X, float s) -> (T) {
    T(j) +=! s * X(3*k + 2*l, l) * X(k % 2, 0) where j in 0:M, k in 0:M
}"""
LAID_OUT = """def laid_out(float(L,L,4) X) -> (U) {
    T(j,k,q) = 2 * X(j,k,q)
    U(r,i,j) = T(r,r,i) * (4 - i <= L - 1 ? T(4 - i, j, i) : 0) where r in 0:L, i in 0:4, j in 0:L
}"""


def test_iterations_end():
    s = wb.schedule(wb.operator(PAIRS)) | wb.split("l", 4) | wb.unroll_jam("k", 4) | wb.stage("X", "l_i")
    loading = next(x for x in s.program.statements if x.name == "X_local.load")
    assert "4k_o < M" in loading.domain
    agree(s, {"M": 11})


def test_subscripts_of_a_layout_end():
    s = wb.schedule(wb.operator(LAID_OUT)) | wb.transform_layout("T", "(d0, d1, d2) -> (d0, d1 / 8, d2, d1 % 8)")
    s = s | wb.stage("T", "U/j", filling="load")
    assert s.verdict
    agree(s, {"L": 13})
