"""Arrays of a thread: accesses past their end, and elements without a value, are found; large ones fit the stack."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.runtime.emulation.kernels import cuda, line_of
from tests.runtime.hand import numbers, parameter
from workbench.codegen.kernel import Kernel
from workbench.runtime.emulation import build_on_cpu

TEXT = """\
#include <stdint.h>
WB_INLINE void add(float *c, float x)
{
    WB_UNROLL for (int64_t j = 0; j < 4; j++) c[j] += x;
}
extern "C" __global__ void own(const float *__restrict__ X, float *__restrict__ Y)
{
    __align__(16) float four[4];
    float sums[6] = {};
    const int64_t t = threadIdx.x;
    *(float4 *)&four[0] = *(const float4 *)&X[4*t];
    add(four, 1.0f);
    for (int64_t i = 0; i < 4; i++)
        sums[i + 1] += four[i];
    Y[t] = sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5];
}
"""
FAULTS = {
    "a wide copy past the end": ("&four[0] =", "&four[0 + 4] =", "out of bounds", "four", 4),
    "a wide copy across the end": ("&four[0] =", "&four[2] =", "out of bounds", "four", 2),
    "a subscript before the start": ("sums[i + 1]", "sums[i - 1]", "out of bounds", "sums", -1),
    "a subscript far away": ("sums[i + 1]", "sums[i + 4000]", "out of bounds", "sums", 4000),
    "a helper that goes too far": ("j < 4", "j < 4 + 1", "out of bounds", "four", 4),
    "a sum that begins nowhere": (" = {};", ";", "uninitialised", "sums", 1),
    "a copy that is not made": (
        "    *(float4 *)&four[0] = *(const float4 *)&X[4*t];\n",
        "\n",
        "uninitialised",
        "four",
        0,
    ),
}


def kernel(text: str = TEXT) -> Kernel:
    parameters = parameter("X", (32,)), parameter("Y", (8,), role="output")
    return cuda("own", text, *parameters, grid=(1, 1, 1), block=(8, 1, 1))


def test_sound_arrays_compute_and_nothing_is_found():
    X = numbers(32)
    assert wb.sanitize(kernel(), X)
    np.testing.assert_allclose(build_on_cpu(kernel())(X), X.reshape(8, 4).sum(axis=1) + 4, rtol=1e-6)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_at_its_line(fault):
    before, after, kind, array, index = FAULTS[fault]
    assert TEXT.count(before) == 1
    wrong = kernel(TEXT.replace(before, after))
    found = wb.sanitize(wrong, numbers(32))[0]
    assert (found.kind, found.array, found.index) == (kind, array, index), found
    changed = {"helper": "add(four", "nowhere": "sums[i + 1]", "not made": "add(four"}
    piece = next((piece for word, piece in changed.items() if word in fault), after)
    assert found.line == line_of(wrong, piece)
    assert "helper" not in fault or found.other_line == line_of(wrong, after)


def test_what_a_product_keeps_in_registers_is_watched():
    op = wb.operator("def p(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    schedule = wb.schedule(op, M=4, N=8, K=5) | wb.decompose_reduction("C") | wb.stage("C", "C/k")
    schedule = schedule | wb.bind("C.init/m", "thread.x") | wb.bind("C/m", "thread.x")
    text = wb.generate(schedule, target="cuda")
    assert "float C_local[" in text.source
    assert wb.sanitize(text, numbers(4, 5), numbers(5, 8))


@pytest.mark.parametrize("bytes_", [300 << 10, 500 << 10])
def test_an_array_as_large_as_a_gpu_allows(bytes_):
    op = wb.operator("def f(float(N,M) A) -> (B) { B(i,j) = A(i, M - 1 - j) where j in 0:M }")
    schedule = wb.schedule(op, N=3, M=bytes_ // 4) | wb.stage("A", "i") | wb.bind("i", "thread.x")
    A = np.arange(3 * (bytes_ // 4), dtype=np.float32).reshape(3, -1)
    np.testing.assert_array_equal(wb.build(schedule, target="cuda-on-cpu")(A), A[:, ::-1])


@pytest.mark.parametrize("threads", [2, 32, 64])
def test_threads_that_add_to_cells_of_their_own_are_no_sum_over_threads(threads):
    """A buffer of which each thread keeps its own cell, in a loop of threads alone: a barrier stands around it."""
    op = wb.operator("def columns(int32(L,K) X) -> (y) { y(k) +=! X(l,k) }")
    schedule = wb.schedule(op, L=3, K=2 * threads) | wb.stage("y", "k") | wb.barrier("y", inside="l")
    schedule = schedule | wb.tile({"y.init/k": threads}) | wb.bind("y.init/k_o", "block.x")
    schedule = schedule | wb.bind("y.init/k_i", "thread.x")
    X = np.arange(6 * threads, dtype=np.int32).reshape(3, -1)
    np.testing.assert_array_equal(build_on_cpu(wb.generate(schedule, "cuda"))(X), X.sum(0))
