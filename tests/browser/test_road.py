"""From `make lab` to a measured, verified, mapped kernel of an operator typed by hand: few actions."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.browser.chromium import CONTROL, SHIFT, Browser
from tests.browser.hands import steps, texts
from tests.browser.lab import Page, Server

pytestmark = pytest.mark.slow

MOST = 12
# Nobody's library has it: every row of a band against the rows beside it.
OPERATOR = """%%operator op
def banded(float(N,D) X, float(N+4,D) Y) -> (Z) {
    Z(n,w) +=! fabs(X(n,d) - Y(n+w,d)) where w in 0:5
}"""
TILE = "[...document.querySelectorAll('.jp-LauncherCard')].find((c) => c.textContent.includes('Tensor Workbench'))"
TIME = "document.querySelector('.wbp .head .time').textContent"


class Road:
    """What somebody does, counted and timed."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.begun = time.monotonic()
        self.done: list[tuple[str, float]] = []

    def __call__(self, name: str, action: Callable[[], object], until: str = "true") -> None:
        action()
        self.browser.until(until)
        self.done.append((name, round(time.monotonic() - self.begun, 1)))


def test_the_road_of_a_new_user_has_no_more_than_twelve_actions(lab: Server, browser, keep_window, measured):
    browser.size(1600, 1000)
    lab.visit(browser, "lab?reset")
    browser.until(TILE)
    road = Road(browser)
    x, y, wide, high = browser.run(
        f"(() => {{ const b = {TILE}.getBoundingClientRect(); return [b.x, b.y, b.width, b.height] }})()"
    )
    opened = "document.querySelector('.jp-Notebook .jp-CodeCell .cm-content')"
    road("the tile", lambda: browser.press((x + wide / 2, y + high / 2)), opened)
    browser.until("window.notebook = window.jupyterapp.shell.currentWidget")
    page = Page(browser)
    browser.run("(window.notebook.content.activeCellIndex = 0, window.notebook.content.node.focus(), 0)")
    idle = "window.notebook.sessionContext.session.kernel.status === 'idle'"
    count = "window.notebook.content.widgets[%d].model.executionCount"
    road("import", lambda: browser.key("Enter", SHIFT), f"{count % 0} && {idle}")
    cell = ".jp-CodeCell .jp-InputArea-editor .cm-content"
    road("into the cell", lambda: browser.click(cell, 1))
    road("all of it", lambda: browser.key("a", CONTROL))
    road("an operator", lambda: browser.type(OPERATOR))
    road("define", lambda: browser.key("Enter", SHIFT), f"{count % 1} && {idle}")
    shown = "document.querySelector('.wbp .plot') && document.querySelector('.wbp .begin-with')"
    road("panel", lambda: browser.key("Enter", SHIFT), shown)
    keep_window("road_1_first_look")
    first = texts(browser, ".wbp .begin-with")[0]
    road("start here", lambda: browser.click(".wbp .begin-with"), "!document.querySelector('.wbp .undo').disabled")
    assert steps(page)[0] == first
    road("measure", lambda: browser.click(".wbp .measure-now"), f"{TIME}.includes('NumPy')")
    assert "naive" in texts(browser, ".wbp .head .time")[0]
    assert page.ask("[m.outcome for m in panel.measurements.values()]")[-1] == "measured", "checked against the oracle"
    road("map to a GPU", lambda: browser.click(".wbp .to-gpu"), "document.querySelector('.wbp .code .apply')")
    road("apply", lambda: browser.click(".wbp .code .apply"), "document.querySelector('.wbp .badge.block')")
    browser.until("document.querySelector('.wbp .code').textContent.includes('__global__')")
    assert page.ask("bool(panel.schedule.verdict)")
    keep_window("road_2_mapped")
    measured["the road, s"] = dict(road.done)
    assert len(road.done) <= MOST
    browser.size(1500, 1100)
