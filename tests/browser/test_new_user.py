"""From the launcher's tile to the same code in a fresh kernel, as somebody would who sees it for the first time."""

from __future__ import annotations

import json

import pytest

from tests.browser.chromium import CONTROL, SHIFT, Browser
from tests.browser.hands import APPLIED, choose, drag_on_plot, filtered, some_offer, steps, texts
from tests.browser.lab import Page, Server

pytestmark = pytest.mark.slow

OPERATOR = """%%operator
def scores(float(B,S,D) Q, float(B,T,D) K) -> (W) {
    W(b,s,t) +=! Q(b,s,d) * K(b,t,d)
}"""
PANEL = "panel = wb.panel(wb.schedule(scores, B=4, S=64, T=48, D=32))\npanel"
TILE = "[...document.querySelectorAll('.jp-LauncherCard')].find((c) => c.textContent.includes('Tensor Workbench'))"
HASH = "__import__('hashlib').sha256(wb.generate({}).source.encode()).hexdigest()"


@pytest.fixture(scope="module")
def page(lab: Server, browser: Browser) -> Page:
    """The notebook that the tile opens."""
    lab.visit(browser, "lab?reset")
    browser.until(TILE)
    x, y, wide, high = browser.run(
        f"(() => {{ const b = {TILE}.getBoundingClientRect(); return [b.x, b.y, b.width, b.height] }})()"
    )
    at = (x + wide / 2, y + high / 2)
    browser.press(at)
    browser.until("document.querySelector('.jp-Notebook .jp-CodeCell .cm-content')")
    browser.until("window.notebook = window.jupyterapp.shell.currentWidget")
    return Page(browser)


def written(page: Page, cell: int, text: str) -> None:
    """Click into a cell, replace its text by typing, run it with Shift+Enter."""
    browser = page.browser
    nth = browser.run(f"window.notebook.content.widgets.slice(0, {cell}).filter((w) => w.model.type === 'code').length")
    browser.click(".jp-CodeCell .jp-InputArea-editor .cm-content", nth)
    browser.key("a", CONTROL)
    browser.type(text)
    ran(page, cell)


def ran(page: Page, cell: int) -> None:
    """Shift+Enter in the active cell, until it has run."""
    page.browser.key("Enter", SHIFT)
    count = f"window.notebook.content.widgets[{cell}].model.executionCount"
    page.browser.until(f"{count} && window.notebook.sessionContext.session.kernel.status === 'idle'")


def test_from_the_tile_to_the_same_code_in_a_fresh_kernel(page, browser, keep_window):
    keep_window("user_1_opened")
    browser.click(".jp-CodeCell .jp-InputArea-editor .cm-content", 0)
    ran(page, 0)
    written(page, 1, OPERATOR)
    written(page, 2, PANEL)
    page.panel()
    keep_window("user_2_panel")

    drag_on_plot(browser, "tile", (2, 3))
    browser.until(APPLIED)
    tiled = steps(page)
    assert tiled[-1].startswith("tile(")
    keep_window("user_3_tiled")

    browser.click(".wbp .interchange")
    page.becomes(f"len(panel.schedule.trace) == {len(tiled) + 1}")
    assert steps(page)[-1].startswith("interchange(")

    browser.until("document.querySelector('.wbp .offers details')")
    refused = some_offer(browser, "parallelize", "vectorize", legal=False)
    choose(browser, refused)
    browser.until("!document.querySelector('.wbp .refusal').hidden")
    reason = texts(browser, ".wbp .refusal")[0]
    assert refused in reason
    assert "W" in reason
    assert "would run" in reason
    keep_window("user_4_refused")
    assert len(steps(page)) == len(tiled) + 1
    filtered(browser, "")

    browser.click(".wbp .undo")
    page.becomes(f"len(panel.schedule.trace) == {len(tiled)}")
    assert steps(page) == tiled

    copied = copy_python(browser)
    assert copied == page.ask("str(panel.history)")
    code = page.ask(HASH.format("panel.schedule"))
    page.restart()
    last = browser.run("window.notebook.content.widgets.length - 1")
    written(page, last, copied)
    assert page.ask("[str(s) for s in schedule.trace]") == tiled
    assert page.ask(f"__import__('workbench') and {HASH.format('schedule')}") == code
    keep_window("user_5_again")


def copy_python(browser: Browser) -> str:
    """Press the button that copies, and what is in the clipboard then."""
    origin = browser.run("location.origin")
    browser.do(lambda: browser.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin))
    browser.click(".wbp .copy")
    browser.until(f"document.querySelector('.wbp .status').textContent.includes({json.dumps('clipboard')})")
    return browser.run("navigator.clipboard.readText()")
