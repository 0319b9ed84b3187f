"""A loop of one iteration around a statement takes what stands in the loops inside with it."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ScheduleError

ROWS = wb.operator("def rows(float(M,N) x) -> (y, s) { y(m,n) = 2 * x(m,n)  s(m) +=! y(m,n) }")


def merged():
    return wb.schedule(ROWS, M=5, N=7) | wb.merge("y", "s", depth=1)


@pytest.mark.parametrize("inside", [0, 1])
def test_what_stands_in_the_loops_inside_is_in_the_loop_too(inside):
    after = merged() | wb.add_unit_loop("y", inside, name="once") | wb.stage("x", "y/once")
    assert after.verdict
    x = np.arange(35, dtype="float32").reshape(5, 7)
    for found, expected in zip(wb.build(after, threads=1)(x), ROWS.evaluate(x), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_the_loop_stands_around_both_statements():
    after = merged() | wb.add_unit_loop("y", 0, name="once")
    assert str(after).partition("\nloops\n")[2].count("for once") == 1
    assert str(after).partition("\nloops\n")[2].lstrip().startswith("for once")


def test_a_statement_alone_has_the_loop_for_itself():
    after = merged() | wb.add_unit_loop("y", 2)
    assert after.undo() == merged()
    with pytest.raises(ScheduleError, match="stands in a loop u already"):
        after | wb.add_unit_loop("y", 0)
