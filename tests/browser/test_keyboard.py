"""Everything by keyboard: two tiles, an undo, the Python as a cell, a new kernel that runs all; what is said."""

from __future__ import annotations

import pytest

from tests.browser.chromium import ALT, CONTROL, SHIFT, Browser
from tests.browser.hands import APPLIED, steps, texts
from tests.browser.lab import Page
from tests.viz.panels.values import SCHEDULES

pytestmark = pytest.mark.slow

CELL = "import workbench as wb\npanel = wb.panel({})\npanel"
SIZES = {"stencil": (("1", "2"), ("2", "1"))}  # to tile both loops would be illegal
HASH = "__import__('hashlib').sha256(wb.generate({}).source.encode()).hexdigest()"
RAN = """(window.ran = 0, window.notebook.content.model.cells.get(1).stateChanged.connect((_, change) => {
    if (change.name === 'executionCount' && change.newValue) window.ran += 1 }), 0)"""
FOCUSED = "document.activeElement.closest('{}')"


@pytest.fixture(scope="module", params=SCHEDULES)
def case(request, lab, browser) -> tuple[str, Page]:
    return request.param, lab.again(browser, CELL.format(SCHEDULES[request.param]))


def chord(browser: Browser, key: str, modifiers: str = "") -> None:
    """Ctrl+Alt+W, then a key."""
    browser.key("w", CONTROL + ALT)
    browser.key(key, modifiers)


def said(browser: Browser, text: str) -> None:
    """Wait until the line for screen readers holds a text."""
    browser.until(f"document.querySelector('.wbp [aria-live].status').textContent.includes({text!r})")


def tile(browser: Browser, width: str, height: str) -> None:
    """The two numbers below the last picture that has them."""
    chord(browser, "n")
    browser.until(FOCUSED.format(".wbp .numbers"))
    for size in (width, height):
        if size != "1":  # which stands there
            browser.type(size)
        browser.key("Tab")
    browser.key("Enter")


def palette(browser: Browser, words: str) -> None:
    """Choose a command from the palette."""
    browser.key("c", CONTROL + SHIFT)
    browser.until(FOCUSED.format(".lm-CommandPalette"))
    browser.type(words)
    browser.until("document.querySelector('.lm-CommandPalette-item.lm-mod-active')")
    browser.key("Enter")


def test_two_steps_an_undo_and_a_new_kernel_without_a_mouse(case, browser, keep_window):
    name, page = case
    browser.run("window.notebook.content.activate()")
    browser.key("Escape")
    browser.key("Enter", CONTROL)
    page.panel()
    one, other = SIZES.get(name, (("2", "3"), ("2", "2")))
    tile(browser, *one)
    said(browser, "applied")
    first = steps(page)
    assert first[-1].startswith(("tile(", "split("))
    browser.until("document.querySelector('.wbp .offers details')")
    tile(browser, *other)
    page.becomes(f"len(panel.schedule.trace) > {len(first)}")
    browser.until(APPLIED)
    chord(browser, "u")
    page.becomes(f"len(panel.schedule.trace) == {len(first)}")
    assert steps(page) == first
    code = page.ask(HASH.format("panel.schedule"))
    chord(browser, "v")
    browser.until("window.notebook.content.widgets.length === 2")
    said(browser, "cell of its own")
    before = page.ready()
    browser.run("window.notebook.content.activate()")
    browser.run(RAN)
    palette(browser, "Restart Kernel and Run All Cells")
    browser.until("document.querySelector('.jp-Dialog .jp-mod-accept')")
    browser.key("Enter")
    browser.until("window.ran")
    assert page.ready() == before  # the notebook's kernel, started anew
    assert page.ask("[str(s) for s in schedule.trace]") == first
    assert page.ask("len(panel.schedule.trace)") == 0
    assert page.ask(HASH.format("schedule")) == code
    keep_window(f"keyboard_{name}")


def test_arrows_walk_and_are_told(case, browser):
    _, page = case
    page.panel()
    chord(browser, "d")
    browser.until(FOCUSED.format(".wbp svg.plot"))
    browser.key("n")
    browser.until("document.querySelector('.wbp .cells b')")
    first = texts(browser, ".wbp .cells b")[0]
    browser.key("ArrowRight")
    browser.until(f"document.querySelector('.wbp .cells b').textContent !== {first!r}")
    said(browser, texts(browser, ".wbp .cells b")[0].partition(" ")[2])
    chord(browser, "l")
    browser.until(FOCUSED.format(".wbp .tree"))
    browser.key("ArrowDown")
    browser.key("Enter")
    assert page.becomes("panel.selection")
