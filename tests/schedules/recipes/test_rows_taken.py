"""Rows of recipes that are remembered: schedules, and the questions on the way, are those of the rows themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from workbench.schedules.recipes.decisions import decide, deciding
from workbench.schedules.recipes.rows_taken import Remembered, remembered
from workbench.schedules.sketches.recipe_sketch import recipe_sketch
from workbench.target import Target

ODD = """
def odd(float(N,M) A, float(M) w, int32(N) p) -> (S, T, R) {
    S(n) +=! A(n,m) * w(m)
    T(n,m) = fabs(A(p(n),m)) - S(n)
    R(m) max=! T(n,m) where n in 0:N
}
"""

SCALE = wb.operator("def scale(float(N) A) -> (B) { B(n) = 2 * A(n) }")


def space(which: str) -> wb.Sketch:
    """An operator nobody planned for, and two that have recipes."""
    if which == "on a GPU":
        return recipe_sketch(wb.ops.matmul, Target("h200"), {"M": 64, "N": 96, "K": 40})
    if which == "odd":
        return recipe_sketch(wb.operator(ODD), Target(cores=2), {"N": 40, "M": 72})
    return recipe_sketch(wb.ops.matmul, Target(cores=2), {"M": 64, "N": 96, "K": 40})


@pytest.mark.parametrize("which", ["odd", "matmul", pytest.param("on a GPU", marks=pytest.mark.slow)])
def test_a_schedule_is_the_same_whether_its_rows_are_remembered_or_not(which):
    sketch = space(which)
    points = sketch.space.sample(3, 1)
    points += [near for p in points[:1] for near in sketch.space.neighbours(p)[:5]]
    known = [sketch.followed(p) for p in points for _ in range(2)][1::2]
    for point, (schedule, follows) in zip(points, known, strict=True):
        remembered.found.clear()
        fresh, asked = sketch.followed(point)
        assert (fresh, fresh.key, asked) == (schedule, schedule.key, follows)
        assert fresh.tree == schedule.tree


def test_a_path_that_was_gone_is_gone_without_the_row_and_its_questions_are_heard():
    memory, calls = Remembered(), []

    def row(schedule: wb.Schedule, size: int) -> wb.Schedule:
        calls.append(size)
        if decide("tiled", False, (False, True), opens=True):
            return schedule | wb.tile(n=decide("n", 4, (4, 8)))
        return schedule

    start = wb.schedule(SCALE, N=64)
    for chosen, asked, count in (
        ({}, ["tiled"], 1), ({}, ["tiled"], 1), ({"tiled": True}, ["tiled", "n"], 2),
        ({"tiled": True, "n": 8}, ["tiled", "n"], 3), ({"tiled": True, "n": 4}, ["tiled", "n"], 3),
        ({"tiled": True, "n": 8}, ["tiled", "n"], 3),
    ):  # fmt: skip
        with deciding(chosen) as listener:
            after = memory("row", row, start, (1,))
        assert list(listener.asked) == asked
        assert listener.opening == {"tiled"}
        assert len(calls) == count
        expected = start | wb.tile(n=chosen.get("n", 4)) if chosen else start
        assert after == expected
        assert (after is start) == (not chosen)
    assert memory("row", row, start, (1,)) is start  # nobody listens: the row itself
    assert len(calls) == 4


def test_another_way_to_the_same_order_is_another_schedule():
    memory, start = Remembered(), wb.schedule(SCALE, N=64)
    tiled = start | wb.tile(n=8)
    for other in (tiled, replace(tiled, trace=(*tiled.trace, *tiled.trace))):
        with deciding({}):
            after = memory("row", lambda s: s | wb.unroll("n_i"), other, ())
        assert after.trace[:-1] == other.trace


def test_no_more_is_kept_than_is_allowed():
    memory, start = Remembered(2), wb.schedule(SCALE, N=64)
    with deciding({}):
        for name in "abc":
            memory(name, lambda s: s | wb.tile(n=8), start, ())
    assert [key[0] for key in memory.found] == ["c"]
