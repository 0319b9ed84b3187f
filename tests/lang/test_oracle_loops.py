"""Loops of cells in the oracle, as one statement or as closures, give what the loops themselves give."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lang.test_oracle import agree
from workbench import ops
from workbench.errors import CallError
from workbench.lang import evaluate, operator
from workbench.lang.operator import Statement
from workbench.lang.oracle import evaluation, statements

AS_ONE = {
    "alignment": (
        """def f(int32(N) a, int32(M) b) -> (H) {
            H(i,j) = 0 where i in 0:N+1, j in 0:M+1
            for i in 1:N+1 { for j in 1:M+1 {
                H(i,j) = max(0, H(i-1,j-1) + (a(i-1) == b(j-1) ? 3 : -1), H(i-1,j) - 2, H(i,j-1) - 2) } } }""",
        {"N": 7, "M": 6},
    ),
    "a scan": ("def f(float(N) x) -> (y) { y(i) = x(i) for i in 1:N { y(i) = 0.5 * y(i-1) + x(i) } }", {"N": 9}),
    "a scan of halves": ("def f(half(N) x) -> (y) { y(i) = x(i) for i in 1:N { y(i) = y(i-1) + x(i) } }", {"N": 9}),
    "triangular": (
        """def f(double(N,N) A) -> (C) { C(i,j) = A(i,j)
            for i in 1:N { for j in 0:i { C(i,j) = C(i-1,j) - C(i,j+1) * A(j,i) } } }""",
        {"N": 6},
    ),
    "rows at a time": (
        """def f(float(T,N) x) -> (y) { y(t,i) = x(t,i)
            for t in 1:T { y(t,i) = y(t-1,i) * 0.5 + x(t,i) } }""",
        {"T": 5, "N": 4},
    ),
    "reads nothing of its own": (
        "def f(float(N,M) x) -> (float(N,M) y) { for i in 0:N { y(i,j) = x(i,j) } }", {"N": 4, "M": 3},
    ),
    "a tree of prices": (
        """def f(float(B) K, int32 N) -> (v) { v(b,i) = K(b) * i where i in 0:N+1
            for t in 1:N+1 { v(b,i) = max(0.5 * v(b,i+1) + 0.49 * v(b,i), K(b) - i) where i in 0:N-t+1 } }""",
        {"B": 3, "N": 6},
    ),
    "in a loop of two": (
        """def f(float(N) x, int32 T) -> (y, s) { y(i) = x(i) s(i) = x(i)
            for t in 0:T { s(i) = s(i) + y(i) for i in 1:N { y(i) = y(i) + 0.5 * y(i-1) } } }""",
        {"N": 6, "T": 3},
    ),
}  # fmt: skip
OF_CELLS = {
    "gaps that grow": (
        """def f(int32(N) a, int32(M) b) -> (H) {
            H(i,j) = 0 where i in 0:N+1, j in 0:M+1
            E(i,j) = 0 where i in 0:N+1, j in 0:M+1
            F(i,j) = 0 where i in 0:N+1, j in 0:M+1
            for i in 1:N+1 { for j in 1:M+1 {
                E(i,j) = max(E(i,j-1) - 1, H(i,j-1) - 3)
                F(i,j) = max(F(i-1,j) - 1, H(i-1,j) - 3)
                H(i,j) = max(0, H(i-1,j-1) + (a(i-1) == b(j-1) ? 3 : -1), E(i,j), F(i,j)) } } }""",
        {"N": 7, "M": 6},
    ),
    "one cell again and again": (
        "def f(float(N) x) -> (float(1) s) { s(0) = 1.0 for i in 0:N { s(0) = s(0) * 0.5 + x(i) } }", {"N": 8},
    ),
    "at computed places": (
        "def f(int32(N) x) -> (int32(N) y) { y(i) = x(i) for i in 1:N { y(i) = y(i / 2) + y((i * i) % i) } }", {"N": 9},
    ),
    "small numbers wrap": (
        """def f(uint8(N) x) -> (y, z) { y(i) = x(i) z(i) = x(i)
            for i in 1:N { y(i) = y(i-1) * uint8(3) + z(i) z(i) = z(i-1) - y(i) } }""",
        {"N": 12},
    ),
    "within columns": (
        """def f(float(N,N) A) -> (L) { L(i,j) = A(i,j)
            for k in 0:N { for i in k+1:N { L(i,k) = L(i,k) * 0.25
                for j in k+1:N { L(i,j) = L(i,j) - L(i,k) * L(k,j) } } } }""",
        {"N": 5},
    ),
}  # fmt: skip


@pytest.mark.parametrize("accumulate", ["double", None])
@pytest.mark.parametrize("name", AS_ONE | OF_CELLS)
def test_loops_agree_with_brute_force(name, accumulate):
    agree(*(AS_ONE | OF_CELLS)[name], accumulate)


@pytest.mark.parametrize("accumulate", ["double", None])
@pytest.mark.parametrize("name", AS_ONE | OF_CELLS)
def test_they_give_to_the_bit_what_loops_of_statements_give(name, accumulate, monkeypatch):
    text, sizes = (AS_ONE | OF_CELLS)[name]
    op = operator(text)
    arrays = ops.sample_arrays(op, seed=5, **sizes)
    found = evaluate(op, *arrays, accumulate=accumulate)
    monkeypatch.setattr(evaluation, "as_one_statement", lambda loop: None)
    monkeypatch.setattr(evaluation, "is_of_cells", lambda loop: False)
    wanted = evaluate(op, *arrays, accumulate=accumulate)
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, wanted)), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", sorted((AS_ONE | OF_CELLS).keys() - {"in a loop of two", "a tree of prices"}))
def test_no_statement_is_executed_once_an_iteration(name, monkeypatch):
    text, sizes = (AS_ONE | OF_CELLS)[name]
    op = operator(text)
    calls, execute = [], evaluation.execute
    monkeypatch.setattr(evaluation, "execute", lambda *given: calls.append(0) or execute(*given))
    evaluate(op, *ops.sample_arrays(op, seed=5, **sizes))
    assert len(calls) == sum(name in AS_ONE or isinstance(step, Statement) for step in op.body)


def test_cells_that_are_assigned_later_are_read_together(monkeypatch):
    text, sizes = AS_ONE["a tree of prices"]
    op = operator(text)
    blocks, assign = [], statements.assign
    monkeypatch.setattr(statements, "assign", lambda run, block: blocks.append(block.shape) or assign(run, block))
    evaluate(op, *ops.sample_arrays(op, seed=5, **sizes))
    assert len(blocks) == 1 + sizes["N"]


def test_a_cell_out_of_range_is_refused_in_either_form():
    for body in ("y(i) = y(i-1) + x(i+1)", "y(i) = y(i-1) + x(i+1) z(i) = y(i)"):
        before = "y(0) = 0.0 z(0) = 0.0"
        op = operator(f"def f(float(N) x) -> (float(N) y, float(N) z) {{ {before} for i in 1:N {{ {body} }} }}")
        with pytest.raises(CallError, match="reaches x"):
            evaluate(op, np.zeros(4, np.float32))
