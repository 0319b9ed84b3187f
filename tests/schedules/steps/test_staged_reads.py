"""`stage` of one read: the others in the loop go on reading the array."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree

SYRK = wb.operator("def syrk(float(M,K) A) -> (C) { C(i,j) +=! A(i,k) * A(j,k) }")
SIZES = {"M": 20, "K": 13}


def blocks():
    start = wb.schedule(SYRK, sizes=SIZES) | wb.decompose_reduction("C")
    return start | wb.tile({"C/j": 8}) | wb.reorder("C/j_o", "C/i", "C/j_i", "C/k")


def test_each_read_gets_a_buffer_of_its_own():
    schedule = blocks() | wb.stage("A(j, k)", "C/j_o") | wb.stage("A(i,k)", "C/i")
    update = next(s for s in schedule.program.statements if s.name == "C")
    assert {a.array for a in update.reads} == {"A_local", "A_local2", "C"}
    agree(schedule)
    assert wb.Schedule.from_json(SYRK, schedule.to_json()).key == schedule.key


def test_the_other_reads_stay():
    schedule = blocks() | wb.stage("A(j,k)", "C/j_o", buffer="panel")
    update = next(s for s in schedule.program.statements if s.name == "C")
    assert {a.array for a in update.reads} == {"A", "panel", "C"}
    agree(schedule)


def test_a_product_with_a_triangle_is_packed_in_place():
    """B(k,j) is copied before rows above it change, and only there."""
    trmm = wb.from_c(
        """
        void trmm(int m, int n, double A[m][m], double B[m][n]) {
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++)
                    for (int k = i + 1; k < m; k++)
                        B[i][j] += A[k][i] * B[k][j];
        }""",
        reassociate=True,
    )
    start = wb.schedule(trmm, m=24, n=16)
    late = wb.tile({"B/k": 8}), wb.reorder("B/k_o", "B/i", "B/j", "B/k_i")
    schedule = start | wb.together(*late, wb.stage("B(k,j)", "B/k_o"))
    A, B = np.random.default_rng(0).random((24, 24)), np.random.default_rng(1).random((24, 16))
    np.testing.assert_allclose(wb.build(schedule)(A, B.copy()), wb.evaluate_c(trmm, A, B.copy()), rtol=1e-12)
    backwards = wb.together(*late, wb.reverse("B/k_o"), wb.stage("B(k,j)", "B/k_o"))
    with pytest.raises(wb.errors.IllegalSchedule):  # then rows have changed before they are copied
        start | backwards


@pytest.mark.parametrize(("read", "options", "message"), [
    ("A(k,j)", {}, r"unknown read 'A\(k,j\)'.*known: A\(i,k\), A\(j,k\)"),
    ("B(j,k)", {}, "unknown array 'B'"),
    ("A(j,k", {}, "unknown read"),
    ("A(j,k)", {"filling": "none"}, "begins with its cells"),
])  # fmt: skip
def test_mistakes(read, options, message):
    with pytest.raises(wb.errors.ScheduleError, match=message):
        blocks() | wb.stage(read, "C/j_o", **options)
