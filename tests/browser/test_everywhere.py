"""One walk through all of the panel, in JupyterLab and in Notebook 7, in both themes and on both screens."""

from __future__ import annotations

import json

import pytest

from tests.browser import shots
from tests.browser.chromium import SHIFT
from tests.browser.hands import APPLIED, choose, drag_on_plot, filtered, some_offer, steps, texts
from tests.browser.lab import Page
from tests.browser.test_first_look import PARTS, UNSEEN
from tests.browser.test_menus import MENU, READY, ROW, right_click
from tests.browser.test_standing_still import BAR, WHERE
from tests.support import examples

pytestmark = pytest.mark.slow

# Nobody's library has it: how far every row of a band is from the rows beside it.
CELL = """import workbench as wb
banded = wb.operator('''
def banded(float(N,D) X, float(N+4,D) Y) -> (Z) { Z(n,w) +=! fabs(X(n,d) - Y(n+w,d)) where w in 0:5 }''')
panel = wb.panel(wb.schedule(banded, N=48, D=16))
panel"""
# Every two of place, size and theme are in the first four.
EVERY = [
    ("lab", "1600", "light"), ("notebook", "1280", "light"), ("lab", "1280", "dark"), ("notebook", "1600", "dark"),
    ("notebook", "1600", "light"), ("lab", "1280", "light"), ("notebook", "1280", "dark"), ("lab", "1600", "dark"),
]  # fmt: skip
GROUND = "getComputedStyle(document.querySelector('.wbp')).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
STORED = "window.notebook.content.widgets[0].model.outputs.get(0).data"
TIME = "document.querySelector('.wbp .head .time').textContent"
SLOTS = "[...document.querySelectorAll('.wbp .slot')].map((e) => e.dataset.slot).join()"


@pytest.fixture(params=EVERY[: examples(quick=1, ci=4, full=8)], ids="-".join)
def page(request, browser):
    """A panel that was run by hand, where, how large and in which theme the case says."""
    place, size, theme = request.param
    server = request.getfixturevalue("lab" if place == "lab" else "notebook7")
    browser.size(*shots.SIZES[size])
    shots.first_page(server, browser, place)
    made = server.again(browser, CELL)
    made.command("apputils:change-theme", theme=shots.THEMES[theme])
    browser.run("(window.jupyterapp.shell.collapseLeft?.(), 0)")
    browser.click(".jp-CodeCell .jp-InputArea-editor .cm-content")
    browser.key("Enter", SHIFT)
    made.panel()
    browser.until("document.querySelector('.wbp .begin-with')")
    yield made
    made.command("apputils:change-theme", theme=shots.THEMES["light"])
    browser.size(1500, 1100)


def test_every_point_of_the_panel(page, request, browser, keep_window):
    name = request.node.callspec.id
    first_look(browser, dark="dark" in name)
    keep_window(f"everywhere_{name}")
    a_drag_is_a_step(page)
    a_refusal_moves_nothing(page)
    a_menu_at_a_loop(page)
    measured(page)
    beside_assembly(browser)
    mapped_to_a_gpu(page)
    a_talk_and_back(browser)
    kept_as_a_link_and_a_picture(page)


def first_look(browser, *, dark: bool) -> None:
    browser.until(f"{UNSEEN % PARTS}.length === 0", 30)
    assert (max(browser.run(GROUND)) < 100) == dark


def a_drag_is_a_step(page: Page) -> None:
    drag_on_plot(page.browser, "tile", (2, 3))
    page.browser.until(APPLIED)
    (step,) = steps(page)
    assert step.startswith("tile(")
    page.browser.click(".wbp .undo")
    page.becomes("not panel.schedule.trace")
    page.browser.until("!document.querySelector('.wbp').matches('.busy') && document.querySelector('.wbp .begin-with')")


def a_refusal_moves_nothing(page: Page) -> None:
    browser = page.browser
    refused = some_offer(browser, "parallelize", legal=False)
    filtered(browser, refused)
    before = browser.run(WHERE)
    choose(browser, refused)
    browser.until(f"!{BAR}.hidden")
    assert browser.run(WHERE) == before
    assert refused in texts(browser, ".wbp .refusal.banner")[0]
    browser.run("document.querySelector('.wbp svg.plot').focus()")
    browser.key("Escape")
    browser.until(f"{BAR}.hidden")
    filtered(browser, "")


def a_menu_at_a_loop(page: Page) -> None:
    browser = page.browser
    right_click(browser, ROW.format("'d'"))
    browser.until(READY)
    legal = browser.run(f"[...{MENU}.querySelectorAll('.may')].map((e) => e.dataset.legal)")
    assert legal == sorted(legal, reverse=True)
    assert {*legal} == {"true", "false"}
    browser.key("Escape")
    browser.until(f"{MENU}.hidden")


def measured(page: Page) -> None:
    page.browser.click(".wbp .measure-now")
    page.browser.until(f"{TIME}.includes('NumPy')")
    assert page.ask("panel.measurements[panel.schedule].outcome") == "measured"
    hardware = texts(page.browser, ".wbp .history .hardware")[0]
    assert hardware.startswith(("hardware, a call: ", "no hardware counters ("))


def beside_assembly(browser) -> None:
    button = "[...document.querySelectorAll('.wbp .language')].find((b) => b.textContent === 'assembly')"
    browser.run(f"{button}.click()")
    browser.until("document.querySelectorAll('.wbp .code .column').length === 2")
    browser.until("document.querySelector('.wbp .code .line.tint')")
    browser.run(f"{button}.click()")
    browser.until("document.querySelectorAll('.wbp .code .column').length === 1")


def mapped_to_a_gpu(page: Page) -> None:
    browser = page.browser
    browser.click(".wbp .to-gpu")
    browser.until("document.querySelector('.wbp .code .apply')")
    browser.click(".wbp .code .apply")
    browser.until("document.querySelector('.wbp .badge.block')")
    browser.until("document.querySelector('.wbp .code').textContent.includes('__global__')")
    assert page.ask("bool(panel.schedule.verdict)")


def a_talk_and_back(browser) -> None:
    browser.click(".wbp .talk-layout")
    browser.until(f"{SLOTS} === 'domain,code'")
    browser.click(".wbp .talk-layout")
    browser.until(f"{SLOTS}.split(',').length === 5")


def kept_as_a_link_and_a_picture(page: Page) -> None:
    browser = page.browser
    origin = browser.run("location.origin")
    browser.do(lambda: browser.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin))
    browser.click(".wbp .link-state")
    browser.until("document.querySelector('.wbp .status').textContent.includes('link')")
    link = browser.run("navigator.clipboard.readText()")
    assert page.ask(f"wb.panel({json.dumps(link)}).schedule == panel.schedule")
    browser.until(f"{STORED}['text/plain'].includes('block.x')")
    assert len(browser.run(f"{STORED}['image/png']")) > 5000
