"""One walk through the points of the panel, in JupyterLab and Notebook 7, in both themes and on both sizes of screen.

Each combination opens an operator that no library has, as somebody does who types it, and goes from the first look to
the stored picture. What a point promises is asserted, and a screenshot of it is kept (`walk_<place>_<size>_<theme>_*`).
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from PIL import Image

from tests.browser import shots
from tests.browser.chromium import SHIFT, Browser
from tests.browser.conftest import OUT
from tests.browser.hands import APPLIED, POINTS, attributes, drag_on_plot, filtered, fresh, some_offer, steps, texts
from tests.browser.lab import LATE, Page, Server
from tests.browser.resting import seen_at_rest
from tests.browser.test_first_look import PARTS, UNSEEN
from tests.browser.test_menus import MENU, READY, ROW, ROWS, dropped
from tests.browser.test_one_screen import LINE, MET
from tests.browser.test_standing_still import BAR, COVERED, HIDDEN, WHERE, apart
from tests.browser.test_texts import COLUMN, shown
from tests.support import examples

pytestmark = pytest.mark.slow

# How far every row of a band is from the rows beside it, and how far the nearest of them.
CELL = """import workbench as wb
nearest = wb.operator('''
def nearest(float(N,D) X, float(N+4,D) Y) -> (Z, best) {
    Z(n,w) +=! fabs(X(n,d) - Y(n+w,d)) where w in 0:5
    best(i) min=! Z(i,v)
}''')
panel = wb.panel(wb.schedule(nearest, N=4096, D=64))
panel"""
APPLICATIONS = {"lab": "JupyterLab", "notebook": "Jupyter Notebook"}
# One shows every place, size and theme with one of the others; four have every two of them together.
FOUR = (("lab", "1600", "light"), ("lab", "1280", "dark"), ("notebook", "1280", "light"), ("notebook", "1600", "dark"))
EVERY = tuple(product(APPLICATIONS, shots.SIZES, shots.THEMES))
TAKEN = {1: FOUR[:1], 4: FOUR, 8: EVERY}[examples(quick=1, ci=4, full=8)]

DARK = "Math.max(...getComputedStyle(document.querySelector('.wbp')).backgroundColor.match(/\\d+/g).slice(0, 3)) < 110"
SPOT = """(() => { const e = %s; e.scrollIntoView({block: 'nearest'});
    const b = e.getBoundingClientRect(); return [b.x + Math.min(30, b.width / 2), b.y + b.height / 2] })()"""
# Whether all of some elements is seen in what holds them.
WHOLE = """(() => { const box = (e) => e.getBoundingClientRect(), around = box(document.querySelector('.wbp %s'));
    const within = (b, side, other) => b[side] >= around[side] - 1 && b[other] <= around[other] + 1;
    const found = [...document.querySelectorAll('.wbp %s')].map(box);
    return found.length > 0 && found.every((b) => within(b, 'left', 'right') && within(b, 'top', 'bottom')) })()"""
TIME = "document.querySelector('.wbp .head .time').textContent"
PRESSED = "[...document.querySelectorAll('.wbp .language[aria-pressed=true]')].map((e) => e.textContent).join()"
SLOTS = "[...document.querySelectorAll('.wbp .slot')].map((e) => e.dataset.slot).join()"
FLOW = ".wbp .flow .drawing .place"
STORED = "window.notebook.content.widgets[0].model.outputs.get(0).data"
TINTS = f"""(() => {{ const tint = (line) => [...line.classList].find((c) => /^t\\d$/.test(c));
    const tints = (column) => [...column.querySelectorAll('.line.tint')].map(tint);
    return [...document.querySelectorAll('{COLUMN}')].map(tints) }})()"""


@dataclass(frozen=True)
class Walk:
    """A panel in one combination, and what one does there."""

    page: Page
    name: str

    @property
    def browser(self) -> Browser:
        return self.page.browser

    def from_the_start(self) -> None:
        """The schedule the panel began with, where one has it who reads: at the top of what the notebook shows."""
        self.page.ask("setattr(panel, 'arrangement', {})")
        fresh(self.page)
        self.browser.move((3, 3))
        self.browser.run(shots.LOOKED_AT)
        self.browser.until(shots.BEGIN)

    def look(self, point: str) -> Path:
        """A screenshot of the window, as soon as the panel is at rest."""
        self.browser.move((3, 3))
        OUT.mkdir(parents=True, exist_ok=True)
        path = OUT / f"walk_{self.name}_{point}.png"
        path.write_bytes(seen_at_rest(self.browser))
        return path

    def spot(self, element: str) -> tuple[float, float]:
        """Where what an expression finds is pressed; only what is hidden in its pane is scrolled to."""
        x, y = self.browser.run(SPOT % element)
        return x, y

    def press(self, selector: str) -> None:
        """Click the first element of a selector."""
        self.browser.press(self.spot(f"document.querySelector({json.dumps(selector)})"))


@pytest.fixture(scope="module", params=TAKEN, ids="-".join)
def walk(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Walk]:
    place, size, theme = request.param
    server: Server = request.getfixturevalue("lab" if place == "lab" else "notebook7")
    browser.size(*shots.SIZES[size])
    if browser.run(f"location.origin !== {json.dumps(server.address)}"):
        shots.first_page(server, browser, place)
    page = server.again(browser, CELL)
    browser.run("(localStorage.removeItem('tensor-workbench:hint'), window.jupyterapp.shell.collapseLeft?.(), 0)")
    page.command("apputils:change-theme", theme=shots.THEMES[theme])
    browser.until(f"document.body.dataset.jpThemeName === {json.dumps(shots.THEMES[theme])}")
    browser.console.clear()  # of what the application said of itself while it began
    browser.until("(e => (e.focus(), e === document.activeElement))(document.querySelector('.jp-Cell .cm-content'))")
    browser.key("Enter", SHIFT)
    page.panel()
    browser.until(shots.BEGIN)
    assert browser.run("window.jupyterapp.name") == APPLICATIONS[place]
    yield Walk(page, "_".join(request.param))
    page.command("apputils:change-theme", theme=shots.THEMES["light"])
    browser.size(1500, 1100)


@pytest.fixture
def started(walk: Walk) -> Walk:
    """The panel as it began."""
    walk.from_the_start()
    return walk


def test_the_first_look_needs_no_scrolling_and_says_what_to_do_next(walk):
    browser = walk.browser
    browser.until(f"{UNSEEN % PARTS}.length === 0", 30)
    browser.until(f"({DARK}) === {json.dumps('dark' in walk.name)}")
    assert browser.run(MET) == [], "nothing is cut or covered"
    assert browser.run(WHOLE % (".domain", "svg.plot .frame"))
    assert texts(browser, ".wbp .begin-with"), "steps to start with"
    walk.look("1_first_look")


def test_pointing_lights_and_a_drag_is_a_step(started):
    browser = started.browser
    browser.point_at(POINTS, 3)
    name = attributes(browser, POINTS, "data-point")[3]
    browser.until(f"document.querySelector('.wbp .cells b').textContent.endsWith({json.dumps(name)})")
    assert attributes(browser, ".wbp .node.active", "data-name")
    assert texts(browser, ".wbp .code .line.active")
    drag_on_plot(browser, "tile", (2, 3))
    browser.until(APPLIED)
    assert steps(started.page)[-1].startswith("tile("), "after what makes it legal"
    browser.run(shots.LOOKED_AT)
    browser.until(WHOLE % (".domain", ".nest:last-child svg.plot .frame"))
    started.look("2_dragged")


def test_a_loop_dropped_on_another_is_an_interchange(started):
    browser = started.browser
    started.spot(ROW.format("'i'"))
    started.spot(ROW.format("'v'"))
    assert {"i", "v"} <= {*browser.run(ROWS)}
    dropped(browser, "v", "i", 0.5)
    browser.until(APPLIED)
    assert steps(started.page)[-1].startswith("interchange("), "after what makes it legal"


def test_a_refusal_moves_nothing_and_covers_neither_points_nor_tools(started):
    browser = started.browser
    refused = some_offer(browser, "parallelize", legal=False)
    filtered(browser, refused)
    selector = ".wbp .offer button[data-legal=false]"
    at = started.spot(f"document.querySelector('{selector}')")
    before = browser.run(WHERE)
    browser.press(at)
    browser.until(f"!{BAR}.hidden")
    assert browser.run(WHERE) == before
    assert apart(browser.box(".wbp .refusal.banner"), browser.box(selector))
    assert browser.run(COVERED) == []
    assert browser.run(HIDDEN) == []
    assert refused in texts(browser, ".wbp .refusal.banner")[0]
    started.look("3_refused")
    browser.run("document.querySelector('.wbp svg.plot').focus({preventScroll: true})")
    browser.key("Escape")
    browser.until(f"{BAR}.hidden")
    assert not steps(started.page)


def test_a_right_click_on_a_loop_says_what_may_be_done_legal_first(started):
    browser = started.browser
    at = started.spot(ROW.format("'d'"))
    browser.do(lambda: browser.page.mouse.click(*at, button="right"))
    browser.until(READY)
    legal = attributes(browser, ".wbp .may", "data-legal")
    assert {*legal} == {"true", "false"}
    assert legal == sorted(legal, reverse=True)
    menu, panel = browser.box(".wbp .loop-menu"), browser.box(".wbp")
    for corner, extent in (("x", "width"), ("y", "height")):
        assert panel[corner] <= menu[corner]
        assert menu[corner] + menu[extent] <= panel[corner] + panel[extent]
    started.look("4_menu")
    browser.key("Escape")
    browser.until(f"{MENU}.hidden")


def test_a_first_step_is_built_checked_and_timed(started):
    browser = started.browser
    started.press(".wbp .begin-with")
    browser.until(APPLIED)
    started.press(".wbp .measure-now")
    top = browser.box(".wbp .undo")["y"]
    browser.until(f"{TIME}.includes('NumPy')")
    assert browser.box(".wbp .undo")["y"] == top, "a time moves no button"
    assert "naive" in browser.run(TIME)
    assert started.page.ask("panel.measurements[panel.schedule].outcome") == "measured"
    hardware = texts(browser, ".wbp .history .hardware")[0]
    assert hardware.startswith(("hardware, a call: ", "no hardware counters ("))
    browser.run(shots.LOOKED_AT)
    started.look("5_measured")


def test_assembly_stands_beside_c_in_the_same_colours(started):
    browser = started.browser
    shown(browser, "assembly")
    browser.until(f"document.querySelectorAll('{COLUMN}').length === 2")
    browser.until(f"{TINTS}.length === 2 && {TINTS}.every((lines) => lines.length)")
    assert set.intersection(*map(set, browser.run(TINTS)))
    assert browser.run(MET) == []
    started.look("6_assembly")
    shown(browser, "assembly")
    browser.until(f"document.querySelectorAll('{COLUMN}').length === 1")


def test_one_click_shows_the_gpu_and_a_second_takes_it(started):
    browser = started.browser
    started.press(".wbp .to-gpu")
    browser.until("document.querySelector('.wbp.previewing .code .apply')")
    assert not steps(started.page), "nothing is done yet"
    started.press(".wbp .code .apply")
    browser.until("document.querySelector('.wbp .badge.block')")
    browser.until(f"{PRESSED} === 'CUDA'")
    browser.until("document.querySelector('.wbp .code').textContent.includes('__global__')")
    assert texts(browser, ".wbp .fold")[0].endswith("lines before the function")
    assert browser.run(WHOLE % ("[data-slot=tree]", ".badge.block"))
    assert started.page.ask("bool(panel.schedule.verdict)")
    browser.run(shots.LOOKED_AT)
    started.look("7_gpu")


def test_the_dataflow_leads_into_a_nest(started):
    browser = started.browser
    started.press(".wbp [data-pane=dataflow]")
    browser.until(f"document.querySelector({json.dumps(FLOW)})")
    browser.until(WHOLE % (".panes", "[data-slot=dataflow]"))
    started.press(f"{FLOW}[data-id='best']")
    started.page.becomes("panel.selection.get('statement') == 'best'")
    assert "reads" in texts(browser, ".wbp .flow .detail")[0]
    assert browser.run(UNSEEN % [".head", ".foot"]) == []
    started.look("8_dataflow")
    started.press(".wbp [data-pane=dataflow]")
    browser.until(f"{SLOTS}.split(',').length === 5")


def test_a_talk_has_two_panes_in_large_type_and_the_whole_screen(started):
    browser = started.browser
    small = browser.run(LINE)
    started.press(".wbp .talk-layout")
    browser.until(f"{SLOTS} === 'domain,code' && {LINE} > 1.2 * {small}")
    browser.until(f"{UNSEEN % ['.head', '[data-slot=domain]', '[data-slot=code]']}.length === 0")
    started.look("9_talk")
    started.press(".wbp .full-screen")
    browser.until("document.fullscreenElement && document.querySelector('.wbp').offsetHeight >= innerHeight - 2")
    started.press(".wbp .full-screen")
    browser.until("!document.fullscreenElement")
    started.press(".wbp .talk-layout")
    browser.until(f"{SLOTS}.split(',').length === 5")


def test_the_notebook_keeps_a_picture_of_the_last_state_and_a_link_restores_it(started):
    browser = started.browser
    before = browser.run(f"{STORED}['image/png']")
    started.page.ask("panel.apply(wb.tile(n=4, d=4))")
    browser.until(f"{STORED}['text/plain'].includes('d_o')")
    now = browser.run(f"{STORED}['image/png']")
    assert now != before
    with Image.open(io.BytesIO(base64.b64decode(now))) as picture:
        picture.save(OUT / f"walk_{started.name}_stored.png")
        assert picture.width > 400
    origin = browser.run("location.origin")
    browser.do(lambda: browser.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin))
    started.press(".wbp .link-state")
    browser.until("document.querySelector('.wbp .status').textContent.includes('clipboard')")
    link = browser.run("navigator.clipboard.readText()")
    assert started.page.ask(f"wb.panel({json.dumps(link)}).schedule == panel.schedule")


def test_nothing_was_thrown_on_the_way(walk):
    ours = [line for line in walk.browser.console if "panel" in line or "wbp" in line or line.startswith("thrown")]
    assert [line for line in ours if LATE not in line] == []
