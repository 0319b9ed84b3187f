"""Quotients and remainders that known sizes settle are gone from subscripts; those that matter stay."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.lang.printing.printer import show

SPREAD = wb.operator("""
def spread(float(N) A, int32 d, int32 s) -> (float(s,N-d) B) {
    B((d*p)%s, i) +=! A(i+(d*p)/s) where i in 0:N-d, p in 0:s
}""")


@pytest.mark.parametrize(
    ("d", "s", "cell", "value"),
    [(1, 4, "p, i", "A(i)"), (1, 1, "p, i", "A(i)"), (2, 4, "2 * p % 4, i", "A(i + 2 * p / 4)")],
)
def test_what_is_below_its_divisor_stays_what_it_is(d, s, cell, value):
    statement = wb.lower(SPREAD, {"N": 9, "d": d, "s": s}).statements[-1]
    assert (", ".join(map(show, statement.targets[0][1])), show(statement.values[0])) == (cell, value)
    A = np.arange(1, 10, dtype=np.float32)
    np.testing.assert_array_equal(SPREAD(A, d, s), SPREAD.evaluate(A, d, s))


def test_cells_that_no_index_reaches_are_still_set():
    op = wb.operator("def f(float(N) A) -> (float(8) B) { B(i % 8) +=! A(i) where i in 0:N }")
    A = np.ones(4, np.float32)
    np.testing.assert_array_equal(op(A), [1, 1, 1, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(op(np.ones(8, np.float32)), np.ones(8))
    np.testing.assert_array_equal(op(np.ones(9, np.float32)), [2, 1, 1, 1, 1, 1, 1, 1])


def test_reads_too():
    op = wb.operator("def f(float(4,N) A) -> (B) { B(i) = A(i % 4, i / 4) where i in 0:N }")
    (few,), (more,) = (wb.lower(op, {"N": n}).statements for n in (4, 9))
    assert show(few.values[0]) == "A(i, 0)"
    assert show(more.values[0]) == "A(i % 4, i / 4)"


def test_an_index_that_begins_below_0_has_a_remainder():
    op = wb.operator("def f(float(4) A) -> (B) { B(i) = A((i + 8) % 4) + A(i % 4) where i in -2:2 }")
    A = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(op(A), op.evaluate(A))
    assert show(wb.lower(op).statements[0].values[0]) == "A((i + 8) % 4) + A(i % 4)"


def test_a_window_of_one_place_is_no_window():
    op = wb.operator("def f(float(C,W) I, float(C,K) w) -> (O) { O(x) +=! I(c, x+k) * w(c,k) }")
    one, two = (wb.lower(op, {"C": 1, "W": 9, "K": k}).statements[-1] for k in (1, 2))
    assert [show(s.values[0]) for s in (one, two)] == ["I(c, x) * w(c, k)", "I(c, x + k) * w(c, k)"]
