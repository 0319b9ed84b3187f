"""Rows that become lanes are copied in squares; every number of rows, lanes and iterations stays right."""

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.target import Target

TURNED = "def turned({0}(N,K) B) -> (P) {{ P(k,n) = B(n,k) }}"


@pytest.mark.parametrize(
    ("dtype", "count", "lanes", "bits"),
    [("float", 12, 16, 256), ("float", 7, 19, 256), ("float", 5, 8, 128), ("float", 3, 33, 512), ("int32", 9, 16, 512),
     ("double", 8, 16, 256), ("int8", 8, 64, 256)],
)  # fmt: skip
def test_copies_stay_right(dtype, count, lanes, bits):
    schedule = wb.schedule(wb.operator(TURNED.format(dtype)), K=count, N=lanes) | wb.vectorize("P/n")
    text = wb.generate(schedule, Target(vector_bits=bits)).source
    assert ("get_four" in text or "_turn(" in text) == (dtype in ("float", "int32") and lanes >= bits // 32)
    assert ("for (; k < " in text) == ("get_four" in text and count % 4 != 0)
    agree(schedule, target=Target(vector_bits=bits))


@pytest.mark.parametrize("N", [3, 9, 20, 37])
def test_whole_vectors_have_a_loop_of_their_own_while_sizes_are_open(N):
    schedule = wb.schedule(wb.operator(TURNED.format("float")), K=6) | wb.vectorize("P/n")
    assert "get_four" in wb.generate(schedule).source
    agree(schedule, {"N": N})


def test_cells_that_are_written_twice_are_written_in_order():
    loops = "for (int k = 0; k < 9; k++) for (int i = 0; i < n; i++)"
    program = wb.from_c(f"void f(int n, float B[n][9], float P[n]) {{ {loops} P[i] = B[i][k]; }}")
    schedule = wb.schedule(program) | wb.vectorize("P/i")
    assert "get_four" not in wb.generate(schedule).source
    B = np.arange(21 * 9, dtype=np.float32).reshape(21, 9)
    P = np.zeros(21, np.float32)
    wb.build(schedule)(B, P, n=21)
    np.testing.assert_array_equal(P, B[:, 8])


@pytest.mark.parametrize("K", [0, 3, 4, 6])
def test_symbolic_copies_stay_right(K):
    schedule = wb.schedule(wb.operator(TURNED.format("float")), N=24) | wb.vectorize("P/n")
    agree(schedule, {"K": K})


@pytest.mark.parametrize(
    "value",
    ["B(n,k) + 1", "B(n,2*k) where k in 0:K/2", "B(I(n),k)", "exp(B(n,k))"],
    ids=["a sum", "every second", "through an index", "a function"],
)
def test_what_is_no_such_copy_is_left(value):
    text = f"def f(float(N,K) B, int32(N) I) -> (P) {{ P(k,n) = {value} }}"
    schedule = wb.schedule(wb.operator(text), K=8, N=16) | wb.vectorize("P/n")
    assert "get_four" not in wb.generate(schedule, Target(vector_bits=256)).source


@pytest.mark.parametrize(("bits", "dtype"), [(128, "float"), (256, "int32"), (512, "float"), (512, "int32")])
def test_whole_squares_are_turned_in_registers(bits, dtype):
    lanes = bits // 32
    schedule = wb.schedule(wb.operator(TURNED.format(dtype)), K=2 * lanes, N=3 * lanes + 1) | wb.vectorize("P/n")
    text = wb.generate(schedule, Target(vector_bits=bits)).source
    assert f"wb_v{lanes}{'f' if dtype == 'float' else 'i'}32_turn(" in text
    agree(schedule, target=Target(vector_bits=bits))
