"""Small cases of faults that random schedules on threads found."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.emulation import build_on_cpu
from workbench.runtime.emulation.records import ORDERS

TRIANGLE = wb.operator("def t(float(N,N) A) -> (S) { S(k) +=! A(k,l) where k in 0:N, l in 0:k }")
STRIDES = wb.operator("""
def p(uint16(N,7) X, uint16(N) Y, int32(6) J) -> (T) {
    T(k,l) +=! X(2*l,2*k) * X(l + 2,k + 2) * Y(J(k + l)) where k in 0:4, l in 0:2
}
""")
TWICE = wb.operator("""
def p(float(N,M) A, float(M) B) -> (C) {
    C(i,k) = A(i,k)
    C(i,k) = C(i,k) * B(max(k - 1, 0)) + 1
}
""")


def executed(schedule, order, *arrays):
    return build_on_cpu(wb.generate(schedule, "cuda"), order=order)(*arrays)


@pytest.mark.parametrize("order", ORDERS)
def test_what_lost_its_loop_over_threads_waits_for_the_others(order):
    """Row k = 1 is all that block 0 adds up: its loop over threads has one iteration, and the first thread takes it."""
    bound = wb.bind("S.init/k_o", "block.x"), wb.bind("S.init/k_i", "thread.x")
    schedule = wb.schedule(TRIANGLE, N=3) | wb.barrier("S.init") | wb.tile({"S.init/k": 2}) | bound[0] | bound[1]
    A = np.arange(9, dtype=np.float32).reshape(3, 3)
    np.testing.assert_array_equal(executed(schedule, order, A), np.tril(A, -1).sum(axis=1))


def test_a_loop_over_blocks_stays_one_where_a_thread_keeps_an_array():
    """Two blocks that both walk through all of k would compute C from C twice."""
    schedule = wb.schedule(TWICE, N=2, M=3) | wb.add_unit_loop("C.1", 2) | wb.stage("B", "C.1/k")
    schedule = schedule | wb.tile({"C.1/k": 2}) | wb.bind("C.1/k_o", "block.x") | wb.bind("C.1/k_i", "thread.x")
    schedule = schedule | wb.bind("C/i", "block.x")
    A, B = np.ones((2, 3), np.float32), np.array([2, 3, 4], np.float32)
    np.testing.assert_array_equal(executed(schedule, "forward", A, B), A * [2, 2, 3] + 1)


def test_a_block_of_one_thread_uses_nothing_that_is_under_way():
    """Between copies and their use in one piece is no place where the thread could wait: they are made at once."""
    schedule = wb.schedule(wb.operator("def d(float(N,M) A) -> (B) { B(i,k) = 2 * A(i,k) }"), N=5, M=3)
    ahead = schedule | wb.stage("A", "k") | wb.pipeline("k", async_=True) | wb.bind("i", "block.y")
    A = np.arange(15, dtype=np.float32).reshape(5, 3)
    np.testing.assert_array_equal(executed(ahead, "forward", A), 2 * A)


def test_a_kernel_is_called_although_its_addresses_count_from_nowhere():
    """GCC 12 writes X[2*l][2*k] as an offset from address 0, concludes that nobody comes there, and calls nothing."""
    X, Y = (np.arange(91, dtype=np.uint16) % 5 + 1).reshape(13, 7), np.arange(1, 14, dtype=np.uint16)
    J = np.array([0, 1, 2, 0, 1, 2], np.int32)
    schedule = wb.schedule(STRIDES, N=13) | wb.bind("k", "thread.x")
    np.testing.assert_array_equal(executed(schedule, "forward", X, Y, J), STRIDES.evaluate(X, Y, J))


def test_updates_of_what_a_thread_has_for_itself_are_plain():
    """Local memory has no atomic operations: compilers warn, and a GPU faults."""
    schedule = wb.schedule(wb.ops.matmul, M=5, N=3, K=10) | wb.atomic("C") | wb.split_reduction("k", 8)
    kernel = wb.generate(schedule | wb.bind("C.init/m", "block.x") | wb.bind("C.init/n", "thread.x"), "cuda")
    assert "float C_rf[2];" in kernel.source
    assert "atomicAdd" not in kernel.source
    A, B = np.ones((5, 10), np.float32), np.arange(30, dtype=np.float32).reshape(10, 3)
    np.testing.assert_array_equal(build_on_cpu(kernel)(A, B), A @ B)


@pytest.mark.parametrize("order", ORDERS)
def test_what_lost_its_loop_over_blocks_is_executed_by_one_block(order):
    """All 11 contributions are in iteration i_o = 0; the blocks 1 to 3 have only elements of D."""
    op = wb.operator("def p(float(N,M) A, float(M) B) -> (S, D) { S(j) +=! A(i,j)   D(k) = 2*B(k) }")
    schedule = wb.schedule(op, N=11, M=4) | wb.decompose_reduction("S") | wb.tile({"S/i": 32})
    schedule = schedule | wb.reorder("S/i_o", "S/j", "S/i_i") | wb.merge("S", "D") | wb.bind("D/i_o", "block.x")
    A, B = np.arange(44, dtype=np.float32).reshape(11, 4), np.ones(4, np.float32)
    S, D = executed(schedule | wb.bind("S.init/j", "block.x"), order, A, B)
    np.testing.assert_array_equal(S, A.sum(axis=0))
    np.testing.assert_array_equal(D, 2 * B)
