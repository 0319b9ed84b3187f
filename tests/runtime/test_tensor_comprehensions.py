"""Tensor Comprehensions as they are: what their programs mean by NumPy, by the oracle and by generated C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import CallError, WorkbenchError

RNG = np.random.default_rng(3)
SHAPES = ((1, 1), (3, 17), (6, 2), (64, 33), (5, 200))
FLOATS = np.float32

# Each program of one matrix of truth values P(M,N), and what it computes.
TRUTHS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "a sum is any": ("C(m) +=! P(m,n)", lambda P: P.any(1)),
    "a product is all": ("C(m) *=! P(m,n)", lambda P: P.all(1)),
    "a minimum is all": ("C(n) min=! P(m,n)", lambda P: P.all(0)),
    "a maximum is any": ("C(n) max=! P(m,n)", lambda P: P.any(0)),
    "a sum of everything": ("C() +=! P(r_m,r_n)", lambda P: P.any()),
    "a product of everything": ("C *=! P(r_m,r_n)", lambda P: P.all()),
    "a sum into what is there": ("C(m) = P(m,0)  C(m) += P(m,n)", lambda P: P.any(1)),
    "a product into what is there": ("C(m) = P(m,0)  C(m) *= P(m,n)", lambda P: P.all(1)),
    "paths of two steps": ("C(i,j) +=! P(i,k) && P(j,k)", lambda P: (P[:, None] & P[None]).any(2)),
    "beside an integer": ("C(m,n) = P(m,n) + 1", lambda P: P + np.int32(1)),
    "beside a size": ("C(m,n) = M - P(m,n)", lambda P: np.int32(len(P)) - P),
    "beside a float": ("C(m) +=! P(m,n) * (n + 0.5)", lambda P: P @ (np.arange(P.shape[1]) + FLOATS(0.5))),
    "compared with a number": ("C(m,n) = P(m,n) == 1", lambda P: P),
    "a branch beside a number": (
        "C(m,n) = n < 2 ? P(m,n) : 2.5",
        lambda P: np.where(np.arange(P.shape[1]) < 2, P, FLOATS(2.5)),
    ),
    "the smallest of three": ("C(m,n) = min(P(m,n), P(m,0), P(0,n))", lambda P: P & P[:, :1] & P[:1]),
    "the largest of two": ("C(m,n) = max(P(m,n), P(m,0))", lambda P: P | P[:, :1]),
    "under a function": ("C(m,n) = exp(P(m,n))", lambda P: np.exp(P.astype(FLOATS))),
}  # fmt: skip


def truths(statement: str, output: str = "C") -> Any:
    """An operator on a matrix of truth values."""
    return wb.operator(f"def f(bool(M,N) P) -> ({output}) {{ {statement} }}")


def agrees(found: Any, expected: Any) -> bool:
    """Whether the numbers and their kind are the same."""
    found, expected = np.asarray(found), np.asarray(expected)
    same_kind = (found.dtype == bool) == (expected.dtype == bool)
    return same_kind and found.shape == expected.shape and np.allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("name", TRUTHS)
def test_truth_values_are_the_bits_that_tensor_comprehensions_computes_with(name):
    statement, expected = TRUTHS[name]
    op = truths(statement)
    for shape in SHAPES:
        for share in (0.02, 0.5, 0.97):
            given = RNG.random(shape) < share
            assert agrees(op.evaluate(given), expected(given))
            assert agrees(op(given), expected(given))


def test_truth_values_are_reduced_in_lanes_parts_and_threads():
    op, given = truths("C(i,j) +=! P(i,k) && P(j,k)"), RNG.random((40, 33)) < 0.05
    naive = wb.schedule(op, M=40, N=33)
    split = naive | wb.split_reduction("k", 8)
    for schedule in (naive | wb.vectorize("j"), naive | wb.parallelize("i"), naive | wb.unroll("k"), split,
                     split | wb.parallelize("k_o"), naive | wb.vectorize("k")):  # fmt: skip
        assert agrees(wb.build(schedule)(given), (given[:, None] & given[None]).any(2))


def test_an_annotated_output_of_numbers_counts_truth_values():
    given = RNG.random((7, 300)) < 0.5
    op = truths("C(m) +=! P(m,n)", "int32(M) C")
    assert agrees(op(given), given.sum(1))
    assert op.warnings == ()


def test_a_sum_of_truth_values_that_does_not_count_says_so():
    (warning,) = truths("C(m) +=! P(m,n)").warnings
    assert warning == (
        "`+=!` of truth values says whether any is true, and 'C' is a bool: to count them write int32(P(m, n))"
    )


def test_where_a_type_variable_is_bool_truth_values_are_no_numbers():
    trace = wb.operator("def trace<T>(T(N,N) A) -> (s) { s +=! A(i,i) }")
    doubled = wb.operator("def doubled<T>(T(N) A) -> (B) { B(i) = A(i) * 2 }")
    by_call = "def total<T>(T(N) A) -> (s) { s +=! A(i) }\ndef f(bool(N) P) -> (s) { s = total(P) }"
    for call in (
        lambda: trace(np.eye(3, dtype=bool)),
        lambda: doubled(np.ones(3, bool)),
        lambda: wb.operators(by_call),
    ):
        with pytest.raises(WorkbenchError, match=r"must be a number but is bool|expected a number but found bool"):
            call()


def test_an_output_without_dimensions_may_be_written_with_empty_parentheses():
    given = np.arange(7, dtype=FLOATS)
    plain, empty = (wb.operator(f"def f(float(M) A) -> (C) {{ C{p} +=! A(r_m) }}") for p in ("", "()"))
    assert plain == empty
    assert empty(given) == empty.evaluate(given) == 21
    called = wb.operator("def g(float(M) A) -> (S) { S() +=! A(m) }\ndef f(float(M) A) -> (C) { C() = g(A) }")
    assert called(given) == 21


def test_an_update_runs_over_the_cells_that_were_written():
    op = wb.operator("def f(float(N) A, float(M) B) -> (O) { O(i) = B(i)  O(i) += A(i) }")
    for n, m in ((3, 5), (5, 3), (4, 4), (0, 2), (2, 0)):
        a, b = np.arange(n, dtype=FLOATS) + 1, 10 * np.arange(m, dtype=FLOATS)
        expected = b.copy()
        expected[: min(n, m)] += a[: min(n, m)]
        assert agrees(op.evaluate(a, b), expected)
        assert agrees(op(a, b), expected)
    assert op.warnings == (
        "`O(i) += A(i)` runs over i in 0:min(N, M), the cells of 'O' written before; its reads alone allow 0:N",
    )


def test_an_update_of_all_cells_is_not_warned_of():
    for text in (
        "def f(float(N,K) A) -> (O) { O(i) = 0.0 where i in 0:N  O(i) += A(i,k) }",
        "def f(float(N) A) -> (O) { O(i) = 0.0 where i in 0:N+2  O(i+1) += A(i) }",
        "def f(float(N) A, float(K) W) -> (O) { O(i) = 0.0 where i in 0:N+K-1  O(i+k) += A(i) * W(k) }",
    ):
        assert wb.operator(text).warnings == ()


def test_both_branches_of_a_condition_on_data_bound_a_range():
    op = wb.operator("def f(float(N) A, float(M) B) -> (O) { O(i) = A(i) > 0.0 ? B(i+2) : A(i) }")
    for n, m in ((3, 9), (9, 3), (4, 6), (5, 1)):
        a, b = RNG.standard_normal(n).astype(FLOATS), RNG.standard_normal(m).astype(FLOATS)
        count = max(0, min(n, m - 2))
        expected = np.where(a[:count] > 0, b[2 : 2 + count], a[:count])
        assert agrees(op.evaluate(a, b), expected)
        assert agrees(op(a, b), expected)


def test_a_condition_on_an_index_pads_and_exists_makes_it_bound_as_a_read_does():
    padded = wb.operator("def f(float(N) A) -> (O) { O(i) = A(i) + (i >= 1 ? A(i-1) : 0.0) }")
    bound = wb.operator("def f(float(N) A) -> (O) { O(i) = A(i) + (i >= 1 ? A(i-1) : 0.0) where exists A(i-1) }")
    a = np.arange(1, 6, dtype=FLOATS)
    assert agrees(padded(a), [1, 3, 5, 7, 9])
    assert agrees(bound(a), [3, 5, 7, 9])
    assert agrees(bound.evaluate(a), [3, 5, 7, 9])


def test_an_annotated_output_keeps_its_shape_and_a_condition_on_data_is_checked():
    op = wb.operator("def f(float(N) A) -> (float(N) O) { O(i) = A(i) > 0.0 ? A(i+1) : 0.0 }")
    with pytest.raises(CallError, match="reads A outside: index 4 in dimension 0 at i=3"):
        op(np.ones(4, FLOATS))
