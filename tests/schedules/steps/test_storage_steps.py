"""Where cells are kept: `transform_layout`, `fold_storage`, `storage_align`."""

from __future__ import annotations

import re

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.schedules.texts import MATMUL
from tests.small_sizes import MACHINE
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.schedules import Schedule, Transform
from workbench.schedules.steps import FoldStorage, StorageAlign, TransformLayout

STATES = """
def states(float(D) X, int32 T) -> (Y) {
    h(t, i) = X(i) where t in 0:1, i in 0:D
    for t in 1:T {
        h(t, i) = 0.5 * h(t-1, i) + h(t-1, D-1-i)
    }
    Y(i) = h(T-1, i) where i in 0:D
}"""


def text(schedule: Schedule) -> str:
    source = wb.generate(schedule, MACHINE).source
    return source[source.index(f"int {schedule.program.name}(") :]


def window() -> Schedule:
    """The blur whose rows are computed as they are needed."""
    return wb.schedule(wb.ops.load("blur")) | wb.compute_at("R", "B/y", recompute=False)


def packed(**sizes: int) -> Schedule:
    """The matrix product of Goto and BLIS, both operands in panels."""
    naive = wb.schedule(wb.operator(MATMUL), **sizes) | wb.decompose_reduction("C")
    tiled = naive | wb.tile({"C/m": 12, "C/n": 32, "C/k": 8}) | wb.tile(m_i=6, n_i=16)
    tiled = tiled | wb.reorder("k_i", "m_i_i", "n_i_i") | wb.reorder("n_o", "k_o", "m_o")
    staged = tiled | wb.stage("B", "k_o") | wb.stage("A", "m_o")
    panels = staged | wb.transform_layout("A_local", "(m, k) -> (m / 6, k, m % 6)")
    panels = panels | wb.transform_layout("B_local", "(k, n) -> (n / 16, k, n % 16)")
    copies = panels | wb.split("A_local.load/m", 6, names=("p", "r")) | wb.reorder("p", "A_local.load/k", "r")
    copies = copies | wb.split("B_local.load/n", 16, names=("q", "c")) | wb.vectorize("c")
    return copies | wb.unroll("C/m_i_i") | wb.vectorize("C/n_i_i")


def test_panels_of_tiles_are_addressed_by_loops_alone(golden) -> None:
    schedule = packed()
    code = text(schedule)
    golden(f"{schedule}\n\n{code}")
    cells = re.findall(r"_local\[[^\]]*\]", code)
    assert cells
    assert not any("/" in c or "%" in c or "floordiv" in c or "mod" in c for c in cells), cells
    assert "float A_local[96]" in code
    assert "float B_local[256]" in code
    for sizes in (dict(M=25, N=50, K=20), dict(M=6, N=16, K=8), dict(M=1, N=1, K=1), dict(M=5, N=0, K=3)):
        agree(schedule, sizes)


def test_panels_of_given_sizes() -> None:
    agree(packed(M=13, N=34, K=9))


@pytest.mark.parametrize(
    ("name", "array", "layout", "sizes"),
    [
        ("separable_conv2d", "D", "(n, c, y, x) -> (n, y, x / 4, c, x % 4)", dict(N=2, C=3, H=8, W=9, KH=3, KW=2, F=4)),
        ("covariance", "D", "(n, i) -> (i, n)", dict(N=5, M=7)),
        ("rnn", "V", "(t, b, j) -> (2 * t + 1, j, b)", dict(S=4, B=2, I=3, H=5)),
        ("jacobi_2d", "B", "(i, j) -> (j - i, j)", dict(M=6, N=7, steps=3)),
    ],
)
def test_temporaries_may_lie_as_a_schedule_likes(name: str, array: str, layout: str, sizes: dict[str, int]) -> None:
    op = wb.ops.load(name)
    step = wb.transform_layout(array, layout)
    agree(wb.schedule(op) | step, sizes)
    agree(wb.schedule(op, **sizes) | step, sizes)


def test_two_of_all_the_states_of_a_recurrence_are_kept(golden) -> None:
    schedule = wb.schedule(wb.operator(STATES))
    assert [str(s) for s in FoldStorage.choices(schedule)] == ["fold_storage('h', 0, 2)"]
    kept = schedule | wb.fold_storage("h", 0, 2)
    golden(text(kept))
    for sizes in (dict(D=5, T=1), dict(D=5, T=2), dict(D=4, T=7)):
        agree(kept, sizes)
    with pytest.raises(IllegalSchedule, match=r"h\.1\(\d, \d\), reading h, would not get"):
        schedule | wb.fold_storage("h", 0, 1)
    with pytest.raises(IllegalSchedule):
        schedule | wb.fold_storage("h", 1, 2)


def test_a_state_that_only_meets_itself_needs_one_place() -> None:
    alone = STATES.replace(" + h(t-1, D-1-i)", "")
    schedule = wb.schedule(wb.operator(alone))
    assert [str(s) for s in FoldStorage.choices(schedule)] == ["fold_storage('h', 0, 1)"]
    agree(schedule | wb.fold_storage("h", 0, 1), dict(D=5, T=4))


def test_the_sliding_window_of_a_blur_keeps_three_rows(golden) -> None:
    schedule = window()
    assert "fold_storage('R', 0, 3)" in [str(s) for s in FoldStorage.choices(schedule)]
    rolling = schedule | wb.fold_storage("R", 0, 3)
    golden(text(rolling))
    for sizes in (dict(H=9, W=8), dict(H=3, W=3), dict(H=4, W=21)):
        agree(rolling, sizes)
    with pytest.raises(IllegalSchedule, match=r"B\(0, 0\), reading R, would not get R\(0, 0\).*value of R\(2, 0\)"):
        schedule | wb.fold_storage("R", 0, 2)
    with pytest.raises(IllegalSchedule, match=r"reading R, would not get"):
        wb.schedule(wb.ops.load("blur")) | wb.fold_storage("R", 0, 3)


