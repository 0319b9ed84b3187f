"""Whatever a click does, a key does too: everything that listens is reached by Tab, by arrows, or has another way."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.browser import bench
from tests.browser.bench import Bench
from tests.browser.chromium import SHIFT
from tests.viz.panels.values import schedule

pytestmark = pytest.mark.slow

# What listens to the mouse is marked from the very beginning of a panel.
MARKING = """(() => { const add = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (type, ...rest) {
        if (this instanceof Element && ['click', 'contextmenu', 'dblclick', 'pointerdown', 'dragstart'].includes(type))
            (this.listens ??= new Set()).add(type);
        return add.call(this, type, ...rest) } })()"""
# Elements that one tabs to, and those in which arrows walk.
STOP = (
    ":is(button, input, select, textarea, summary, a[href], [tabindex])"
    ':not([tabindex="-1"], [disabled], [inert] *)'
)
WALKED = "[role=tree], [role=grid], [role=menu], [role=application], .drawing"
# A click in these lights what the keyboard lights elsewhere: loops in the tree, instances in the picture.
ELSEWHERE = {"g.foot": "loops", "g.happening": "instances"}
UNREACHED = f"""[...document.querySelectorAll('.wbp *')]
    .filter((e) => e.listens && !e.disabled && e.getClientRects().length)
    .filter((e) => !e.matches({STOP!r}) && !e.closest({WALKED!r}) && !e.closest('.cm-editor'))
    .filter((e) => !e.querySelector({STOP!r}))
    .map((e) => [`${{e.tagName.toLowerCase()}}.${{[...e.classList].join('.')}}`, [...e.listens].sort().join(' ')])"""
STOPS = f"""[...document.querySelectorAll('.wbp {STOP}')]
    .filter((e) => e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden')
    .filter((e) => !e.closest('details:not([open]) > :not(summary)'))"""
OTHERS = ("operator", "dataflow", "footprint", "cache", "lanes", "roofline", "warps", "export")


@pytest.fixture
def marked(browser, monkeypatch):
    """Every panel from now on marks what listens."""
    monkeypatch.setattr(bench, "_PAGE", bench._PAGE.replace("=> {", f"=> {{ {MARKING};", 1))
    browser.size(1480, 800)
    yield
    browser.size(1500, 1100)


def opened(browser, made, panes=()):
    page = Bench(browser, wb.panel(made))
    if panes:
        page.ask(f"setattr(panel, 'panes', {[*panes]!r})")
        browser.until(f"document.querySelectorAll('.wbp .pane').length === {len(panes)}")
    browser.until("!document.querySelector('.wbp').textContent.includes('counting …')")
    return page


def elsewhere(name: str) -> bool:
    """Whether an element is one of those whose click has another way."""
    return any(f"{name}.".startswith(f"{known}.") for known in ELSEWHERE)


@pytest.mark.parametrize("panes", [(), OTHERS], ids=["first", "others"])
def test_what_listens_to_the_mouse_is_reached_by_keys(panes, marked, browser):
    made = schedule("matmul") | wb.tile(m=6, n=16) | wb.vectorize("n_i") | wb.parallelize("m_o")
    opened(browser, made, panes)
    assert browser.run("[...document.querySelectorAll('.wbp button')].every((e) => e.listens)"), "they are marked"
    found = [(name, types) for name, types in browser.run(UNREACHED) if "click" in types or "pointerdown" in types]
    assert [one for one in found if not elsewhere(one[0])] == []


def test_a_click_that_nothing_else_does_is_found(marked, browser):
    opened(browser, schedule("matmul"))
    browser.run("document.querySelector('.wbp .title').addEventListener('click', () => 0)")
    assert ["b.title", "click"] in browser.run(UNREACHED)


@pytest.mark.parametrize("name", ["matmul", "stencil"])
def test_tab_comes_to_everything_and_leaves_again(name, marked, browser):
    opened(browser, schedule(name))
    browser.until("document.querySelector('.wbp .begin-with')")
    browser.run(f"(window.stops = {STOPS}, window.came = new Set(), document.activeElement.blur(), 0)")
    count = browser.run("window.stops.length")
    assert count > 50
    browser.run("(window.stops[0].focus(), window.came.add(window.stops[0]), 0)")
    for _ in range(count + 20):
        browser.key("Tab")
        inside = browser.run("(window.came.add(document.activeElement), !!document.activeElement.closest('.wbp'))")
        if not inside:
            break
    missed = "window.stops.filter((e) => e.isConnected && !window.came.has(e))"
    assert browser.run(f"{missed}.map((e) => e.outerHTML.slice(0, 120))") == []
    assert not browser.run("!!document.activeElement.closest('.wbp')"), "the keyboard is not held in the panel"
    browser.key("Tab", SHIFT)
