"""Sample arguments fit every operator, and mean the same data each time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ops.awkward import PRIMES
from workbench import ops
from workbench.errors import CallError
from workbench.lang import bind, operator


@pytest.mark.parametrize("name", ops.list())
def test_samples_fit_their_operator(name):
    op, sizes = ops.load(name), PRIMES[name]
    bound = bind(op, ops.sample_arrays(op, **sizes), {}, ops.sample_out(op, **sizes))
    assert bound.sizes == sizes


def test_the_same_seed_gives_the_same_arrays():
    first, again = (ops.sample_arrays(ops.matmul, seed=5, M=2, N=3, K=4) for _ in range(2))
    other = ops.sample_arrays(ops.matmul, seed=6, M=2, N=3, K=4)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert not (first[0] == other[0]).all()


def test_indices_stay_in_what_they_index():
    table, idx = ops.sample_arrays(ops.embedding, V=3, D=2, N=1000)
    assert table.shape == (3, 2)
    assert set(idx.tolist()) == {0, 1, 2}


def test_a_promise_of_injectivity_is_kept():
    _, p = ops.sample_arrays(ops.permute_rows, N=100, D=1)
    assert sorted(p.tolist()) == list(range(100))


def test_indices_are_found_without_a_promise():
    op = operator("def f(float(N) X, int32(K) J, int32(K) L) -> (float(7) A) { A(J(k)) += X(L(k)) }")
    _, target, source = ops.sample_arrays(op, N=4, K=500)
    assert set(target.tolist()) == set(range(7))
    assert set(source.tolist()) == set(range(4))


def test_an_injective_promise_that_cannot_be_kept_is_refused():
    op = operator("def f(float(K) X, int32(K) J) -> (float(3) A) where injective(J) { A(J(k)) = X(k) }")
    with pytest.raises(CallError, match=r"5 distinct values do not fit into 0\.\.2"):
        ops.sample_arrays(op, K=5)


def test_scalars_and_old_contents():
    arrays = ops.sample_arrays(ops.conv1d, **PRIMES["conv1d"])
    assert arrays[2:] == (2, 1, 3)
    assert ops.sample_out(ops.matmul, M=2, N=3, K=4) is None
    assert ops.sample_out(ops.gemm, M=2, N=3, K=4).shape == (2, 3)
    assert [a.shape for a in ops.sample_out(ops.adam, N=5)] == [(5,)] * 3
    with pytest.raises(CallError, match="needs a value for its integer scalar 'stride'"):
        ops.sample_arrays(ops.conv1d, N=1, C=1, L=5, F=1, K=1, pad=0, dilation=1)


def test_element_types():
    (x,) = ops.sample_arrays(operator("def f(uint8(N) X) -> (Y) { Y(i) = X(i) }"), N=2000)
    assert (x.dtype, x.min(), x.max()) == (np.uint8, 0, 255)
    (b,) = ops.sample_arrays(operator("def f(bool(N) X) -> (Y) { Y(i) = X(i) }"), N=200)
    assert b.dtype == bool
    assert 0 < b.sum() < 200
