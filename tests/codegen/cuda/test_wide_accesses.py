"""Vector loops on a GPU: accesses of 16 bytes where elements lie side by side from a multiple of four on."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

import workbench as wb
from tests.ops.test_compiled import agree
from tests.ops.test_values import arguments
from tests.recipe_kernels import PAIRS, recipe_schedule
from workbench.schedules import Schedule
from workbench.schedules.recipes.gpu import grids as gpu_grids

ROWS = "def f(float(M,N) X, float(N) b) -> (Y) {{ Y(m,n) = X({m},{n}) * b(n) where m in 0:M, n in 0:{length} }}"


def in_fours(m: str = "m", n: str = "n", length: str = "N", **sizes: int) -> Schedule:
    op = wb.operator(ROWS.format(m=m, n=n, length=length))
    schedule = wb.schedule(op, **sizes) | wb.split("n", 4) | wb.vectorize("n_i") | wb.bind("n_o", "thread.x")
    return schedule | wb.bind("m", "block.x")


def apart(array: np.ndarray) -> np.ndarray:
    """The same values 4 bytes behind a place where wide accesses may begin."""
    memory = np.empty(array.size + 5, array.dtype)
    first = (16 - memory.ctypes.data % 16) % 16 // array.dtype.itemsize
    view = memory[first + 1 : first + 1 + array.size].reshape(array.shape)
    view[...] = array
    return view


def body(schedule: Schedule) -> str:
    text = wb.generate(schedule, target="cuda").source
    return text[text.index('extern "C" __global__') :]


def test_neighbours_are_loaded_and_stored_at_once():
    text = body(in_fours(M=8, N=64))
    assert "const float4 X_w = *(const float4 *)&X[m*64 + 4 * n_o];" in text
    assert "Y_w.w = X_w.w * b_w.w;" in text
    assert "*(float4 *)&Y[m*64 + 4 * n_o] = Y_w;" in text
    assert "const bool wb_wide = ((uint64_t)X | (uint64_t)b | (uint64_t)Y) % 16 == 0;" in text


def test_what_is_not_aligned_is_loaded_one_by_one():
    text = body(in_fours(n="n + 1", length="(N - 1)", M=8, N=65))
    assert "&X[" not in text
    assert "X[m*65 + 4 * n_o + 1]" in text


@pytest.mark.parametrize(("wanted", "schedule"), [
    (False, lambda: in_fours(M=8, N=63)), (False, lambda: in_fours(m="n", n="m", M=64, N=64)),
    (True, lambda: in_fours(M=8, N=64)),
])  # fmt: skip
def test_rows_of_odd_length_and_columns_are_no_wide_accesses(wanted, schedule):
    assert ("&X[" in body(schedule())) is wanted


def test_a_last_piece_is_written_out():
    text = body(in_fours(length="(N - 2)", M=4, N=64))
    assert "if (62 - 4 * n_o >= 4) {" in text
    assert "*(float4 *)&Y" not in text  # its rows have 62 elements


@pytest.mark.parametrize("name", ["matmul", "conv2d"])
def test_arrays_that_begin_anywhere_give_the_same(name):
    op = wb.ops.load(name)
    arrays, _ = arguments(name, PAIRS[name])
    schedule = recipe_schedule(name)
    assert "wb_wide" in body(schedule)
    kernel = wb.build(schedule, target="cuda-on-cpu")
    for given in (arrays, tuple(apart(a) if isinstance(a, np.ndarray) else a for a in arrays)):
        agree(name, kernel(*given), op.evaluate(*arrays))


def test_long_rows_are_walked_in_fours_by_the_recipe():
    op, sizes = wb.ops.load("bias_relu"), {"M": 5, "N": 256}
    with patch.object(gpu_grids, "WIDE_WORK", 1):
        schedule = wb.autoschedule(op, "h200", sizes=sizes)
    assert "vectorize('Y/n_v')" in schedule.python()
    assert wb.coalescing(schedule).efficiency == 1
    arrays, _ = arguments("bias_relu", sizes)
    kernel = wb.build(schedule, target="cuda-on-cpu")
    for given in (arrays, tuple(map(apart, arrays))):
        agree("bias_relu", kernel(*given), op.evaluate(*arrays))
    assert wb.sanitize(schedule, *arrays)


@pytest.mark.parametrize(("D", "wanted"), [(256, True), (258, False)])
def test_a_row_that_a_gather_names_is_walked_in_fours_if_rows_begin_at_multiples_of_four(D, wanted):
    op = wb.operator("def f(float(V,D) A, int32(N) i) -> (O) where in_range(i, 0, V) { O(n,d) = 2 * A(i(n),d) }")
    sizes = {"V": 7, "D": D, "N": 5}
    with patch.object(gpu_grids, "WIDE_WORK", 1):
        schedule = wb.autoschedule(op, "h200", sizes=sizes)
    assert ("*(const float4 *)&A[i[" in body(schedule)) is wanted
    table = np.random.default_rng(1).random((7, D), np.float32)
    rows = np.array([6, 0, 3, 3, 1], np.int32)
    kernel = wb.build(schedule, target="cuda-on-cpu")
    for given in (table, apart(table)):
        np.testing.assert_array_equal(kernel(given, rows), 2 * table[rows])
    assert wb.sanitize(schedule, table, rows)


def test_what_is_read_under_a_condition_is_not_loaded_before_it():
    op = wb.operator("def f(float(N) X, float(M) Z) -> (Y) { Y(i) = i < N ? X(i) + Z(i) : Z(i) where i in 0:M }")
    schedule = wb.schedule(op, N=6, M=16) | wb.split("i", 4) | wb.vectorize("i_i") | wb.bind("i_o", "thread.x")
    text = body(schedule)
    assert "*)&Y[" in text
    assert "*)&X[" not in text
    arrays = np.arange(6, dtype=np.float32), np.ones(16, np.float32)
    found = wb.sanitize(schedule, *arrays)
    assert found, str(found)
