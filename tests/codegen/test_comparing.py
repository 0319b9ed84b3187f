"""Two schedules side by side."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from tests.small_sizes import MACHINE
from workbench.errors import ScheduleError


def matmul(**sizes: int) -> wb.Schedule:
    return wb.schedule(wb.ops.load("matmul"), sizes=sizes or {"M": 64, "N": 64, "K": 64})


def test_two_orders_of_one_product(golden):
    start = matmul() | wb.tile(m=16, n=16)
    golden(str(wb.compare(start | wb.vectorize("n_i"), start | wb.unroll("m_i"), MACHINE)))


def test_a_packed_panel_is_another_program(golden):
    start = matmul() | wb.tile(n=16)
    golden(str(wb.compare(start, start | wb.stage("B", "n_o"), MACHINE)))


def test_other_sizes_and_other_operators_are_said():
    assert "different sizes" in str(wb.compare(matmul(), matmul(M=3, N=4, K=5), MACHINE))
    other = wb.schedule(wb.ops.load("transpose"), M=4, N=4)
    found = wb.compare(matmul(), other, MACHINE)
    assert found.notes == ("they are of different operators: matmul and transpose",)
    assert not found.equal


def test_equal_schedules_differ_in_nothing():
    found = wb.compare(matmul() | wb.tile(m=8), matmul() | wb.tile(m=8), MACHINE)
    assert found.equal
    assert (found.loops, found.code, found.counts) == ((), (), ())
    assert found.common[-1] == "tile(m=8)"


def test_open_sizes_and_an_illegal_schedule_can_be_compared():
    naive = wb.schedule(wb.ops.load("cumsum"))
    found = wb.compare(naive, wb.preview(naive, wb.reverse("Y.1/n")), MACHINE)
    assert "b is illegal" in found.notes[-1]
    assert not any("instances" in c.name for c in found.counts)


def test_a_comparison_is_plain_data():
    data = wb.compare(matmul(), matmul() | wb.parallelize("m"), MACHINE).data
    assert json.loads(json.dumps(data))["steps_b"][-1] == "parallelize('m')"


def test_only_schedules_are_compared():
    with pytest.raises(ScheduleError, match="two Schedules"):
        wb.compare(matmul(), wb.ops.load("matmul"))
