"""The oracle part by part gives what it gives as a whole."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.ops.catalogue import ENTRIES
from workbench.ops.samples import sample_arrays, sample_out
from workbench.runtime.arrays.foreign import several
from workbench.runtime.checking import part_by_part
from workbench.runtime.checking.part_by_part import evaluated, shared_rows

ODD = """
def odd(float(N,M) A, float(M) w, int32(N) p) -> (S, T) {
    S(n) max=! fabs(A(n,m)) * w(m)
    T(n,m) = p(n) > 0 ? A(n,m) - S(n) : w(m)
}
"""
DEPENDENT = {
    "another row": "def f(float(N,M) A) -> (B) { B(n,m) = A(n,m) + A(0,m) }",
    "the next row": "def f(float(N,M) A) -> (B) { B(n,m) = A(n,m) + (n > 0 ? A(n-1,m) : 0.0) }",
    "the number of rows": "def f(float(N,M) A) -> (B) { B(n,m) = A(n,m) * N }",
    "the place of the row": "def f(float(N,M) A) -> (B) { B(n,m) = A(n,m) * n }",
    "a sum over rows": "def f(float(N,M) A) -> (B, s) { B(n,m) = A(n,m) s(m) +=! A(n,m) }",
    "two axes of one size": "def f(float(N,M) A) -> (B) { B(n,k) +=! A(n,m) * A(k,m) }",
    "rows in another axis": "def f(float(N,N) A) -> (B) { B(n) +=! A(n,k) }",
    "rows by data": "def f(float(N,M) A, int32(N) p) -> (B) where in_range(p, 0, N) { B(n,m) = A(p(n),m) }",
}


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Every call is worth parts, of a few rows each."""
    monkeypatch.setattr(part_by_part, "PART_CELLS", 8)
    monkeypatch.setattr(part_by_part, "LARGE_CELLS", 1)


def same(op, arrays, out=None, **options):
    whole = several(op.evaluate(*arrays, out=out, **options))
    parts = evaluated(op, arrays, out, **options)
    for one, other in zip(parts, whole, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_rows_that_do_not_depend_on_one_another_are_taken_some_at_a_time(monkeypatch):
    op, calls = wb.operator(ODD), []
    arrays = sample_arrays(op, N=13, M=7)
    own = part_by_part.evaluate
    monkeypatch.setattr(part_by_part, "evaluate", lambda *a, **how: calls.append(len(a[1])) or own(*a, **how))
    same(op, arrays)
    assert sorted(calls) == [1] * 13
    same(op, arrays, accumulate=None)
    same(op, arrays, N=13, M=7)


@pytest.mark.parametrize("why", DEPENDENT)
def test_what_depends_on_other_rows_is_taken_as_a_whole(why):
    op = wb.operator(DEPENDENT[why])
    assert shared_rows(op) is None
    sizes = {name: 5 for name in op.size_names}
    same(op, sample_arrays(op, **sizes))


def test_outputs_that_are_read_go_along():
    op = wb.operator("def f(float(N,M) A) -> (float(N,M) B) { B(n,m) += A(n,m) }")
    assert shared_rows(op) == "N"
    same(op, sample_arrays(op, N=11, M=5), sample_out(op, N=11, M=5))


def test_the_library_has_operators_of_both_kinds():
    kinds = {name: shared_rows(wb.ops.load(name)) for name in ENTRIES}
    assert {kinds[name] for name in ("softmax", "matmul", "layer_norm", "bias_relu")} == {"M"}
    assert {kinds[name] for name in ("embedding", "jacobi_2d", "covariance", "histogram")} == {None}


def test_operators_of_the_library_part_by_part():
    compared = 0
    for op in map(wb.ops.load, ENTRIES):
        sizes = op.examples[0]
        if shared_rows(op) is not None and np.prod([float(n) for n in sizes.values()]) < 1e6:
            same(op, sample_arrays(op, **sizes), sample_out(op, **sizes))
            compared += 1
    assert compared > 5
