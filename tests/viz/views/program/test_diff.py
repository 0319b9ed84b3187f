"""`viz.diff`: which lines stand beside which, and what is folded."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.viz.values import MACHINE, parsed
from workbench import viz
from workbench.errors import WorkbenchError
from workbench.viz.draw.scene import Text
from workbench.viz.views.program.diff_view import diff_rows


def pairs(rows):
    return [(r.before and r.before.text, r.after and r.after.text, r.changed, r.folded) for r in rows]


def test_lines_that_changed_stand_beside_each_other():
    assert pairs(diff_rows(["a", "b", "c"], ["a", "x", "y", "c"])) == [
        ("a", "a", False, 0), ("b", "x", True, 0), (None, "y", True, 0), ("c", "c", False, 0),
    ]  # fmt: skip


def test_what_is_equal_far_from_a_change_is_folded():
    rows = diff_rows([*"abcdefg"], [*"abcdefX"], context=1)
    assert pairs(rows) == [(None, None, False, 5), ("f", "f", False, 0), ("g", "X", True, 0)]


def test_a_line_that_only_moved_inwards_is_equal():
    assert [r.changed for r in diff_rows(["for x"], ["  for x"])] == [False]


def test_of_one_schedule_the_last_step_is_shown(golden):
    picture = viz.diff(wb.schedule(wb.ops.blur, H=30, W=40) | wb.compute_at("R", "B/y"), target=MACHINE)
    parsed(picture.svg)
    golden(picture.text)
    assert picture.data.heads == ("naive", "compute_at('R', 'B/y')")


@pytest.mark.parametrize("name", ["trmm", "seidel_2d", "conv1d"])
def test_long_lines_are_cut_not_dropped(name):
    naive = wb.schedule(getattr(wb.ops, name), **getattr(wb.ops, name).examples[-1])
    statement = naive.program.statements[-1]
    picture = viz.diff(naive | wb.split(f"{statement.name}/{statement.dims[-1]}", 4), target=MACHINE)
    texts = [m.text for m in picture.drawing.marks if isinstance(m, Text)]
    assert any("_o = " in t for t in texts)
    assert max(m.x + m.width for m in picture.drawing.marks if isinstance(m, Text)) < picture.drawing.width + 12


def test_an_illegal_schedule_says_so():
    bad = wb.preview(wb.schedule(wb.ops.trmm, M=9, N=8), wb.parallelize("k"))
    assert any("would race on C" in m.text for m in viz.diff(bad, target=MACHINE).drawing.marks if isinstance(m, Text))


@pytest.mark.parametrize("value", [3, None, "matmul"])
def test_anything_else_is_refused(value):
    with pytest.raises(WorkbenchError, match="diff takes Schedules"):
        viz.diff(value)


def test_a_schedule_without_steps_has_no_last_step():
    with pytest.raises(WorkbenchError, match="has no step yet"):
        viz.diff(wb.schedule(wb.ops.trmm, M=9, N=8))
