"""Programs from C meet arrays: in C's order, with or without sizes, in place; and kernels of their schedules do."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.fromc.polybench import program as kernel_text

SIZES = {"ni": 5, "nj": 6, "nk": 7}


@pytest.fixture
def gemm():
    return kernel_text("gemm")


def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.normal(size=(5, 6)), random.normal(size=(5, 7)), random.normal(size=(7, 6))


def expected() -> np.ndarray:
    C, A, B = arrays()
    return 0.5 * C + 1.5 * A @ B


@pytest.mark.parametrize("bound", [{}, {"ni": 5}, SIZES])
@pytest.mark.parametrize("what", ["program", "kernel"])
def test_every_way_of_calling_updates_in_place(gemm, bound, what):
    program = wb.lower(gemm, bound)
    call = program if what == "program" else wb.build(wb.schedule(program))
    ways = [
        lambda C, A, B: call(5, 6, 7, 1.5, 0.5, C, A, B),
        lambda C, A, B: call(1.5, 0.5, C, A, B),
        lambda C, A, B: call(1.5, 0.5, C=C, A=A, B=B),
        lambda C, A, B: call(C=C, A=A, B=B, alpha=1.5, beta=0.5),
    ]
    for way in ways:
        C, A, B = arrays()
        assert way(C, A, B) is C
        np.testing.assert_allclose(C, expected(), rtol=1e-12)


def test_what_it_updates_may_be_given_as_out(gemm):
    for call in (gemm, wb.build(wb.schedule(gemm, sizes=SIZES))):
        C, A, B = arrays()
        assert call(1.5, 0.5, A, B, out=C) is C
        np.testing.assert_allclose(C, expected(), rtol=1e-12)


def test_several_updated_arrays_come_back_as_a_tuple():
    mvt = kernel_text("mvt")
    x1, x2, y1, y2 = (np.arange(4.0) + i for i in range(4))
    A = np.arange(16.0).reshape(4, 4)
    wanted = x1 + A @ y1, x2 + A.T @ y2
    found = mvt(x1, x2, y1, y2, A)
    assert found[0] is x1
    assert found[1] is x2
    np.testing.assert_allclose(found, wanted)


def test_a_missing_array_is_named(gemm):
    C, A, B = arrays()
    for call in (gemm, wb.build(wb.schedule(gemm))):
        with pytest.raises(
            wb.errors.CallError, match=r"missing B.*updates C in place.*ni, nj, nk, alpha, beta, C, A, B"
        ):
            call(1.5, 0.5, C, A)
        with pytest.raises(wb.errors.CallError, match="9"):
            call(9, 6, 7, 1.5, 0.5, C, A, B)
        with pytest.raises(wb.errors.CallError):
            call(1.5, 0.5, C.astype("f4"), A, B)
        with pytest.raises(wb.errors.CallError):
            call(1.5, 0.5, C, A, B, gamma=3)


def test_arrays_with_other_strides_and_types_are_updated(gemm):
    C, A, B = arrays()
    wide = np.zeros((5, 12))
    wide[:, ::2] = C
    gemm(1.5, 0.5, wide[:, ::2], A, B)
    np.testing.assert_allclose(wide[:, ::2], expected(), rtol=1e-12)
    assert not wide[:, 1::2].any()


def test_the_oracle_leaves_arrays_alone_and_refuses_what_leaves_them(gemm):
    C, A, B = arrays()
    before = C.copy()
    np.testing.assert_allclose(wb.evaluate_c(gemm, 1.5, 0.5, C, A, B), expected(), rtol=1e-12)
    np.testing.assert_array_equal(C, before)
    outside = wb.from_c("void f(int n, double A[n]) { for (int i = 0; i <= n; i++) A[i] = 0; }")
    for call in (outside, lambda *a: wb.evaluate_c(outside, *a)):
        with pytest.raises(wb.errors.CallError, match="writes A outside"):
            call(3, np.zeros(3))
    with pytest.raises(wb.errors.CallError, match="from_c"):
        wb.evaluate_c(wb.lower(wb.ops.load("matmul")), A, B)


def test_verify_compares_with_the_text(gemm):
    C, A, B = arrays()
    before = C.copy()
    kernel = wb.build(wb.autoschedule(gemm, sizes=SIZES))
    for check in (wb.verify(kernel, 1.5, 0.5, C, A, B), wb.verify(gemm, 1.5, 0.5, C, A, B)):
        assert check
        assert check.error <= check.bound
    np.testing.assert_array_equal(C, before)
    broken = kernel_text("gemm")
    other = wb.from_c(broken.operator.replace("*= beta", "*= 1.0001 * beta"))
    kernel = wb.build(wb.schedule(other, sizes=SIZES))
    object.__setattr__(kernel.schedule.program, "definition", broken.definition)
    assert not wb.verify(kernel, 1.5, 0.5, C, A, B)


def test_measure_counts_operations(gemm):
    C, A, B = arrays()
    for call in (wb.build(wb.schedule(gemm, sizes=SIZES)), wb.build(wb.schedule(gemm))):
        found = wb.measure(call, 1.5, 0.5, C, A, B, seconds=0.01)
        assert found.flops == 5 * 6 + 3 * 5 * 6 * 7


def test_a_program_of_an_operator_is_called_as_its_operator_is():
    matmul = wb.operator("def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    A, B = np.ones((3, 4), "f4"), np.ones((4, 5), "f4")
    np.testing.assert_array_equal(wb.lower(matmul, M=3)(A, B), A @ B)
    with pytest.raises(wb.errors.CallError):
        wb.lower(matmul, M=2)(A, B)
    assert wb.verify(wb.lower(matmul), A, B)


def test_a_kernel_called_again_as_c_writes_it_looks_at_sizes_and_arrays(gemm, monkeypatch):
    kernel = wb.build(wb.schedule(gemm, sizes=SIZES))
    C, A, B = arrays()
    monkeypatch.setattr(type(kernel), "_careful", None)  # what is right needs no second look
    assert kernel(5, 6, 7, 1.5, 0.5, C, A, B) is C
    np.testing.assert_allclose(C, expected(), rtol=1e-12)
    monkeypatch.undo()
    for wrong in ((5, 6, 8, 1.5, 0.5, C, A, B), (5, 6, 7, 1.5, 0.5, C, A, B[:-1]), (5, 6, 7.0, 1.5, 0.5, C, A, B)):
        with pytest.raises(wb.errors.CallError):
            kernel(*wrong)