def test_a_rolling_buffer_forbids_parallel_rows() -> None:
    rolling = window() | wb.fold_storage("R", 0, 3)
    assert not rolling.can(wb.parallelize("B/y"))
    agree(rolling | wb.vectorize("B/x") | wb.vectorize("R/x"), dict(H=9, W=30))


def test_buffered_indices_are_found_in_targets_too() -> None:
    op = wb.operator("def f(float(M) X, int32(M) idx, int32 N) -> (float(N) O) { O(idx(i)) += X(i) * idx(i) }")
    staged = wb.schedule(op) | wb.split("i", 4) | wb.stage("idx", "i_o")
    X, idx = np.arange(10, dtype=np.float32), np.array([0, 1, 2, 3, 3, 2, 1, 0, 4, 4], np.int32)
    for schedule in (staged, staged | wb.transform_layout("idx_local", "i -> 3 - i")):
        out, expected = np.zeros(5, np.float32), np.zeros(5, np.float32)
        np.testing.assert_array_equal(wb.build(schedule)(X, idx, 5, out=out), op.evaluate(X, idx, 5, out=expected))


def test_rows_begin_where_storage_align_says() -> None:
    staged = wb.schedule(wb.operator(MATMUL), M=20, N=24, K=13) | wb.decompose_reduction("C")
    staged = staged | wb.tile({"C/m": 8, "C/n": 8, "C/k": 5}) | wb.stage("A", "k_o")
    assert "float A_local[40]" in text(staged)
    for factor, offset, stride in ((16, 0, 16), (7, 3, 10)):
        aligned = staged | wb.storage_align("A_local", 0, factor, offset)
        assert f"float A_local[{8 * stride}]" in text(aligned)
        assert f"*{stride} + " in text(aligned)
        agree(aligned)
    agree(staged | wb.transform_layout("A_local", "(m, k) -> (k, m)") | wb.storage_align("A_local", 0, 8, 1))


def test_temporaries_are_padded_for_every_size() -> None:
    for name, array, sizes in (("covariance", "D", dict(N=5, M=7)), ("separable_conv2d", "D", None)):
        sizes = sizes or dict(N=2, C=3, H=8, W=9, KH=3, KW=2, F=4)
        schedule = wb.schedule(wb.ops.load(name)) | wb.storage_align(array, 0, 16, 3)
        agree(schedule, sizes)


def test_padded_rows_may_be_empty() -> None:
    """Their strides are negative then; no memory is asked for."""
    text = """def f(float(K) A) -> (B) {
        T(i, j, l) = A(l) * i where i in 0:K, j in 2:K, l in 0:K
        B(i) +=! T(i, j, l) where j in 2:K
    }"""
    kernel = wb.build(wb.schedule(wb.operator(text)) | wb.storage_align("T", 1, 8) | wb.storage_align("T", 0, 8, 3))
    for k in range(1, 5):
        found = kernel(np.ones(k, np.float32))
        np.testing.assert_array_equal(found, [i * max(k - 2, 0) * k for i in range(k)])


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (wb.transform_layout("X", "(i, j) -> (j, i)"), r"X is an input.*stage\('X', ...\) first"),
        (wb.transform_layout("Q", "(i, j) -> (j, i)"), "unknown array 'Q'"),
        (wb.transform_layout("D", "(i, j) -> (j)"), "two cells of D that are used at once would share a place"),
        (wb.transform_layout("D", "(i) -> (i)"), "D has 2 dimensions, the map names 1"),
        (wb.transform_layout("D", "(i, j) -> (i * j, j)"), "not affine"),
        (wb.transform_layout("D", "j, i"), "expected a map such as"),
        (wb.transform_layout("D", "(i, j) -> (j, q)"), "unknown index or size 'q'"),
        (wb.fold_storage("C", 0, 2), "C is an output"),
        (wb.fold_storage("D", 2, 2), "D has the dimensions 0 to 1"),
        (wb.fold_storage("D", 0, 0), "must be a positive integer"),
        (wb.storage_align("D", 0, 0), "must be a positive integer"),
        (wb.storage_align("D", 0, 8, 8), "offset=8 must be from 0 to 7"),
        (wb.storage_align("D", 5, 8), "D has the dimensions 0 to 1"),
    ],
)
def test_what_does_not_fit_is_said(step: Transform, message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        wb.schedule(wb.ops.load("covariance")) | step


@pytest.mark.parametrize("kind", [TransformLayout, FoldStorage, StorageAlign])
@pytest.mark.parametrize("name", ["covariance", "rnn", "mlp1", "separable_conv2d"])
def test_what_is_offered_is_legal_and_can_be_written_down(kind: type[Transform], name: str) -> None:
    schedule = wb.schedule(wb.ops.load(name))
    for step in kind.choices(schedule):
        after = schedule | step
        assert Schedule.from_json(schedule.original.definition, after.to_json()) == after  # type: ignore[arg-type]


def test_a_guarded_copy_through_a_buffer():
    """GCC 12.2 computed this wrong at -O3 with AVX2."""
    padded = wb.ops.load("pad2d")
    sizes = {"H": 3, "W": 3, "top": 1, "left": 2, "bottom": 2, "right": 2}
    image = np.arange(1, 10, dtype="float32").reshape(3, 3)
    scalars = {name: value for name, value in sizes.items() if name not in "HW"}
    staged = wb.build(wb.schedule(padded, **sizes) | wb.stage("O", "y"))
    np.testing.assert_array_equal(staged(image, value=0.0), padded.evaluate(image, value=0.0, **scalars))
