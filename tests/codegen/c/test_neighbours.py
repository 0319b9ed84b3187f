"""Unrolled copies of neighbours are one move of memory, and nothing else is."""

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.target import Target

COPY = "def f({0}(N,K) A) -> (B) {{ B(n,k) = A(n,k) }}"


@pytest.mark.parametrize("dtype", ["float", "double", "int8", "int64", "float16", "bool"])
@pytest.mark.parametrize("count", [1, 2, 3, 6, 9, 32])
def test_neighbours_are_moved_at_once(dtype, count):
    schedule = wb.schedule(wb.operator(COPY.format(dtype)), N=5, K=count) | wb.unroll("B/k")
    assert ("__builtin_memcpy(&B" in wb.generate(schedule).source) == (count > 1 and dtype != "bool")
    agree(schedule)


def test_pieces_of_rows_are_moved_and_what_is_left_is_not():
    schedule = wb.schedule(wb.operator(COPY.format("float")), N=3, K=20) | wb.split("B/k", 6) | wb.unroll("B/k_i")
    assert "24);" in wb.generate(schedule).source
    agree(schedule)


@pytest.mark.parametrize(
    "text",
    ["B(n,k) = A(n,7-k) where k in 0:8", "B(n,k) = A(n,2*k) where k in 0:4", "B(n,k) = A(n,k) + 1", "B(k,n) = A(n,k)",
     "B(n,k) = double(A(n,k))", "B(n,k) = A(n,0) where k in 0:8", "B(n,k) +=! A(n,k)"],
)  # fmt: skip
def test_what_is_no_such_copy_is_left(text):
    op = wb.operator(f"def f(float(N,K) A) -> (B) {{ {text} }}")
    schedule = wb.schedule(op, N=5, K=8) | wb.unroll("B/k")
    assert "__builtin_memcpy(&B" not in wb.generate(schedule, Target(vector_bits=256)).source
    agree(schedule)


def test_a_row_that_moves_along_itself_is_moved_in_order():
    program = wb.from_c("void f(int n, float B[n][9]) { for (int i = 0; i < n; i++) for (int k = 0; k < 8; k++) "
                        "B[i][k + 1] = B[i][k]; }")  # fmt: skip
    schedule = wb.schedule(program, n=4) | wb.unroll(program.statements[0].name + "/k")
    assert "__builtin_memcpy(&B" not in wb.generate(schedule).source
    B = np.arange(36, dtype=np.float32).reshape(4, 9)
    wb.build(schedule)(B, n=4)
    np.testing.assert_array_equal(B, np.repeat(9.0 * np.arange(4)[:, None], 9, axis=1))
