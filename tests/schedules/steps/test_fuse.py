"""fuse and unroll_jam."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.lang.printing.printer import show
from workbench.poly.programs.tree import path

CONV = wb.operator("def conv(float(C,H,W) I, float(F,C) K) -> (O) { O(f,h,w) +=! I(c,h,w) * K(f,c) }")
SIZES = {"C": 5, "H": 7, "W": 9, "F": 4}


def loops(schedule, statement):
    identifier = schedule.program.statement(statement).id
    return [(loop.name, show(loop.row(identifier))) for loop in path(schedule.tree, identifier)]


def test_the_law_of_fuse():
    schedule = wb.schedule(CONV, **SIZES) | wb.fuse("h", "w")
    assert loops(schedule, "O") == [("f", "f"), ("h_w", "9 * h + w"), ("c", "c")]


@pytest.mark.parametrize(
    "more",
    [
        wb.parallelize("x"),
        wb.split("x", 16) | wb.parallelize("x_o"),
        wb.decompose_reduction("O") | wb.vectorize("O/x"),
        wb.reverse("x"),
        wb.tile(f=2, x=8) | wb.unroll("f_i"),
    ],
    ids=str,
)
def test_a_fused_loop_is_a_loop_like_any_other(more):
    agree(wb.schedule(CONV, **SIZES) | wb.fuse("h", "w", name="x") | more)


def test_three_loops_and_triangles():
    agree(wb.schedule(CONV, **SIZES) | wb.fuse("f", "h", "w") | wb.parallelize("f_h_w"))
    triangle = wb.operator("def t(float(N,N) A) -> (B) { B(i,j) = A(j,i) where i in 0:N, j in 0:i + 1 }")
    agree(wb.schedule(triangle, N=6) | wb.fuse("i", "j") | wb.parallelize("i_j"))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (wb.fuse("w", "h"), "do not follow one another"),
        (wb.fuse("f", "w"), "do not follow one another"),
        (wb.fuse("w", "c"), "not directly inside one another"),
        (wb.fuse("h", "w", name="f"), "must be new"),
        (wb.fuse("h", "w", name="2x"), "cannot name a loop"),
        (wb.parallelize("w") | wb.fuse("h", "w"), "cannot be fused"),
    ],
    ids=str,
)
def test_what_cannot_be_fused(step, message):
    with pytest.raises(ScheduleError, match=message):
        wb.schedule(CONV, **SIZES) | step


def test_symbolic_bounds_cannot_be_fused():
    with pytest.raises(ScheduleError, match="bounds of w depend on C, H, W, F; give the sizes"):
        wb.schedule(CONV) | wb.fuse("h", "w")


@pytest.mark.parametrize("sizes", [{}, {"M": 10, "N": 7, "K": 3}], ids=["symbolic", "bound"])
def test_unroll_jam(sizes):
    start = wb.schedule(wb.ops.matmul, **sizes) | wb.decompose_reduction("C") | wb.reorder("C/m", "C/k", "C/n")
    jammed = start | wb.unroll_jam("C/m", 4)
    assert [name for name, _ in loops(jammed, "C")] == ["m_o", "k", "n", "m_i"]
    agree(jammed, {"M": 10, "N": 7, "K": 3})


def test_unroll_jam_moves_an_initialisation_away_and_says_so():
    jammed = wb.schedule(wb.ops.matmul) | wb.unroll_jam("m", 4)
    assert [str(step) for step in jammed.trace] == ["decompose_reduction('C')", "unroll_jam('m', 4)"]
    assert wb.Schedule.from_json(wb.ops.matmul, jammed.to_json()).tree == jammed.tree
    agree(jammed, {"M": 10, "N": 7, "K": 3})


def test_unroll_jam_of_several_statements():
    two = wb.operator("def f(float(N,M) A) -> (X, Y) { X(i,j) = A(i,j) + 1\n Y(i,j) = X(i,j) * 2 }")
    agree(wb.schedule(two) | wb.merge("X", "Y", depth=2) | wb.unroll_jam("i", 2), {"N": 7, "M": 5})


def test_unroll_jam_is_judged_like_an_interchange():
    with pytest.raises(IllegalSchedule):
        wb.schedule(wb.ops.load("seidel_2d")) | wb.unroll_jam("A.1/i", 2)
    with pytest.raises(ScheduleError, match="needs loops directly inside"):
        wb.schedule(wb.ops.matmul) | wb.unroll_jam("k", 2)
    with pytest.raises(ScheduleError, match="positive integer"):
        wb.schedule(wb.ops.load("transpose")) | wb.unroll_jam("n", 0)


@pytest.mark.parametrize("step", [wb.fuse("h", "w"), wb.fuse("f", "h", name="x")])
def test_steps_are_written_and_read_back(step):
    schedule = wb.schedule(CONV, **SIZES) | step
    assert wb.Schedule.from_json(CONV, schedule.to_json()).key == schedule.key
    scope: dict[str, object] = {}
    exec(schedule.to_python(), scope)
    assert schedule.key in {v.key for v in scope.values() if isinstance(v, wb.Schedule)}
    assert np.isfinite(wb.build(schedule)(np.ones((5, 7, 9), "f"), np.ones((4, 5), "f"))).all()
