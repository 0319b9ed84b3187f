"""The default recipe takes triangles in place in blocks, bit for bit as their text computes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from bench.polybench import kernels
from tests.fromc.polybench import arguments, copied, results
from workbench.codegen.nest.nest import Accumulate, walk, writes
from workbench.codegen.passes.pipeline import lower_nest
from workbench.poly.programs.tree import loops
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2)
WIDE = Target(vector_bits=512, vector_registers=32, cores=2)

TRIANGLES = {
    "columns above the diagonal only": """
        void f(int n, double A[n][n]) {
            for (int i = 0; i < n; i++)
                for (int j = i; j < n; j++)
                    for (int k = 0; k < i; k++)
                        A[i][j] -= A[k][i] * A[k][j];
        }""",
    "without a diagonal": """
        void f(int n, float A[n][n]) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < i; j++) {
                    for (int k = 0; k < j; k++)
                        A[i][j] += A[i][k] * A[k][j];
                    A[i][j] = A[i][j] / 2.0f;
                }
        }""",
    "a rectangle beside it": """
        void f(int n, int m, double L[n][n], double B[n][m]) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) {
                    for (int k = 0; k < i; k++)
                        B[i][j] -= L[i][k] * B[k][j];
                    B[i][j] = B[i][j] / L[i][i];
                }
        }""",
    "a first value": """
        void f(int n, double L[n][n], double x[n], double b[n], double c[n]) {
            for (int i = 0; i < n; i++) {
                x[i] = b[i] + c[i];
                for (int j = 0; j < i; j++)
                    x[i] += L[i][j] * x[j];
                c[i] = x[i] * 0.5;
            }
        }""",
}


def text(name: str) -> str:
    return TRIANGLES.get(name) or kernels.text(name)


def scaled(given):
    """Arguments whose matrices stay tame when they are multiplied by themselves."""
    return [(a / len(a) + np.eye(*a.shape)).astype(a.dtype) if getattr(a, "ndim", 0) == 2 else a for a in given]


@pytest.mark.parametrize("machine", [AVX2, WIDE], ids=["16 registers", "32 registers"])
@pytest.mark.parametrize("n", [67, 100])
@pytest.mark.parametrize("name", [*TRIANGLES, "lu", "cholesky", "trisolv"])
def test_blocks_compute_the_same_bits(name, n, machine):
    of = wb.from_c(text(name))
    sizes = {s: n + 5 * (s == "m") for s in of.symbols}
    schedule = default_schedule(wb.lower(of, sizes), machine)
    assert any(step.name == "affine" for step in schedule.trace)
    given = scaled(arguments(of, sizes))
    expected = results(wb.evaluate_c(of, *copied(given)))
    for threads in (1, 2):
        found = results(wb.build(schedule, threads=threads, debug=True)(*copied(given)))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["lu", "cholesky", "a rectangle beside it"])
def test_blocks_that_do_not_wait_go_to_different_threads(name):
    of = wb.from_c(text(name))
    schedule = default_schedule(wb.lower(of, dict.fromkeys(of.symbols, 300)), AVX2)
    assert any(x.kind == "parallel" for x in loops(schedule.tree))


@pytest.mark.parametrize("name", ["lu", "cholesky", "trisolv"])
def test_finished_terms_are_added_up_in_registers(name):
    of = wb.from_c(text(name))
    schedule = default_schedule(wb.lower(of, dict.fromkeys(of.symbols, 300)), WIDE)
    early = {s.id for s in schedule.program.statements if s.name.endswith(".then")}
    nest = lower_nest(schedule.program, schedule.tree, WIDE)
    kept = [x for x in walk(nest) if isinstance(x, Accumulate)]
    assert early <= {w.statement for x in kept for w in writes(x)}


def test_a_tile_that_reads_its_own_cells_stays_in_memory():
    of = wb.from_c("""
        void f(int n, double A[n][n]) {
            for (int k = 0; k < n; k++)
                for (int i = 0; i < 8; i++)
                    A[0][i] += A[k][0];
        }""")
    schedule = wb.schedule(of, n=100) | wb.unroll("i")
    assert not any(isinstance(x, Accumulate) for x in walk(lower_nest(schedule.program, schedule.tree, AVX2)))


FLAT = {
    "few rows": (text("lu"), {"n": 40}),
    "every row waits for all of the one before": ("""
        void f(int n, double A[n][n]) {
            for (int i = 1; i < n; i++)
                for (int j = 0; j < n; j++)
                    for (int k = 0; k < n; k++)
                        A[i][j] += A[i - 1][k] * A[k][j];
        }""", {"n": 100}),
}  # fmt: skip


@pytest.mark.parametrize("name", FLAT)
def test_without_use_or_leave_there_are_no_blocks(name):
    program, sizes = FLAT[name]
    schedule = default_schedule(wb.lower(wb.from_c(program), sizes), AVX2)
    assert not any(step.name == "affine" for step in schedule.trace)
