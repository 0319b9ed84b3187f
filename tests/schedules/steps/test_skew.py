"""skew, shift and reverse: laws, wavefronts, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import IllegalSchedule, ScheduleError, UnknownLoop
from workbench.lang.printing.printer import show
from workbench.poly.programs.tree import path

SEIDEL = wb.ops.load("seidel_2d")
JACOBI = wb.ops.load("jacobi_2d")


def rows(schedule, statement):
    identifier = schedule.program.statement(statement).id
    return [show(loop.row(identifier)) for loop in path(schedule.tree, identifier)]


def image(*shape):
    return np.random.default_rng(3).integers(0, 9, shape).astype("float32") * 9


def wavefront():
    return wb.skew("A.1/i", by="A.1/t") | wb.skew("A.1/j", by="A.1/t") | wb.skew("A.1/j", by="A.1/i")


def test_the_law_of_skew():
    assert rows(wb.schedule(SEIDEL) | wavefront(), "A.1") == ["t", "i + t", "j + 2 * t + i"]


@pytest.mark.parametrize(
    "step", [wb.interchange("A.1/j", "A.1/i"), wb.tile({"A.1/i": 2, "A.1/j": 2})], ids=["interchange", "tile"]
)
def test_seidel_is_refused_with_a_witness(step):
    with pytest.raises(IllegalSchedule, match=r"A\.1\(0,\d,2\) → A\.1\(0,\d,1\)"):
        wb.schedule(SEIDEL) | step


@pytest.mark.parametrize("sizes", [{}, {"N": 9, "M": 8, "steps": 5}], ids=["symbolic", "bound"])
def test_a_skewed_seidel_may_be_tiled(sizes):
    tiled = wb.schedule(SEIDEL, **sizes) | wavefront() | wb.tile({"A.1/t": 2, "A.1/i": 3, "A.1/j": 4})
    grid = image(9, 8)
    np.testing.assert_allclose(wb.build(tiled)(grid, steps=5), SEIDEL.evaluate(grid, steps=5), rtol=1e-5)


def test_the_inner_loop_of_a_wavefront_is_parallel():
    skewed = wb.schedule(SEIDEL) | wb.skew("A.1/j", by="A.1/i", factor=2) | wb.interchange("A.1/j", "A.1/i")
    front = skewed | wb.parallelize("A.1/i")
    with pytest.raises(IllegalSchedule):
        skewed | wb.parallelize("A.1/j")
    grid = image(9, 8)
    np.testing.assert_allclose(wb.build(front)(grid, steps=3), SEIDEL.evaluate(grid, steps=3), rtol=1e-5)


def test_jacobi_is_merged_after_a_shift_and_tiled_over_time():
    names = ("B", "A.1")
    start = wb.schedule(JACOBI)
    moved = [wb.skew(f"{s}/{d}", by=f"{s}/t", factor=2) for s in names for d in "ij"]
    merged = wb.together(
        wb.distribute("A.1"), *moved, wb.shift("A.1/i", 1), wb.shift("A.1/j", 1), wb.merge("B", "A.1", depth=3)
    )
    tiled = start | merged | wb.tile({"B/t": 2, "B/i": 4, "B/j": 4})
    grid = image(9, 8)
    np.testing.assert_allclose(wb.build(tiled)(grid, steps=5), JACOBI.evaluate(grid, steps=5), rtol=1e-5)


def test_a_consumer_that_waits_may_share_the_loop():
    blur = wb.operator("def f(float(N) A) -> (B, C) { B(i) = A(i) * 2\n C(i) = B(i) + B(i + 1) where i in 0:N - 1 }")
    start = wb.schedule(blur)
    with pytest.raises(IllegalSchedule, match="B"):
        start | wb.merge("B", "C")
    fused = start | wb.shift("C/i", 1) | wb.merge("B", "C")
    data = image(11)
    for found, expected in zip(wb.build(fused)(data), blur.evaluate(data), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_shift_by_a_size():
    schedule = wb.schedule(wb.ops.matmul) | wb.decompose_reduction("C") | wb.shift("C/k", "2 * K - 1")
    assert rows(schedule, "C") == ["m", "n", "k + 2 * K - 1"]
    A, B = image(4, 5), image(5, 3)
    np.testing.assert_array_equal(wb.build(schedule)(A, B), A @ B)


@pytest.mark.parametrize("size", [0, 1, 6], ids=["K = 0", "K = 1", "K = 6"])
def test_a_reduction_may_be_reversed_with_its_initialisation_in_the_nest(size):
    schedule = wb.schedule(wb.ops.matmul) | wb.reverse("k") | wb.reverse("n")
    assert rows(schedule, "C") == ["m", "-n", "-k"]
    A, B = image(4, size), image(size, 3)
    np.testing.assert_array_equal(wb.build(schedule)(A, B), A @ B)


def test_a_recurrence_may_not_be_reversed():
    with pytest.raises(IllegalSchedule, match="would break the order"):
        wb.schedule(wb.ops.load("cumsum")) | wb.reverse("Y.1/n")


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (wb.skew("m", by="n", factor=0), "factor=0 does not fit; expected a whole number, not 0"),
        (wb.skew("m", by="n", factor=1 << 40), "does not fit"),
        (wb.skew("m", by="m"), "cannot be skewed by itself"),
        (wb.skew("m", by="k"), "not directly inside one another"),
        (wb.shift("m", 1.5), "does not fit; expected a number"),
        (wb.shift("m", "Q + 1"), "unknown .*Q"),
        (wb.shift("m", "1 +"), "shift"),
        (wb.shift("m", 1 << 40), "does not fit"),
    ],
)
def test_what_does_not_fit_is_refused(step, message):
    with pytest.raises(ScheduleError, match=message):
        wb.schedule(wb.ops.matmul) | step


def test_factors_do_not_grow_without_end():
    four = wb.operator("def f(float(A,B,C) X) -> (Y) { Y(i,j,k) = X(i,j,k) }")
    twice = wb.skew("j", by="i", factor=1 << 20) | wb.skew("k", by="j", factor=1 << 20)
    with pytest.raises(ScheduleError, match="loop 'k' would count by 2199023255552"):
        wb.schedule(four) | twice | wb.skew("k", by="j", factor=1 << 20)


def test_an_unknown_loop_lists_the_known_ones():
    with pytest.raises(UnknownLoop, match="unknown loop 'z'; known: m, n, k"):
        wb.schedule(wb.ops.matmul) | wb.reverse("z")


@pytest.mark.parametrize("step", [wb.skew("n", by="m", factor=-2), wb.shift("n", "N - 3"), wb.reverse("n")])
def test_steps_are_written_and_read_back(step):
    schedule = wb.schedule(wb.ops.matmul) | step
    assert wb.Schedule.from_json(wb.ops.matmul, schedule.to_json()).key == schedule.key
    scope = {}
    exec(schedule.to_python(), scope)
    assert schedule.key in {v.key for v in scope.values() if isinstance(v, wb.Schedule)}
