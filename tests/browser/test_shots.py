"""The eight programs of the screenshots: their steps are legal, one is refused; one is taken in JupyterLab."""

from __future__ import annotations

import pytest
from PIL import Image

import workbench as wb
from tests.browser import shots
from tests.browser.bench import Bench
from tests.browser.chromium import BrowserError
from tests.browser.resting import WAITING, seen_at_rest
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


def test_a_look_waits_until_the_panel_is_at_rest(browser):
    Bench(browser, wb.panel(wb.schedule(wb.ops.matmul, M=6, N=5, K=7)))
    seen_at_rest(browser, 60)
    browser.run("""(() => { const waits = Object.assign(document.createElement('p'), {textContent: 'asking for it …'});
        document.querySelector('.wbp .foot').append(waits);
        window.setTimeout(() => { waits.textContent = 'here it is' }, 1200) })()""")
    assert browser.run(WAITING) == "asking for it …"
    seen_at_rest(browser, 60)
    assert browser.run("document.querySelector('.wbp .foot').textContent").endswith("here it is")


def test_what_never_rests_is_said(browser):
    Bench(browser, wb.panel(wb.schedule(wb.ops.matmul, M=6, N=5, K=7)))
    seen_at_rest(browser, 60)
    browser.run("(document.querySelector('.wbp .title').textContent = 'waiting …', 0)")
    with pytest.raises(BrowserError, match=r"not at rest within 0\.5 s: waiting …"):
        seen_at_rest(browser, 0.5)
