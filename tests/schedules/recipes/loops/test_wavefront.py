"""The default recipe divides tables whose cells wait for one another in waves of tiles, bit for bit."""

from __future__ import annotations

import pytest

import workbench as wb
from bench.polybench import kernels
from tests.schedules.agreeing import same_bits
from workbench.poly.programs.tree import loops
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.loops import wavefront as waves
from workbench.schedules.scheduled_program import naive_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)
TABLES = {
    "pairs that fold": kernels.text("nussinov"),
    "orders of a chain of products": """
        void f(int n, int C[n][n], int p[n]) {
            for (int i = n - 1; i >= 0; i--)
                for (int j = i + 1; j < n; j++) {
                    C[i][j] = C[i][i] + C[i + 1][j] + p[i] * p[j];
                    for (int k = i + 1; k < j; k++)
                        C[i][j] = min(C[i][j], C[i][k] + C[k + 1][j] + p[i] * p[k] * p[j]);
                }
        }""",
    "what all cells above and to the left add up to": """
        void f(int n, double A[n][n], double B[n][n]) {
            for (int i = 1; i < n; i++)
                for (int j = 1; j < n; j++) {
                    B[i][j] = A[i - 1][j] - A[i - 1][j - 1];
                    for (int k = 0; k < j; k++)
                        B[i][j] += A[i][k] * 0.01;
                    A[i][j] = 0.5 * A[i][j - 1] + B[i][j];
                }
        }""",
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n", [37, 48])
def test_tiles_on_a_diagonal_compute_the_same_bits(name, n, monkeypatch):
    monkeypatch.setattr(waves, "SIZES", (3, 5))
    monkeypatch.setattr(waves, "LEAST", 0)
    of = wb.from_c(TABLES[name])
    start = naive_schedule(wb.lower(of, {"n": n}))
    schedule = waves.in_wavefronts(start, start.tree, AVX2)
    assert any(x.kind == "parallel" for x in loops(schedule.tree))
    same_bits(of, schedule, {"n": n})


def test_the_recipe_takes_large_tables_so_and_leaves_small_ones():
    of = wb.from_c(TABLES["pairs that fold"])
    large, small = (default_schedule(wb.lower(of, {"n": n}), AVX2) for n in (600, 60))
    assert any(x.kind == "parallel" for x in loops(large.tree))
    assert not any(x.kind == "parallel" for x in loops(small.tree))


def test_a_row_that_waits_for_all_of_the_row_before_has_no_waves(monkeypatch):
    monkeypatch.setattr(waves, "LEAST", 0)
    of = wb.from_c("""
        void f(int n, double A[n][n]) {
            for (int i = 1; i < n; i++)
                for (int j = 1; j < n; j++)
                    A[i][j] = A[i - 1][n - j] + A[i][j - 1];
        }""")
    start = naive_schedule(wb.lower(of, {"n": 700}))
    assert waves.in_wavefronts(start, start.tree, AVX2) is start
