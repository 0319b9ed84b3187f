"""What loops say that they count: nothing that names itself or says anew what another loop has said."""

from __future__ import annotations

import workbench as wb
from workbench.poly.regions.extents import first_values, runs_once
from workbench.schedules.edit import find_loop
from workbench.viz.panels.drawing import tree_payload


def told(schedule: wb.Schedule) -> list[tuple[str, bool]]:
    """Name and words of each loop, and whether it has one iteration, from the outside to the inside."""

    def walk(nodes):
        for node in nodes:
            if node["type"] == "loop":
                yield node["name"] + node["detail"], node["once"]
            yield from walk(node["children"])

    return list(walk(tree_payload(schedule.program, schedule.tree)))


def test_a_loop_that_an_outer_one_decides_has_one_iteration():
    found = wb.schedule(wb.ops.matmul, M=64, N=64, K=64) | wb.split("C/m", 32) | wb.split("C/m_o", 1)
    assert ("m_o_i, one iteration", True) in told(found)
    assert ("m_i = m % 32", False) in told(found)


def test_a_dim_of_one_value_is_one_iteration():
    found = wb.schedule(wb.ops.matmul, M=1, N=8, K=8)
    assert told(found)[:2] == [("m, one iteration", True), ("n", False)]


def test_a_loop_with_the_name_of_a_dim_that_it_counts_otherwise_is_not_equal_to_itself():
    text = "def f(float(T, N) x) -> (y) { y(t, i) = x(t, i) }"
    found = wb.schedule(wb.operator(text), T=8, N=8) | wb.skew("i", by="t", factor=1)
    assert ("i counts i + t", False) in told(found)


def test_copies_for_a_later_iteration_are_ahead():
    before = wb.schedule(wb.ops.matmul, M=32, N=32, K=64) | wb.tile({"C/m": 16, "C/n": 16, "C/k": 16})
    found = before | wb.stage("A", "C/k_o", buffer="A_tile") | wb.pipeline("C/k_o", 3)
    words = [text for text, _ in told(found) if text.startswith("k_o")]
    assert words == ["k_o, 2 ahead, from -2 to -1", "k_o = k / 16, A_tile.load.body 2 ahead"]


def test_threads_that_begin_elsewhere_in_some_blocks_say_so():
    text = "def f(float(N) x) -> (y) { y(i) = x(i) where i in 1:N }"
    split = wb.schedule(wb.operator(text), N=512) | wb.split("i", 256)
    found = split | wb.bind("i_o", "block.x") | wb.bind("i_i", "thread.x")
    assert told(found) == [("i_o = i / 256", False), ("i_i = i % 256, from 0/1", False)]
    sites = [find_loop(found.program, found.tree, name).loop for name in ("i_o", "i_i")]
    assert first_values(found.program, (sites[0],), sites[1]) == (0, 1)
    assert not runs_once(found.program, (sites[0],), sites[1])
