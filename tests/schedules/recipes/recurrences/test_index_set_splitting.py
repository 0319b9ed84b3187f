"""The default recipe cuts loops: at the iteration others wait for, and around reductions written into one loop."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.fromc.polybench import arguments, copied, program, results
from workbench.poly.dependence.questions import turning_point
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.loops.fission import separated
from workbench.schedules.recipes.recurrences.index_set_splitting import with_split_index_sets
from workbench.schedules.scheduled_program import naive_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)
PATHS = """
    void f(int n, int P[n][n]) {
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    P[i][j] = P[i][j] < P[i][k] + P[k][j] ? P[i][j] : P[i][k] + P[k][j];
    }"""
ROWS = """
    void f(int n, double A[n][n]) {
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++)
                A[i][k] = A[i][k] - 0.5 * A[k][k];
    }"""


@pytest.mark.parametrize("text", [PATHS, ROWS], ids=["shortest paths", "a column by its diagonal"])
def test_a_loop_turns_where_others_wait(text):
    of, sizes = wb.from_c(text), {"n": 37}
    schedule = with_split_index_sets(naive_schedule(wb.lower(of, sizes)))
    assert [step.name for step in schedule.trace].count("partition") >= 2
    given = arguments(of, sizes)
    fast = default_schedule(wb.lower(of, sizes), AVX2)
    assert any(step.name == "vectorize" for step in fast.trace) or text == ROWS
    for threads in (1, 2):
        np.testing.assert_array_equal(wb.build(fast, threads=threads)(*copied(given)), wb.evaluate_c(of, *given))


def test_the_turning_point_is_exact():
    paths = wb.lower(wb.from_c(PATHS), n=9)
    assert [turning_point(paths, "S0", d) for d in ("i", "j")] == ["k", "k"]
    product = wb.lower(wb.ops.matmul, M=4, N=4, K=4)
    assert turning_point(product, "S1", "k") is None
    shifted = wb.lower(wb.from_c(PATHS.replace("P[k][j]", "P[k + 0][n - 1 - j]")), n=9)
    assert turning_point(shifted, "S0", "j") is None


def test_reductions_of_one_loop_come_apart():
    of = program("symm", reassociate=True)
    schedule = separated(naive_schedule(wb.lower(of, m=60, n=70)), AVX2)
    assert [step.name for step in schedule.trace] == ["distribute", "arrange", "decompose_reduction"]
    assert schedule.verdict
    for sizes in ({"m": 60, "n": 70}, {"m": 1, "n": 3}):
        given = arguments(of, sizes)
        kernel = wb.build(default_schedule(wb.lower(of, sizes), AVX2))
        for a, b in zip(results(kernel(*copied(given))), results(wb.evaluate_c(of, *given)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_reductions_that_need_one_another_stay_together():
    of = wb.from_c("""
        void f(int n, double A[n][n], double x[n], double y[n]) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    for (int k = 0; k < n; k++) {
                        x[j] += A[k][j] * y[i];
                        y[i] += A[k][j] * x[j];
                    }
        }""", reassociate=True)
    schedule = naive_schedule(wb.lower(of, n=20))
    assert separated(schedule, AVX2) is schedule
