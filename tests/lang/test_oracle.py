"""The oracle against a brute-force interpreter, and its corner cases one by one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lang.brute_force import brute_force, number
from tests.lang.surprises import TEXTS
from workbench import ops
from workbench.errors import CallError
from workbench.lang import bind, evaluate, operator
from workbench.lang.oracle import statements


def agree(text, sizes, accumulate="double"):
    op = operator(text)
    arrays, old = ops.sample_arrays(op, seed=3, **sizes), ops.sample_out(op, seed=4, **sizes)
    results = evaluate(op, *arrays, out=old, accumulate=accumulate)
    given = {n: a for n, a in zip(op.parameters, arrays, strict=True) if n not in op.scalars}
    bound = bind(op, arrays, {}, old)
    truth = brute_force(op, given, dict(bound.sizes))
    for name, result in zip(op.outputs, results if isinstance(results, tuple) else (results,), strict=True):
        wanted = as_array(truth[name], op.tensors[name], bound.sizes)
        assert result.dtype == op.tensors[name].dtype.numpy
        exact = result.dtype.kind in "iub"
        loose = (
            dict(rtol=0, atol=0)
            if exact
            else dict(rtol=1e-6 if accumulate else 1e-4, atol=1e-6 if accumulate else 1e-4)
        )
        np.testing.assert_allclose(result.astype(np.float64), wanted, **loose)


def as_array(cells, tensor, sizes):
    lower = [number(e, sizes, {}) for e in tensor.lower]
    array = np.zeros([max(0, number(e, sizes, {})) for e in tensor.extent])
    for place, value in cells.items():
        array[tuple(p - lo for p, lo in zip(place, lower, strict=True))] = value
    return array


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("accumulate", ["double", None])
def test_the_oracle_agrees_with_brute_force(name, accumulate):
    agree(*TEXTS[name], accumulate)


@pytest.mark.parametrize("name", TEXTS)
def test_small_blocks_change_nothing(name, monkeypatch):
    monkeypatch.setattr(statements, "BLOCK_ELEMENTS", 3)
    agree(*TEXTS[name])


@pytest.mark.parametrize(
    "name", [n for n, (_, sizes) in TEXTS.items() if n not in ("guards with floor division",)]
)
@pytest.mark.parametrize("length", [1, 2])
def test_short_ranges(name, length):
    text, sizes = TEXTS[name]
    agree(text, {k: min(v, length) if k.isupper() else v for k, v in sizes.items()})


def test_accumulation_in_double_is_rounded_once():
    op = operator("def f(float(N) X) -> (s) { s +=! X(i) }")
    x = np.full(1 << 16, 0.1, np.float32)
    assert evaluate(op, x) == np.float32(x.astype(np.float64).sum())
    assert evaluate(op, x, accumulate=None).dtype == np.float32


def test_a_read_out_of_range_is_refused_with_its_instance():
    op = operator("def f(float(N) X, int32(K) J) -> (A) { A(k) = X(J(k)) }")
    with pytest.raises(
        CallError, match=r"reaches X out of range: at k=2 a subscript is 9, but X has shape \(4,\)"
    ):
        evaluate(op, np.zeros(4, np.float32), np.array([0, 3, 9], np.int32))


def test_a_scatter_out_of_range_is_refused():
    op = operator("def f(float(K) X, int32(K) J) -> (float(4) A) { A(J(k)) = X(k) }")
    with pytest.raises(CallError, match="reaches A out of range: at k=1 a subscript is -1"):
        evaluate(op, np.zeros(2, np.float32), np.array([0, -1], np.int32))


def test_a_read_one_by_one_out_of_range_is_refused():
    op = operator(
        "def f(float(N) X, int32(N) J) -> (A) where in_range(J, 0, N)"
        "{ A(i) = X(i)  A(i) = A(i-1) + X(J(i)) where i in 1:N }"
    )
    with pytest.raises(CallError, match=r"reaches X\(7,\) out of range"):
        evaluate(op, np.zeros(3, np.float32), np.array([0, 1, 7], np.int32))


def test_a_guarded_read_is_not_refused():
    op = operator("def f(float(N) X, int32(K) J) -> (A) { A(k) = J(k) >= 0 && J(k) < N ? X(J(k)) : 5 }")
    result = evaluate(op, np.ones(2, np.float32), np.array([-3, 0, 9], np.int32))
    assert result.tolist() == [5, 1, 5]


def test_a_guarded_read_of_an_empty_tensor():
    op = operator("def f(float(N) X) -> (A) { A(k) = k < N ? X(k) : 5 where k in 0:3 }")
    assert evaluate(op, np.zeros(0, np.float32)).tolist() == [5, 5, 5]


def test_out_is_read_and_not_changed():
    op = operator("def f(float(N) X) -> (float(N) A) { A(i) += X(i) }")
    old = np.ones(3, np.float32)
    assert evaluate(op, np.full(3, 2, np.float32), out=old).tolist() == [3, 3, 3]
    assert old.tolist() == [1, 1, 1]


def test_cells_that_are_not_written_keep_what_out_held():
    op = operator("def f(float(N) X) -> (float(2*N) A) { A(2*i) = X(i) }")
    x, old = np.ones(2, np.float32), np.full(4, 7, np.float32)
    assert evaluate(op, x, out=old).tolist() == [1, 7, 1, 7]
    assert evaluate(op, x).tolist() == [1, 0, 1, 0]


def test_empty_reductions_initialise():
    op = operator(
        "def f(float(N,K) X) -> (S, P, L, H)"
        " { S(n) +=! X(n,k) P(n) *=! X(n,k) L(n) min=! X(n,k) H(n) max=! X(n,k) }"
    )
    results = evaluate(op, np.zeros((2, 0), np.float32))
    assert [r.tolist() for r in results] == [[0, 0], [1, 1], [np.inf] * 2, [-np.inf] * 2]


def test_nan_and_infinity_pass_through_sums_of_products():
    mm = ops.matmul
    a, b = np.zeros((2, 3), np.float32), np.ones((3, 2), np.float32)
    b[1, 1], b[2, 0] = np.inf, np.nan
    assert np.isnan(evaluate(mm, a, b)).tolist() == [[True, True], [True, True]]


def test_minimum_and_maximum_propagate_nan():
    op = operator("def f(float(N) X) -> (L, M) { L min=! X(i)  M(i) = max(X(i), 0) }")
    low, most = evaluate(op, np.array([1, np.nan, -1], np.float32))
    assert np.isnan(low)
    assert np.isnan(most).tolist() == [False, True, False]


def test_strided_transposed_and_broadcast_inputs():
    a = np.arange(48, dtype=np.float32).reshape(6, 8)[::2, ::-2]
    b = np.broadcast_to(np.float32(2), (4, 3))
    assert (evaluate(ops.matmul, a, b) == (a @ b)).all()
    assert (evaluate(ops.matmul, b.T, a.T) == (b.T @ a.T)).all()


def test_a_generic_operator_computes_in_the_type_of_its_arrays():
    a = np.random.default_rng(0).standard_normal((5, 5))
    assert evaluate(ops.softmax, a).dtype == np.float64
    np.testing.assert_allclose(evaluate(ops.softmax, a).sum(1), 1, rtol=1e-15)


def test_a_recurrence_along_both_axes_has_no_index_of_its_own():
    alignment = operator("""def alignment(int32(N) a, int32(M) b) -> (H) {
        H(i,j) = 0 - i - j where i in 0:N+1, j in 0:M+1
        for i in 1:N+1 { for j in 1:M+1 {
            H(i,j) = max(max(H(i-1,j), H(i,j-1)) - 1, H(i-1,j-1) + (a(i-1) == b(j-1) ? 1 : -1))
        } }
    }""")
    a, b = np.array([0, 1, 2, 1], "int32"), np.array([1, 2, 2], "int32")
    expected = [[0, -1, -2, -3], [-1, -1, -2, -3], [-2, 0, -1, -2], [-3, -1, 1, 0], [-4, -2, 0, 0]]
    assert evaluate(alignment, a, b).tolist() == expected


@pytest.mark.slow
def test_no_factor_is_taken_out_of_a_sum_with_infinities():
    """`inf * 0 + inf * -1` is no number, though `inf * (0 - 1)` is one; nor does one product make another block."""
    op = operator("def f(double(M) A, double(K,N) B, double(L) C) -> (D) { D(m,n) +=! A(m) * B(k,n) * C(l) }")
    A = np.array([np.inf, 2.0, -np.inf])
    B = np.array([[0.0, 1.0], [-1.0, 2.0]])
    with np.errstate(invalid="ignore"):
        every = A[:, None, None, None] * B[None, :, :, None] * np.array([1.0, 3.0])
        np.testing.assert_array_equal(op.evaluate(A, B, np.array([1.0, 3.0])), every.sum(axis=(1, 3)))
        assert np.isnan(op.evaluate(A, B, np.array([1.0, 3.0]))[0, 0])
        large = np.full(3000, np.inf)
        found = op.evaluate(large, np.ones((40, 500)), np.ones(2))
    assert found.shape == (3000, 500)
    assert np.isinf(found).all()
