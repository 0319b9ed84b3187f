"""How full vectors are, against vectors counted one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest

import workbench as wb
from workbench.errors import LoweringError
from workbench.poly.count.vectors import lanes_filled

COPY = wb.operator("def f(float(M,N) X) -> (Y) { Y(m,n) = X(m,n) }")
TRIANGLE = wb.operator("def f(float(N,N) X) -> (Y) { Y(m,n) = X(m,n) where n in 0:m+1 }")


@pytest.mark.parametrize(
    ("columns", "width", "lanes", "filled"),
    [(64, 16, 8, "1"), (49, 16, 8, "49/56"), (26, 16, 8, "26/32"), (10, 5, 4, "5/8")],
)
def test_rests_of_tiles_leave_lanes_empty(columns, width, lanes, filled):
    made = wb.schedule(COPY, M=3, N=columns) | wb.tile({"Y/n": width}) | wb.vectorize("Y/n_i")
    assert lanes_filled(made.program, made.tree, made.program.statements[0].id, lanes) == Fraction(filled)


@pytest.mark.parametrize("size", [1, 7, 8, 19])
def test_rows_of_a_triangle_are_counted_one_by_one(size):
    made = wb.schedule(TRIANGLE, N=size) | wb.vectorize("Y/n")
    own = made.program.statements[0]
    vectors = {(m, n // 4) for m in range(size) for n in range(m + 1)}
    assert lanes_filled(made.program, made.tree, own.id, 4) == Fraction(size * (size + 1) // 2, 4 * len(vectors))


def test_what_is_not_in_lanes_has_no_vectors():
    made = wb.schedule(COPY, M=3, N=8)
    assert lanes_filled(made.program, made.tree, made.program.statements[0].id, 8) is None
    symbolic = wb.schedule(COPY) | wb.vectorize("Y/n")
    with pytest.raises(LoweringError, match="every size"):
        lanes_filled(symbolic.program, symbolic.tree, symbolic.program.statements[0].id, 8)
