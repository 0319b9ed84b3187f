"""Parts of nests executed by functions in C."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ScheduleError

DEFINITION = "def {}(float(M,K) A, float(K,N) B) -> (C) {{ C(m,n) += A(m,k) * B(k,n) }}"
SOURCE = """
static void {}(const float *A, int64_t A_0, int64_t A_1, const float *B, int64_t B_0, int64_t B_1,
               float *C, int64_t C_0, int64_t C_1, int64_t M, int64_t K, int64_t N)
{{
    {}
    for (int64_t m = 0; m < M; m++)
        for (int64_t k = 0; k < K; k++)
            for (int64_t n = 0; n < N; n++)
                C[m*C_0 + n*C_1] += A[m*A_0 + k*A_1] * B[k*B_0 + n*B_1];
}}
"""


def kernel(name, sizes=(), first=""):
    return wb.register(wb.MicroKernel(name, DEFINITION.format(name), SOURCE.format(name, first), sizes))


ANY = kernel("any_block")
FIXED = kernel("block_6x16", (("M", 6), ("N", 16)), "if (M != 6 || N != 16) __builtin_trap();")


def data(*shapes):
    random = np.random.default_rng(1)
    return [random.integers(-4, 5, shape).astype("float32") for shape in shapes]


@pytest.mark.parametrize("sizes", [{}, {"M": 25, "N": 37, "K": 11}], ids=["symbolic", "bound"])
@pytest.mark.parametrize("chosen", [ANY, FIXED], ids=["any sizes", "6x16"])
@pytest.mark.parametrize("staged", [False, True], ids=["in place", "packed"])
def test_blocks_of_a_product(sizes, chosen, staged):
    A, B = data((25, 11), (11, 37))
    tiled = wb.schedule(wb.ops.matmul, **sizes) | wb.tile(m=6, n=16)
    schedule = tiled | wb.reorder("m_o", "n_o", "m_i", "n_i", "k")
    if staged:
        schedule = schedule | wb.stage("B", "C/n_o")
    built = wb.build(schedule | wb.replace("C/m_i", chosen) | wb.parallelize("C/m_o"))
    assert f"{chosen.name}(&" in built.source
    np.testing.assert_array_equal(built(A, B), A @ B)


def test_a_convolution_by_products_of_rows():
    """Reuse of a kernel on an operator nobody planned for: rows of a convolution are products with strides."""
    conv = wb.operator(
        "def conv(float(C,H,W) I, float(F,C,R,S) K) -> (O) { O(f,y,x) +=! I(c, y + r, x + s) * K(f,c,r,s) }"
    )
    image, filters = data((3, 9, 20), (5, 3, 3, 3))
    schedule = wb.schedule(conv) | wb.reorder("O/y", "O/r", "O/s", "O/f", "O/x", "O/c")
    built = wb.build(schedule | wb.replace("O/f", ANY))
    assert "any_block(&" in built.source
    np.testing.assert_array_equal(built(image, filters), conv.evaluate(image, filters))


def test_choices_are_the_parts_that_fit():
    schedule = wb.schedule(wb.ops.matmul, M=12, N=32, K=8) | wb.decompose_reduction("C")
    found = [str(s) for s in wb.schedules.steps.Replace.choices(schedule)]
    assert "replace('C/m', 'any_block')" in found
    assert all(schedule.can(s) for s in wb.schedules.steps.Replace.choices(schedule))


@pytest.mark.parametrize(
    ("loop", "name", "reason"),
    [
        ("C/m", "no_such", "unknown micro-kernel 'no_such'; known:.*any_block"),
        ("C/n", "any_block", "runs over 3 indices, the part over 2"),
        ("C.init/m", "any_block", "combines its values differently"),
    ],
)
def test_what_does_not_fit_is_refused(loop, name, reason):
    schedule = wb.schedule(wb.ops.matmul) | wb.decompose_reduction("C")
    with pytest.raises(ScheduleError, match=reason):
        schedule | wb.replace(loop, name)


def test_another_value_does_not_fit():
    other = wb.operator("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) - B(k,n) }")
    with pytest.raises(ScheduleError, match="does not hold"):
        wb.schedule(other) | wb.decompose_reduction("C") | wb.replace("C/m", ANY)


def test_nothing_is_called_in_lanes():
    batched = wb.operator("def f(float(B,M,K) A, float(B,K,N) X) -> (C) { C(b,m,n) +=! A(b,m,k) * X(b,k,n) }")
    schedule = wb.schedule(batched) | wb.decompose_reduction("C")
    assert schedule.can(wb.replace("C/m", ANY))
    with pytest.raises(ScheduleError, match="b outside runs in lanes"):
        schedule | wb.vectorize("C/b") | wb.replace("C/m", ANY)


def test_a_definition_must_be_one_statement():
    with pytest.raises(ScheduleError, match="one statement"):
        wb.MicroKernel("two", "def two(float(N) A) -> (B) { B(i) = A(i)\n B(i) = B(i) + 1 }", "void two() {}")
