"""Elements that a statement may touch: by arithmetic on its instances, for every statement of some operators."""

from __future__ import annotations

from functools import cache

import pytest

import workbench as wb
from tests.ops.awkward import awkward_sizes
from workbench.errors import WorkbenchError
from workbench.poly.count.enumeration import touched_elements


def test_rows_of_a_stencil_without_its_ends():
    program = wb.lower(wb.operator("def d(float(N) A) -> (B) { B(i) = A(i - 1) + A(i + 1) where i in 1:N - 1 }"), N=6)
    assert touched_elements(program, "S0", "A", {}) == {0, 1, 2, 3, 4, 5}
    assert touched_elements(program, "S0", "B", {}) == {0, 1, 2, 3}, "B begins at 1"


def test_sizes_are_given_where_the_program_leaves_them_open():
    program = wb.lower(wb.ops.matmul)
    (own,) = [s for s in program.statements if s.name == "C"]
    sizes = {"M": 2, "N": 3, "K": 4}
    assert touched_elements(program, own.id, "A", sizes) == set(range(8))
    with pytest.raises(WorkbenchError, match="more than 5 points"):
        touched_elements(program, own.id, "A", sizes, limit=5)


def test_a_gather_may_touch_all_of_its_table():
    op = wb.operator("def take(float(N) T, int32(M) I) -> (O) { O(i) = T(I(i)) where i in 0:M }")
    assert touched_elements(wb.lower(op, N=5, M=2), "S0", "T", {}) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("name", ["conv2d", "lower_triangle", "jacobi_1d", "softmax"])
def test_traced_touches_are_among_them(name):
    schedule = wb.schedule(wb.ops.load(name), sizes=awkward_sizes(name)[0])
    allowed = cache(lambda statement, array: touched_elements(schedule.program, statement, array, {}))
    touches = [t for t in wb.trace_touches(schedule, after=0) if t.statement]
    assert touches
    assert all(touch.element in allowed(touch.statement, touch.array) for touch in touches)
