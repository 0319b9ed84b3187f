"""The default recipe takes stencils through time in blocks; without contraction bit for bit as their text computes."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.fromc.polybench import program
from tests.schedules.agreeing import same_bits
from workbench.lang.expr import Const
from workbench.poly.programs.tree import loops
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.loops.time_tiling import time_tiles
from workbench.schedules.recipes.memory.privatization import privatized
from workbench.schedules.recipes.try_steps import top
from workbench.schedules.scheduled_program import naive_schedule
from workbench.target import Target


def small(bytes_: int) -> Target:
    """A machine whose second cache holds so little that small arrays do not fit."""
    return Target(vector_bits=256, cores=2, cache_bytes=(1 << 10, bytes_, 1 << 14))


STENCILS = {
    "one array, backwards": """
        void f(int T, int n, double A[n][n]) {
            for (int t = 0; t < T; t++)
                for (int i = 1; i < n - 1; i++)
                    for (int j = 0; j < n; j++)
                        A[i][j] = 0.5 * (A[i - 1][j] + A[i + 1][j]);
        }""",
    "two steps to one side": """
        void f(int T, int n, double A[n][n], double B[n][n]) {
            for (int t = 0; t < T; t++) {
                for (int i = 0; i < n - 2; i++)
                    for (int j = 0; j < n; j++)
                        B[i][j] = A[i + 2][j] - A[i][j];
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++)
                        A[i][j] = A[i][j] + 0.25 * B[i][j];
            }
        }""",
    "three in a row": """
        void f(int T, int n, double A[n][n], double B[n][n], double C[n][n]) {
            for (int t = 0; t < T; t++) {
                for (int i = 1; i < n; i++)
                    for (int j = 0; j < n; j++)
                        B[i][j] = A[i][j] + A[i - 1][j];
                for (int i = 0; i < n - 1; i++)
                    for (int j = 0; j < n; j++)
                        C[i][j] = B[i + 1][j] * 0.5;
                for (int i = 1; i < n - 1; i++)
                    for (int j = 0; j < n; j++)
                        A[i][j] = C[i][j] - C[i - 1][j];
            }
        }""",
    "a border row": """
        void f(int T, int n, double A[n][n], double B[n][n], double s[T]) {
            for (int t = 0; t < T; t++) {
                for (int j = 0; j < n; j++)
                    A[0][j] = s[t];
                for (int i = 1; i < n; i++)
                    for (int j = 0; j < n; j++)
                        B[i][j] = A[i][j] + A[i - 1][j];
                for (int i = 1; i < n; i++)
                    for (int j = 0; j < n; j++)
                        A[i][j] = 0.5 * B[i][j];
            }
        }""",
}


@pytest.mark.parametrize("name", STENCILS)
def test_sweeps_share_their_blocks(name):
    of, sizes = wb.from_c(STENCILS[name]), {"T": 11, "n": 30}
    schedule = default_schedule(wb.lower(of, sizes), small(4096 if "one array" in name else 8192))
    assert {"skew", "tile"} <= {step.name for step in schedule.trace}
    assert any(x.kind == "parallel" for x in loops(schedule.tree))
    same_bits(of, schedule, sizes)


@pytest.mark.parametrize(("name", "cache"), [("jacobi-2d", 8192), ("fdtd-2d", 8192), ("seidel-2d", 4096)])
def test_polybench_s_stencils_do(name, cache):
    of = program(name)
    sizes = {s: 9 if s in ("tsteps", "tmax") else 31 + n for n, s in enumerate(of.symbols)}
    schedule = default_schedule(wb.lower(of, sizes), small(cache))
    assert any(step.name == "tile" for step in schedule.trace)
    same_bits(of, schedule, sizes)


THICK = {
    "heat": None,
    "one array, backwards in both": """
        void f(int T, int n, double A[n][n][n]) {
            for (int t = 0; t < T; t++)
                for (int i = 1; i < n - 1; i++)
                    for (int j = 1; j < n - 1; j++)
                        for (int k = 0; k < n; k++)
                            A[i][j][k] = 0.25 * (A[i - 1][j][k] + A[i + 1][j][k] + A[i][j - 1][k] + A[i][j + 1][k]);
        }""",
    "to one side each": """
        void f(int T, int n, double A[n][n][n], double B[n][n][n]) {
            for (int t = 0; t < T; t++) {
                for (int i = 0; i < n - 1; i++)
                    for (int j = 2; j < n; j++)
                        for (int k = 0; k < n; k++)
                            B[i][j][k] = A[i + 1][j][k] - 0.5 * A[i][j - 2][k];
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++)
                        for (int k = 0; k < n; k++)
                            A[i][j][k] = A[i][j][k] + 0.25 * B[i][j][k];
            }
        }""",
}


@pytest.mark.parametrize("name", THICK)
@pytest.mark.parametrize("n", [33, 40])
def test_long_rows_are_divided_too(name, n):
    of = wb.from_c(THICK[name]) if THICK[name] else program("heat-3d")
    sizes = dict.fromkeys(of.symbols, n) | {s: 9 for s in of.symbols if s in ("T", "tsteps")}
    schedule = default_schedule(wb.lower(of, sizes), small(1 << 16 if "one" not in name else 1 << 15))
    (tile,) = (step for step in schedule.trace if step.name == "tile")
    assert len(tile.sizes) == 3
    assert any(x.kind == "parallel" for x in loops(schedule.tree))
    same_bits(of, schedule, sizes)


NONE = {
    "data that stay in the cache": (STENCILS["three in a row"], {"T": 11, "n": 6}),
    "few sweeps": (STENCILS["three in a row"], {"T": 3, "n": 30}),
    "a sum": ("""
        void f(int T, int n, double A[T][n], double x[n], double y[T]) {
            for (int t = 0; t < T; t++)
                for (int i = 0; i < n; i++)
                    y[t] += A[t][i] * x[i];
        }""", {"T": 64, "n": 300}),
    "a sweep that needs all of the last one": ("""
        void f(int T, int n, double A[n][n], double B[n][n]) {
            for (int t = 0; t < T; t++) {
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++)
                        B[i][j] = A[n - 1 - i][j];
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++)
                        A[i][j] = B[i][j] + 1;
            }
        }""", {"T": 11, "n": 30}),
}  # fmt: skip


@pytest.mark.parametrize("name", NONE)
def test_without_use_or_leave_they_do_not(name):
    text, sizes = NONE[name]
    schedule = naive_schedule(wb.lower(wb.from_c(text, reassociate=True), sizes))
    assert time_tiles(schedule, schedule.tree, small(8192)) is None


def test_a_buffer_that_every_sweep_has_for_itself_is_not_had_once_for_each_sweep_of_a_block():
    """Twenty buffers of a block are more than the one that stays in the cache: such blocks took twice the time."""
    program = wb.lower(wb.ops.jacobi_2d, N=64, M=64, steps=20)
    naive = naive_schedule(program)
    sweeps = top(naive.tree)[-1]
    assert time_tiles(naive, sweeps, small(8192)) is not None
    own = privatized(naive)
    assert time_tiles(own, top(own.tree)[-1], small(8192)) is None
    schedule = default_schedule(program, small(8192))
    assert not any(step.name == "tile" for step in schedule.trace)
    assert workspace_bytes(schedule) < 3 * 64 * 64 * 4


def workspace_bytes(schedule: wb.Schedule) -> int:
    """What a kernel needs besides its arguments."""
    found = wb.generate(schedule, "c").signature.workspace
    assert isinstance(found, Const)
    return int(found.value)


def test_both_nests_of_a_sweep_are_divided_among_threads():
    """One that computes is no less work than one that copies."""
    schedule = default_schedule(wb.lower(wb.ops.jacobi_2d, N=512, M=512, steps=20), Target(vector_bits=512, cores=2))
    parallel = [str(step) for step in schedule.trace if step.name == "parallelize"]
    assert parallel == ["parallelize('A/i')", "parallelize('B/i')", "parallelize('A.1/i')"]
