"""What JupyterLab's extension adds: commands, a panel that follows the notebooks, stored pictures, highlighting."""

from __future__ import annotations

import json
import re

import pytest

from tests.browser.chromium import ALT, CONTROL, SHIFT, Browser
from tests.browser.hands import APPLIED, CHANGED, steps, texts
from tests.browser.lab import Page
from tests.support import ROOT

SIDE = "#tensor-workbench-side"
MATMUL = "import workbench as wb\npanel = wb.panel(wb.schedule(wb.ops.matmul, M=96, N=80, K=64))\npanel"
CELL = "document.querySelector('.jp-Notebook .wb-live-or-stored')"
ACTIONS = re.findall(r"name: '([\w-]+)', label", (ROOT / "js" / "lab" / "src" / "actions.ts").read_text("utf-8"))


@pytest.fixture(scope="module")
def page(lab, browser) -> Page:
    opened = lab.open(browser, "places", MATMUL, "%%operator\ndef f(float(N) x) -> (y) { y(i) = 2 * x(i) }")
    opened.execute(0)
    opened.panel()
    return opened


def chord(browser: Browser, key: str, modifiers: str = "") -> None:
    """Ctrl+Alt+W, then a key."""
    browser.key("w", CONTROL + ALT)
    browser.key(key, modifiers)


def test_every_action_finds_what_it_acts_on(page, browser):
    page.command("tensor-workbench:domain")
    possible = browser.run(
        f"{json.dumps(ACTIONS)}.filter((n) => window.jupyterapp.commands.isEnabled('tensor-workbench:' + n))"
    )
    later = {"undo", "redo", "repair", "dismiss", "take"}  # what a panel in its first state has nothing for
    panes = set(page.ask("list(panel.panes)"))
    assert set(ACTIONS) - later - ({"take"} if "operator" not in panes else set()) == set(possible)


def test_shortcuts_work_from_wherever_the_keyboard_is(page, browser):
    browser.run("window.jupyterapp.shell.activateById(window.notebook.id), window.notebook.content.node.focus()")
    chord(browser, "n")
    browser.until("document.activeElement.closest('.wbp .numbers')")
    browser.type("2")
    browser.key("Tab")
    browser.type("3")
    browser.key("Tab")
    browser.key("Enter")
    browser.until(APPLIED)
    taken = steps(page)
    assert taken[-1].startswith("tile(")
    chord(browser, "u")
    page.becomes("len(panel.schedule.trace) == 0")
    browser.until("!document.querySelector('.wbp .redo').disabled")
    chord(browser, "r")
    page.becomes(f"[str(s) for s in panel.schedule.trace] == {taken!r}")
    browser.until(APPLIED)
    chord(browser, "v")
    browser.until("window.notebook.content.widgets.length === 3")
    assert browser.run("window.notebook.content.widgets[1].model.sharedModel.getSource()") == page.ask(
        "str(panel.history)"
    )
    page.remove(1)
    chord(browser, "C", SHIFT)
    browser.until("document.querySelector('.wbp .language').getAttribute('aria-pressed') === 'true'")


def test_the_palette_lists_the_actions(page, browser):
    page.command("apputils:activate-command-palette")
    browser.until("document.querySelector('.lm-CommandPalette-input')")
    browser.run("document.querySelector('.lm-CommandPalette-input').focus()")
    browser.type("Interchange the Loops of the Axes")
    browser.until("document.querySelector('.lm-CommandPalette-item')")
    found = texts(browser, ".lm-CommandPalette-item")
    assert "Ctrl+Alt+W" in found[0].replace(" ", "")
    browser.key("Enter")
    browser.until(CHANGED)
    page.becomes("str(panel.schedule.trace[-1]).startswith('interchange')")
    page.ask("panel._go(panel.history.at(0))")


