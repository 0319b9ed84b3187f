"""axe-core looks at the panel in every state it can be in, in both themes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.browser.bench import Bench
from tests.browser.hands import choose, fresh, some_offer
from tests.viz.panels.values import SCHEDULES
from workbench.viz.panels.measuring.measured import Measured, timing_payload

pytestmark = pytest.mark.slow

SERIOUS = """axe.run('.wbp', {resultTypes: ['violations']}).then((found) => found.violations
    .filter((v) => ['serious', 'critical'].includes(v.impact))
    .map((v) => v.id + ': ' + v.nodes.slice(0, 4).map((n) => n.html.slice(0, 160)).join(' | ')))"""
MORE = ("operator", "dataflow", "footprint", "cache", "roofline", "warps", "export")


@pytest.fixture(scope="module")
def page(opened) -> Bench:
    return checked(opened("matmul"))


def checked(made: Bench) -> Bench:
    """A page with axe-core in it."""
    found = find_spec("axe_core_python")
    if found is None or not found.submodule_search_locations:
        pytest.skip("install axe-core-python: the accessibility checker that is run in the page")
    made.browser.run((Path(found.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8") + "; 0")
    return made


@pytest.fixture(params=["light", "dark"])
def theme(request, page, browser):
    browser.run(f"document.body.dataset.jpThemeLight = '{str(request.param == 'light').lower()}'")
    browser.run(f"document.body.style.background = '{'#fff' if request.param == 'light' else '#111'}'")
    yield request.param
    browser.run("document.body.dataset.jpThemeLight = 'true', document.body.style.background = ''")


def test_nothing_serious_is_found_in_a_refusal_and_a_selection(page, theme, browser):
    fresh(page)
    choose(browser, some_offer(browser, "parallelize", legal=False))
    browser.until("!document.querySelector('.wbp .refusal').hidden")
    browser.click(".wbp .plot [data-point]", 3)
    browser.until("document.querySelector('.wbp .cells b')")
    assert browser.run(SERIOUS) == []
    page.ask("setattr(panel, 'refusal', {})")


def test_nothing_serious_is_found_in_the_other_panes(page, theme, browser):
    fresh(page)
    before = page.ask("list(panel.panes)")
    page.ask(f"setattr(panel, 'panes', [*panel.panes, *{MORE!r}])")
    browser.until("document.querySelectorAll('.wbp .pane').length === 12")
    browser.until("!document.querySelector('.wbp').textContent.includes('counting …')")
    browser.run("document.querySelector('.wbp .export [data-way=c]').click()")
    browser.until("document.querySelector('.wbp .export .files')")
    browser.run("document.querySelector('.wbp .export .files button').click()")
    browser.until("document.querySelector('.wbp .export .text .cm-line')")
    assert browser.run(SERIOUS) == []
    page.ask(f"setattr(panel, 'panes', {before!r})")
    browser.until("document.querySelectorAll('.wbp .pane').length === 5")


def shown_alone(page, browser):
    browser.click("[aria-label='enlarge code']")
    browser.until("document.querySelector('.wbp .panes.one')")


def in_a_talk(page, browser):
    page.ask("setattr(panel, 'arrangement', {'talk': True})")
    browser.until("document.querySelector('.wbp.talk')")


def on_the_whole_screen(page, browser):
    browser.click(".wbp .full-screen")
    browser.until("document.fullscreenElement")


def with_a_menu(page, browser):
    browser.run("document.querySelector('.wbp [role=treeitem]').focus()")
    browser.key(".")
    browser.until("document.querySelector('.wbp .loop-menu .note').textContent.includes('modelled')")


def with_a_map(page, browser):
    browser.click(".wbp .to-map")
    browser.until("document.querySelector('.wbp .map:not([hidden]) .spot[data-legal]')")


def with_a_preview(page, browser):
    browser.run("document.querySelector('.wbp .offers details').open = true")
    browser.run("document.querySelector('.wbp .offer .preview').click()")
    browser.until("document.querySelector('.wbp.previewing .changes')")


def against_what_is_pinned(page, browser):
    browser.click(".wbp .pin")
    browser.until("document.querySelector('.wbp .pin').getAttribute('aria-pressed') === 'true'")
    page.ask("panel.apply(wb.tile(m=4, n=4))")
    browser.until("document.querySelector('.wbp .against')")
    browser.click(".wbp .against")
    browser.until("document.querySelector('.wbp .changes .cm-deletedChunk')")


def on_a_gpu(page, browser):
    page.ask("panel.apply(wb.bind('m', 'block.x'))")
    browser.until("document.querySelector('.wbp .badge.block')")
    browser.until("document.querySelector('.wbp .code .listing, .wbp .code .instead')")


def measured(page, browser):
    naive, numpy = Measured("measured", 2e-3, threads=1), Measured("measured", 5e-4, threads=1)
    came = timing_payload(Measured("measured", 1e-3, 9e-4, 2e-3, "", naive, numpy, "no counters", threads=2))
    found = {"about": "M = 96", "doing": "", "busy": [], "moments": [came], "naive": came, "numpy": came, "said": ""}
    page.panel.measured = {**page.panel.measured, **found}
    page.ask("None")
    browser.until("document.querySelector('.wbp .history li .time b')")


LAYOUTS = {
    "a pane alone": shown_alone, "a talk": in_a_talk, "the whole screen": on_the_whole_screen, "a menu": with_a_menu,
    "a map": with_a_map, "a preview": with_a_preview, "pinned": against_what_is_pinned, "a GPU": on_a_gpu,
    "measured": measured,
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_nothing_serious_is_found_in_any_layout(name, opened, browser):
    browser.size(1480, 800)
    made = checked(opened("matmul"))
    LAYOUTS[name](made, browser)
    for light in (True, False):
        browser.run(f"document.body.dataset.jpThemeLight = '{str(light).lower()}'")
        browser.run(f"document.body.style.background = '{'#fff' if light else '#111'}'")
        assert browser.run(SERIOUS) == []
    browser.run("document.body.dataset.jpThemeLight = 'true', document.body.style.background = ''")
    browser.run("document.fullscreenElement ? document.exitFullscreen().then(() => 0) : 0")
    browser.size(1500, 1100)


@pytest.mark.parametrize("name", SCHEDULES)
def test_nothing_serious_is_found_as_it_opens(name, opened, browser):
    checked(opened(name))
    for light in (True, False):
        browser.run(f"document.body.dataset.jpThemeLight = '{str(light).lower()}'")
        browser.run(f"document.body.style.background = '{'#fff' if light else '#111'}'")
        assert browser.run(SERIOUS) == []
    browser.run("document.body.dataset.jpThemeLight = 'true', document.body.style.background = ''")
