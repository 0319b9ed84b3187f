"""The default recipe takes sweeps over columns in strips, bit for bit as their text computes."""

from __future__ import annotations

import pytest

import workbench as wb
from bench.polybench import kernels
from tests.schedules.agreeing import same_bits
from workbench.poly.programs.tree import loops
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2, cache_bytes=(1 << 15, 1 << 17, 1 << 23))
SWEEPS = {
    "a sum and what is done with it, again and again": """
        void f(int n, int m, double A[n][m], double R[m]) {
            for (int t = 0; t < 3; t++)
                for (int j = 0; j < m; j++) {
                    R[j] = 0.5;
                    for (int i = 0; i < n; i++)
                        R[j] += A[i][j] * 0.01;
                    for (int i = 0; i < n; i++)
                        A[i][j] = A[i][j] - 0.1 * R[j];
                }
        }""",
    "every step needs the columns before": """
        void f(int n, int m, double A[n][m], double R[m][m]) {
            for (int k = 0; k < m; k++)
                for (int j = k + 1; j < m; j++) {
                    for (int i = 0; i < n; i++)
                        R[k][j] += A[i][k] * A[i][j] * 0.001;
                    for (int i = 0; i < n; i++)
                        A[i][j] -= A[i][k] * R[k][j] * 0.001;
                }
        }""",
    "Gram and Schmidt": kernels.text("gramschmidt"),
}


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize(("n", "m"), [(70, 70), (64, 37)])
def test_strips_compute_the_same_bits(name, n, m):
    of = wb.from_c(SWEEPS[name])
    sizes = {"n": n, "m": m} if "Gram" not in name else {"m": n, "n": min(n, m)}
    schedule = default_schedule(wb.lower(of, sizes), AVX2)
    steps = {step.name for step in schedule.trace}
    assert {"distribute", "vectorize"} <= steps or {"tile", "vectorize"} <= steps
    same_bits(of, schedule, sizes)


def test_strips_of_a_process_go_to_different_threads_and_fit_the_second_cache():
    of = wb.from_c(SWEEPS["every step needs the columns before"])
    sizes = []
    for rows in (100, 400, 4000):
        schedule = default_schedule(wb.lower(of, {"n": rows, "m": 500}), AVX2)
        (split,) = (step for step in schedule.trace if step.name == "split")
        assert any(x.kind == "parallel" for x in loops(schedule.tree))
        sizes.append(split.size)
    assert sizes[0] > sizes[1] > sizes[2] == 16
    assert sizes[1] * 400 * 8 <= AVX2.cache_bytes[1]


def test_columns_that_lie_apart_stay_as_they_are():
    text = SWEEPS["every step needs the columns before"].replace("[i][k]", "[k][i]").replace("A[i][j]", "A[j][i]")
    of = wb.from_c(text)
    schedule = default_schedule(wb.lower(of, {"n": 80, "m": 80}), AVX2)
    assert not any(step.name == "vectorize" and "j_i" in step.loop for step in schedule.trace)


def test_a_product_that_begins_with_a_scaled_cell_is_packed():
    of = wb.from_c("""
        void f(int n, double A[n][n], double B[n][n], double C[n][n]) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    C[i][j] *= 0.5;
                    for (int k = 0; k < n; k++)
                        C[i][j] += A[i][k] * B[k][j];
                }
        }""")
    schedule = default_schedule(wb.lower(of, {"n": 300}), AVX2)
    assert any(step.name == "stage" for step in schedule.trace)
