"""The eight programs of the screenshots: their steps are legal, one is refused; one is taken in JupyterLab."""

from __future__ import annotations

import pytest
from PIL import Image

import workbench as wb
from tests.browser import shots
from workbench.errors import IllegalSchedule

PROGRAMS = shots.PROGRAMS


def schedule(program):
    return wb.schedule(eval(program.operator, {"wb": wb}), program.sizes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_are_legal_and_one_is_refused(name):
    program = PROGRAMS[name]
    before = schedule(program)
    after = before
    for step in program.steps:
        after |= eval(step, {"wb": wb})
    assert len(after.trace) >= len(program.steps)
    with pytest.raises(IllegalSchedule):
        before | eval(program.refused, {"wb": wb})


def test_every_program_is_shown_before_and_after_steps_and_on_a_gpu_in_both_themes_and_sizes():
    every = list(shots.shots())
    assert len({shot.name for shot in every}) == len(every) >= 40
    for name in PROGRAMS:
        own = [shot for shot in every if shot.program == name]
        assert {shot.state for shot in own} >= {"naive", "steps", "gpu"}
        for part in ("theme", "size", "place"):
            assert len({getattr(shot, part) for shot in own}) == 2, part


def test_a_shot_is_of_the_whole_window(lab, browser, tmp_path):
    shot = shots.Shot("triangle", "steps", "lab", "1280", "dark")
    with Image.open(shots.take(lab, browser, shot, tmp_path)) as taken:
        assert taken.size == (1280, 800)
        assert len(taken.convert("RGB").getcolors(1 << 20)) > 50
        assert taken.convert("L").resize((1, 1)).getpixel((0, 0)) < 110, "it is dark"
    browser.size(1500, 1100)
    shots.Page(browser).command("apputils:change-theme", theme=shots.THEMES["light"])
