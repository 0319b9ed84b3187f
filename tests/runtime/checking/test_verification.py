"""Bounds that follow from the operator: right results are inside, wrong ones are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.runtime.hand import numbers
from workbench.errors import CallError
from workbench.lang import bind
from workbench.runtime import verify
from workbench.runtime.checking.magnitude import NotPolynomial, magnitude
from workbench.runtime.checking.roundings import Depth, depths, gamma
from workbench.runtime.kernels.launch import CompiledKernel

MATMUL = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
SOFTMAX = """def softmax(float(M,N) A) -> (S) {
    mx(m) max=! A(m,n)
    E(m,n) = exp(A(m,n) - mx(m))
    s(m) +=! E(m,n)
    S(m,n) = E(m,n) / s(m)
}"""
TAKE = "def take(float(V) T, int32(N) I) -> (O) { O(n) = T(I(n)) }"


class Spoiled(CompiledKernel):
    """A kernel whose first result is off by a relative amount."""

    relative = 0.0

    def __call__(self, *arrays: Any, out: Any = None, **scalars: Any) -> Any:
        result = super().__call__(*arrays, out=out, **scalars)
        first = result[0] if isinstance(result, tuple) else result
        first.reshape(-1)[0] += first.dtype.type(self.relative * max(1.0, abs(float(first.reshape(-1)[0]))))
        return result


def spoiled(op: Any, relative: float, **sizes: int) -> CompiledKernel:
    kernel = wb.build(wb.schedule(op, **sizes))
    kernel.__class__ = type("Spoiled", (Spoiled,), {"relative": relative})
    return kernel


@pytest.mark.parametrize(("text", "shapes", "derived"), [
    (MATMUL, [(9, 40), (40, 7)], True),
    ("def conv(float(C,H) I, float(C,K) W) -> (O) { O(h) +=! I(c,h+k) * W(c,k) }", [(3, 20), (3, 4)], True),
    ("def pool(float(N) A) -> (B) { B(i) max=! relu(A(2*i+k)) where k in 0:2 }", [(40,)], True),
    ("def poly3(float(N) A) -> (B) { t(i) = A(i)*A(i)+0.5\n B(i) = t(i)*t(i)*A(i) - 1.0 }", [(40,)], True),
    ("def rec(float(N) A) -> (float(N) S) { S(0) = A(0)\n for t in 1:N { S(t) = 0.5*S(t-1)+A(t) } }", [(50,)], True),
    (SOFTMAX, [(5, 50)], False),
    ("def leaky(float(N) A) -> (B) { B(i) = A(i) > 0.0 ? A(i) : 0.1 * A(i) }", [(40,)], False),
    ("def prod(float(N) A) -> (p) { p *=! A(i) + 1.0 }", [(4,)], True),
])  # fmt: skip
def test_right_results_pass_and_wrong_ones_do_not(text: str, shapes: list[tuple[int, ...]], derived: bool) -> None:
    op = wb.operator(text)
    arrays = [numbers(*shape, seed=n) for n, shape in enumerate(shapes)]
    good = verify(op, *arrays)
    assert good, str(good)
    assert good.derived == derived
    assert 0 <= good.error <= good.bound
    sizes = op.plan(*arrays).sizes
    assert verify(spoiled(op, 0.0, **sizes), *arrays)
    bad = verify(spoiled(op, 1e-2, **sizes), *arrays)
    assert not bad
    assert bad.error > bad.bound
    assert "DIFFERS" in str(bad)


def test_the_bound_of_a_sum_of_products_is_the_textbook_one() -> None:
    op = wb.operator(MATMUL)
    a, b = numbers(1, 1000), numbers(1000, 1)
    found = verify(op, a, b)
    n_u = 1001 * 2.0**-24
    expected = n_u / (1 - n_u) * float((abs(a).astype("f8") @ abs(b).astype("f8"))[0, 0])
    assert found.bound == pytest.approx(expected, rel=0.01)


def test_integers_agree_exactly() -> None:
    op = wb.operator("def total(int32(N) A) -> (s) { s +=! A(i) }")
    a = np.arange(100, dtype="i4")
    found = verify(op, a)
    assert (found.ok, found.error, found.bound) == (True, 0.0, 0.0)
    kernel = wb.build(wb.schedule(op, N=100))
    run = kernel.run
    kernel.run = lambda arrays, out: run(arrays, out) + 1  # type: ignore[method-assign]
    assert not verify(kernel, a)


def test_nan_and_infinity_have_to_be_where_they_are() -> None:
    op = wb.operator("def copy(float(N) A) -> (B) { B(i) = A(i) }")
    a = np.array([1, np.nan, np.inf, -np.inf], "f4")
    assert verify(op, a)
    kernel = wb.build(wb.schedule(op, N=4))
    run = kernel.run
    kernel.run = lambda arrays, out: np.nan_to_num(run(arrays, out))  # type: ignore[method-assign]
    assert not verify(kernel, a)


def test_out_is_read_and_not_changed() -> None:
    op = wb.operator("def add(float(N) A) -> (float(N) C) { C(i) += A(i) }")
    start = numbers(5, seed=3)
    kept = start.copy()
    assert verify(op, numbers(5), out=start)
    np.testing.assert_array_equal(start, kept)


def test_gathers_and_empty_results() -> None:
    take = wb.operator(TAKE)
    assert verify(take, numbers(5), np.array([4, 0, 4], "i4")).derived
    assert verify(take, numbers(5), np.zeros(0, "i4"))


def test_halves() -> None:
    op = wb.operator("def scale(bfloat16(N) A, float x) -> (bfloat16(N) B) { B(i) = bfloat16(A(i) * x) }")
    a = numbers(50).astype(wb.lang.dtypes.BFLOAT16.numpy)
    found = verify(op, a, 0.3)
    assert found
    assert found.bound > 1e-4


def test_a_kernel_without_an_operator_cannot_be_verified() -> None:
    from tests.runtime.hand import adder

    with pytest.raises(CallError, match="built from a schedule, or an operator"):
        verify(adder(), numbers(16), numbers(16), 1.0)


MEETING = {
    "a scatter": (
        "def f(float(N,D) X, int32(N) idx, int32 V) -> (float(V,D) G) where in_range(idx, 0, V) "
        "{ G(idx(n),d) +=! X(n,d) }", dict(N=300, D=20, V=9), 300,
    ),
    "remainders": ("def f(float(N) X) -> (float(7) G) { G(n % 7) +=! X(n) }", dict(N=400), 400),
    "windows": (
        "def f(float(H) X, float(KH) K) -> (float(H+KH-1) G) { G(h+kh) +=! X(h) where kh in 0:KH }",
        dict(H=40, KH=3), 3,
    ),
    "one cell": ("def f(float(N,M) X) -> (float(N,2*N) G) { G(n,2*n) +=! X(n,m) }", dict(N=40, M=3), 3),
}  # fmt: skip


@pytest.mark.parametrize("name", MEETING)
def test_depth_counts_what_may_meet_in_a_cell(name: str) -> None:
    text, sizes, terms = MEETING[name]
    assert depths(wb.operator(text), sizes)["G"] == Depth(terms)


def test_depth_counts_the_roundings() -> None:
    a, b = numbers(4, 30), numbers(30, 5)
    op = wb.operator(MATMUL)
    assert depths(op, bind(op, (a, b), {}).sizes)["C"] == Depth(31)
    scan = wb.operator("def rec(float(N) A) -> (float(N) S) { S(0) = A(0)\n for t in 1:N { S(t) = 0.5*S(t-1)+A(t) } }")
    assert depths(scan, {"N": 100})["S"].arithmetic >= 2 * 99
    assert gamma(op, Depth(2**24)) == float("inf")


def test_a_cell_that_reads_only_itself_is_no_recurrence() -> None:
    product = "C(m,n) +=! A(m,k)*B(k,n)"
    biased = f"def f(float(M,K) A, float(K,N) B, float(N) c) -> (C) {{ {product}\n C(m,n) = C(m,n) + c(n) }}"
    assert depths(wb.operator(biased), {"M": 4, "K": 30, "N": 5})["C"] == Depth(32)
    prefix = "def f(float(N) A) -> (S) { S(i) = A(i)\n S(i) = S(i) + S(i-1) }"
    assert depths(wb.operator(prefix), {"N": 100})["S"].arithmetic >= 99
    summed = "def f(float(N,K) A) -> (S) { S(i) = A(i,0)\n S(i) += S(i) * A(i,k) }"
    assert depths(wb.operator(summed), {"N": 4, "K": 50})["S"].arithmetic >= 50


@pytest.mark.parametrize("text", [
    SOFTMAX,
    "def half(float(N) A) -> (B) { B(i) = A(i) / 3.0 }",
    "def pick(float(N) A) -> (B) { B(i) = A(i) > 0.0 ? A(i) : 1.0 }",
])  # fmt: skip
def test_what_is_no_polynomial_says_so(text: str) -> None:
    with pytest.raises(NotPolynomial):
        magnitude(wb.operator(text))


def test_a_recurrence_of_growing_degree_is_no_polynomial_of_known_depth() -> None:
    op = wb.operator("def square(float(N) A) -> (float(N) S) { S(0) = A(0)\n for t in 1:N { S(t) = S(t-1)*S(t-1) } }")
    with pytest.raises(NotPolynomial):
        depths(op, {"N": 5})
    assert verify(op, np.full(5, 0.9, "f4"))