def test_a_panel_on_the_right_follows_the_active_notebook_and_names_it(page, browser, lab, keep_window):
    page.command("tensor-workbench:show")
    browser.until(f"document.querySelector('{SIDE} .wbp .plot')")
    assert texts(browser, f"{SIDE} .wb-following-head") == ["places.ipynb · matmul"]
    keep_window("lab_side")
    name = lab.write("other", "import workbench as wb\nother = wb.panel(wb.ops.trmm)\nother")
    browser.run(
        f"window.jupyterapp.commands.execute('docmanager:open', {{path: '{name}'}})"
        ".then((w) => w.revealed.then(() => (window.first = window.notebook, window.notebook = w, 0)))"
    )
    browser.until(f"document.querySelector('{SIDE} .wb-following-head').textContent.includes('has no panel yet')")
    other = Page(browser)
    other.execute(0)
    browser.until(f"document.querySelector('{SIDE} .wb-following-head').textContent === 'other.ipynb · trmm'")
    browser.until(f"document.querySelector('{SIDE} .wbp .title').textContent === 'trmm'")
    browser.run("window.jupyterapp.shell.activateById(window.first.id)")
    browser.until(f"document.querySelector('{SIDE} .wb-following-head').textContent === 'places.ipynb · matmul'")
    browser.run(
        "window.notebook.context.model.dirty = false, window.notebook.close(), window.notebook = window.first, 0"
    )
    page.command("application:toggle-right-area")


def test_one_command_lays_out_and_what_was_closed_opens_again(page, browser, keep_window):
    main = "document.querySelector('#tensor-workbench-main')"
    for _ in range(2):
        page.command("tensor-workbench:layout")
        browser.until(f"{main} && {main}.querySelector('.wbp .plot')")
        left, right = browser.box("#" + browser.run("window.notebook.id")), browser.box("#tensor-workbench-main")
        assert left["x"] + left["width"] <= right["x"]
        assert abs(left["width"] - right["width"]) < 60
        browser.until(f"{CELL}.querySelector('.wbp').getClientRects().length === 0")  # one panel, not the same twice
        keep_window("lab_layout")
        browser.run("window.jupyterapp.shell.activateById('tensor-workbench-main')")
        page.command("application:close")
        browser.until(f"!{main}")
        browser.until(f"{CELL}.querySelector('.wbp').getClientRects().length > 0")


def test_a_panel_beside_can_be_shown_in_its_cell_too(page, browser):
    page.command("tensor-workbench:layout")
    browser.until(f"{CELL}.querySelector('.wb-where')")
    browser.click(".jp-Notebook .wb-where")
    browser.until(f"{CELL}.querySelector('.wbp').getClientRects().length > 0")
    page.alone()


def test_places_are_restored_when_the_page_is_loaded_anew(page, browser, lab):
    page.command("tensor-workbench:layout")
    browser.until("document.querySelector('#tensor-workbench-main .wbp .plot')")
    page.save()
    lab.remembers("tensor-workbench:main")
    browser.run("(window.jupyterapp = undefined, 0)")
    lab.visit(browser, "lab")
    browser.until("document.querySelector('#tensor-workbench-main .wbp .plot')")
    browser.until("document.querySelector('.jp-Notebook .wbp .plot')")
    browser.until(
        "window.notebook = [...window.jupyterapp.shell.widgets('main')].find((w) => w.content && w.content.model"
        " && w.content.activeCell)"
    )
    page.ready()
    assert texts(browser, "#tensor-workbench-main .wb-following-head") == ["places.ipynb · matmul"]
    page.alone()


def test_an_operator_cell_is_highlighted(page, browser):
    browser.until("document.querySelectorAll('.jp-CodeCell')[1].querySelector('.cm-content .ͼ1, .cm-content span')")
    tokens = browser.run(
        "[...document.querySelectorAll('.jp-CodeCell')[1].querySelectorAll('.cm-line span')].map((e) => e.textContent)"
    )
    assert "def" in tokens
    assert "%%operator" in tokens
