"""The views of a GPU: turns and sectors agree with the counts, words by golden files, drawings as XML."""

from __future__ import annotations

from functools import cache

import pytest

import workbench as wb
from tests.gpu_schedules import bind_all, staged_matmul
from tests.viz.values import parsed
from workbench import viz
from workbench.errors import ScheduleError, WorkbenchError
from workbench.schedules import Schedule
from workbench.viz.views.gpu.warp_phases import access_sectors, access_turns


@cache
def transposed() -> Schedule:
    """A transposition through a tile whose columns are read: each bank conflict there can be."""
    s = wb.schedule(wb.ops.load("transpose"), M=64, N=64) | wb.tile(m=32, n=32) | wb.stage("A", "n_o")
    axes = {"B/n_o": "block.y", "B/m_o": "block.x", "B/n_i": "thread.y", "B/m_i": "thread.x"}
    return bind_all(s, axes | {"A_local.load/m": "thread.y", "A_local.load/n": "thread.x"})


@cache
def naive() -> Schedule:
    return wb.schedule(wb.ops.load("transpose"), M=64, N=64) | wb.bind("n", "block.x") | wb.bind("m", "thread.x")


SCHEDULES = {
    "transposed": transposed,
    "naive": naive,
    "staged": lambda: staged_matmul(M=32, N=32, K=32),
    "matmul of the recipe": lambda: wb.autoschedule(wb.ops.matmul, "h200", M=64, N=64, K=32),
    "softmax": lambda: wb.autoschedule(wb.ops.load("softmax"), "h200", M=50, N=300),
    "nobody planned for": lambda: (
        wb.schedule(wb.operator("def odd(float(N) A) -> (s) { s(i) = A(3 * i) + A(2 * i) where i in 0:N/3 }"), N=600)
        | wb.split("i", 64) | wb.bind("i_o", "block.x") | wb.bind("i_i", "thread.x")
    ),
}  # fmt: skip


@cache
def made(name: str) -> Schedule:
    return SCHEDULES[name]()


@pytest.mark.parametrize("name", SCHEDULES)
def test_what_is_drawn_is_what_is_counted(name):
    schedule = made(name)
    assert all(len(access_turns(a)) == a.worst for a in wb.bank_conflicts(schedule).accesses)
    assert all(len(access_sectors(a)) == a.worst for a in wb.coalescing(schedule).accesses)
    served = [t.served for a in wb.bank_conflicts(schedule).accesses for t in access_turns(a)]
    assert all(word % 32 == bank for each in served for bank, (word, _) in each.items())


@pytest.mark.parametrize("view", ["banks", "warps", "lanes"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_words(name, view, golden):
    picture = getattr(viz, view)(made(name))
    parsed(picture.svg)
    golden(picture.text)


def test_columns_of_a_tile_are_one_bank():
    (read, _) = viz.banks(transposed()).data
    assert (read.statement, len(access_turns(read))) == ("B", 32)
    assert all({*turn.served} == {0} for turn in access_turns(read))
    padded = transposed() | wb.storage_align("A_local", 0, 32, 1)
    assert all(len(access_turns(access)) == 1 for access in viz.banks(padded).data)


def test_a_block_is_told_by_its_outline_and_a_thread_by_its_number():
    (placed,) = viz.lanes(naive(), sizes={"M": 5, "N": 3}).data
    assert placed.axes == ("m", "n")
    assert placed.blocks[(4, 2)] == (2,)
    assert placed.threads[(4, 2)] == (4,)


def test_one_statement_is_picked():
    assert {a.statement for a in viz.warps(staged_matmul(), "C.init").data} == {"C.init"}
    with pytest.raises(ScheduleError, match=r"'D' has no access to global memory; known: .*C"):
        viz.warps(staged_matmul(), "D")


def test_without_bound_loops_there_are_no_lanes():
    with pytest.raises(WorkbenchError, match=r"no statement has a bound loop: bind\('m', 'block.x'\)"):
        viz.lanes(wb.schedule(wb.ops.matmul, M=4, N=4, K=4))
