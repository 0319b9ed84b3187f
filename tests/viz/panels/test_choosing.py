"""A menu at a loop: what is legal first, by its gain, what is refused with its witness; sizes that fit caches."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.viz.panels.values import SCHEDULES, schedule
from workbench.errors import ScheduleError, WorkbenchError
from workbench.poly.programs.tree import path
from workbench.schedules import preview
from workbench.schedules.transform import from_json
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.choosing.candidates import fitting
from workbench.viz.panels.choosing.gains import CACHES, estimate
from workbench.viz.panels.choosing.menu import Menu, menu_payload
from workbench.viz.panels.domain.traffic import estimated_traffic
from workbench.viz.panels.gestures import step_for
from workbench.viz.panels.mapping import grid
from workbench.viz.panels.offering import asked_offers

TARGET = wb.Target(vector_bits=256, cores=4, cache_bytes=(32 << 10, 512 << 10, 8 << 20))
# A sum over a window, which no library has.
WINDOW = wb.operator("""
def window(float(T,D) Q, float(T+7,D) K) -> (S) {
    S(t,w) +=! Q(t,d) * K(t+w,d) where w in 0:8
}
""")
MATMUL = wb.schedule(wb.ops.matmul, M=1024, N=1024, K=1024)


def shown(made, target=TARGET, **of):
    """The whole menu of a loop or a statement."""
    menu = Menu(made, target, **of)
    while menu.more:
        menu.advance(0.05)
    return menu_payload(menu)


@pytest.mark.parametrize("name", SCHEDULES)
def test_what_a_menu_calls_legal_is_legal_and_what_it_refuses_is_not(name):
    made = schedule(name)
    found = shown(made)["steps"]
    assert found
    for choice in found:
        assert bool(made.can(from_json(choice["step"]))) == choice["legal"]
    assert [c["legal"] for c in found] == sorted((c["legal"] for c in found), reverse=True), "legal ones first"
    gains = [c["gain"] for c in found if c["legal"]]
    assert gains == sorted(gains, reverse=True)


def test_a_reduction_may_not_be_shared_and_the_menu_says_by_which_instances():
    made = wb.schedule(WINDOW, T=64, D=32)
    refused = {c["text"]: c["reason"] for c in shown(made, loop="d")["steps"] if not c["legal"]}
    assert "S(0,0,0) → S(0,0,1)" in refused["parallelize('d')"]


def test_lanes_count_where_neighbours_in_memory_are_in_them():
    made = wb.schedule(WINDOW, T=512, D=64)
    steps = {c["text"]: c for loop in ("d", "w") for c in shown(made, loop=loop)["steps"]}
    assert steps["vectorize('d')"]["why"] == ["8 lanes", "sums in another order"]
    assert steps["vectorize('d')"]["gain"] > 2
    assert steps["vectorize('w')"]["why"][0] == "its lanes are not neighbours in memory"
    assert steps["vectorize('w')"]["gain"] < 1.1


def test_threads_that_begin_often_gain_less():
    steps = {c["text"]: c for loop in ("m", "n") for c in shown(MATMUL, loop=loop)["steps"]}
    assert steps["parallelize('m')"]["why"][0] == "4 threads"
    assert steps["parallelize('n')"]["why"][0] == "4 threads, begun 1024 times"
    assert steps["parallelize('m')"]["gain"] > steps["parallelize('n')"]["gain"] > 1


def test_a_tile_that_fits_a_cache_is_the_largest_that_does():
    statement = MATMUL.program.statements[-1]
    found = fitting(MATMUL, TARGET, statement, path(MATMUL.tree, statement.id))
    assert [cache for _, cache in found] == ["L1", "L2", "L3"]
    for step, cache in found:
        capacity = TARGET.cache_bytes[CACHES.index(cache)]
        sizes = dict(step.sizes)
        assert _held(MATMUL, sizes) <= capacity
        twice = {name: 2 * size for name, size in sizes.items()}
        assert _held(MATMUL, twice) > capacity or max(twice.values()) > 512


def _held(made, sizes):
    """Bytes that one tile touches."""
    after = preview(made, wb.tile(sizes))
    last = f"{list(sizes)[-1]}_o"
    return next(n.held_bytes for n in estimated_traffic(after.program, after.tree) if n.loop == last)


def test_no_block_is_longer_than_its_loop():
    found = shown(wb.schedule(WINDOW, T=512, D=64), loop="t")["blocks"]
    assert {one["loop"]: one["iterations"] for one in found} == {"t": 512, "w": 8, "d": 64}
    for one in found:
        assert all(1 < size < one["iterations"] and why for size, why in one["sizes"])


def test_a_menu_of_a_statement_has_what_names_it():
    found = {c["text"] for c in shown(MATMUL, statement="C")["steps"]}
    assert "distribute('C')" in found
    assert "parallelize('m')" not in found


def test_a_step_of_any_kind_that_names_the_loop_is_offered():
    kinds = {c["kind"] for c in shown(MATMUL, loop="n")["steps"]}
    assert {"vectorize", "parallelize", "tile", "interchange", "reverse", "skew", "bind"} <= kinds


def test_one_begins_with_lanes_where_memory_runs_however_deep_that_loop_is():
    made = wb.schedule(wb.ops.conv2d, N=1, C=8, H=32, W=32, F=8, KH=3, KW=3, stride=1, pad=1, dilation=1)
    steps = [c for c in shown(made)["steps"] if c["kind"] == "vectorize" and c["legal"]]
    assert steps[0]["text"].endswith("/x')")
    assert steps[0]["why"][0] == "8 lanes"


def test_where_sizes_are_open_typical_ones_are_counted():
    found = shown(wb.schedule(wb.ops.matmul))["steps"]
    assert found[0]["gain"] > 1


def test_the_model_is_of_the_schedule_and_not_of_the_step():
    """Two ways to one schedule are estimated alike."""
    base = with_sizes(MATMUL)[0]
    one = base | wb.parallelize("m") | wb.vectorize("n")
    other = base | wb.vectorize("n") | wb.parallelize("m")
    assert np.isclose(estimate(one, TARGET).seconds, estimate(other, TARGET).seconds)


def test_an_unknown_loop_lists_the_known_ones():
    with pytest.raises(WorkbenchError, match="m, n, k"):
        shown(MATMUL, loop="q")


# -- Gestures on the rows of the loops --

def test_a_loop_dropped_between_rows_goes_there_and_the_others_keep_their_order():
    twice = wb.operator("def f(float(A,B,C,D) x) -> (y) { y(a,b,c,d) = 2 * x(a,b,c,d) }")
    made = wb.schedule(twice, A=3, B=4, C=5, D=6)
    for loop, target, place, order in (
        ("d", "a", "before", "dabc"), ("d", "a", "after", "adbc"), ("a", "c", "after", "bcad"),
        ("a", "b", "after", "bacd"), ("c", "b", "before", "acbd"),
    ):  # fmt: skip
        after = made | step_for(made, "move", {"loop": loop, "target": target, "place": place})
        assert "".join(x.name for x in after.tree.loops) == order
        x = np.arange(360, dtype=np.float32).reshape(3, 4, 5, 6)
        assert np.array_equal(wb.build(after)(x), made.program.original.definition.evaluate(x))
    with pytest.raises(ScheduleError, match="stands there already"):
        step_for(made, "move", {"loop": "a", "target": "b", "place": "before"})


def test_typed_sizes_are_a_tile_or_a_split():
    assert step_for(MATMUL, "blocks", {"sizes": {"m": 8, "n": 1, "k": 4}}) == wb.tile(m=8, k=4)
    assert step_for(MATMUL, "blocks", {"sizes": {"n": 24}}) == wb.split("n", 24)
    with pytest.raises(ScheduleError, match="above 1"):
        step_for(MATMUL, "blocks", {"sizes": {"n": 1}})


# -- What is said of blocks --

def test_the_loops_too_short_for_a_block_are_told_with_the_steps():
    panel = wb.panel(wb.schedule(WINDOW, T=2, D=9))
    asked_offers(panel)
    assert panel.offers["short"] == ["t"]
    tiled = [offer["text"] for offer in panel.offers["steps"] if offer["kind"] in ("tile", "split")]
    assert tiled
    assert not [text for text in tiled if "t=" in text or "'t'" in text]


def test_a_map_has_no_tile_longer_than_its_loop():
    found = grid(wb.schedule(WINDOW, T=1, D=6), "tile", "S", "d", "t")
    assert (found.columns, found.rows) == (("1", "2", "4"), ("1",))


def test_a_menu_says_where_no_model_has_looked():
    assert (shown(MATMUL)["complete"], shown(MATMUL)["unmodelled"]) == (True, "")
    bound = wb.schedule(wb.ops.matmul, M=64, N=64, K=64) | wb.bind("C/m", "block.x")
    assert shown(bound)["unmodelled"] == "gains on a GPU are not modelled"
    begun = Menu(MATMUL, TARGET)
    begun.advance(0.0)
    assert not menu_payload(begun)["complete"]
