"""`viz.arena_view`: the words by golden files, boxes where the plan says, names with markup as text."""

from __future__ import annotations

import pytest

import workbench as wb
from bench.models.memory_graphs import Recorder, random_graph, unet
from tests.viz.values import parsed
from workbench.errors import WorkbenchError
from workbench.graph.memory import Buffer, Lifetimes, Step, plan
from workbench.viz.draw.scene import Box
from workbench.viz.views.models.arena_view import TOP, arena, arena_scene

HOSTILE = "<img src=x onerror=alert(1)>"


def small():
    """A U-Net of two levels."""
    return plan(unet(32, 8, 1))


def boxes(given):
    return [mark for mark in arena_scene(given).marks if isinstance(mark, Box)][1:]


def test_text(golden):
    picture = arena(small())
    parsed(picture.svg)
    golden(picture.text)


def test_the_highest_box_reaches_the_top_and_the_lowest_the_bottom():
    found = boxes(small())
    assert len(found) == len(small().places)
    assert min(box.y for box in found) == pytest.approx(TOP)
    assert len({box.y + box.height for box in found}) > 1


def test_boxes_of_different_colours_do_not_overlap():
    """Only what shares bytes may lie over each other."""
    for seed in range(12):
        found = boxes(plan(random_graph(seed), seconds=0.05))
        for number, a in enumerate(found):
            for b in found[:number]:
                apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y + 0.7
                assert apart or b.y + b.height <= a.y + 0.7 or a.fill == b.fill


def test_what_shares_bytes_has_one_colour():
    r = Recorder()
    x = r.compute("op", 640, r.outside("x", 64))
    y = r.compute("op", 640, r.elementwise("map", x))
    first, second, third = (box.fill for box in boxes(plan(r.finish(y))))
    assert first == second != third  # the last is no elementwise step


def test_names_with_markup_are_text():
    steps = (Step(HOSTILE, (), (HOSTILE,)), Step("end", (HOSTILE,), ()))
    picture = arena(plan(Lifetimes(steps, (Buffer(HOSTILE, 64),))))
    assert "<img src=x" not in picture.svg
    assert HOSTILE in picture.text


def test_an_empty_arena_can_be_drawn():
    picture = arena(plan(Lifetimes((), ())))
    parsed(picture.svg)
    assert picture.text.startswith("arena of 0 B for 0 buffers")


def test_what_is_no_plan_is_refused():
    with pytest.raises(WorkbenchError, match=r"is no MemoryPlan; a plan for all sizes has one: plan.at\(sizes\)"):
        arena(random_graph(1))


def test_a_cell_shows_a_plan_as_its_arena():
    model = wb.model("""
    def twice<T>(T(N) x) -> (y) { y(i) = x(i) + x(i) }
    fn main(x: float32[n]) { twice(twice(twice(x))) }
    """)
    plan = wb.plan_memory(model, {"n": 64})
    assert wb.viz.picture(plan).text == wb.viz.arena(plan).text
    assert "twice.1" in plan._repr_mimebundle_()["text/plain"]
