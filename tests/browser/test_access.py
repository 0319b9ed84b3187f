"""axe-core looks at the panel in every state it can be in, in both themes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.browser.bench import Bench
from tests.browser.hands import choose, fresh, some_offer
from tests.viz.panels.values import SCHEDULES

pytestmark = pytest.mark.slow

SERIOUS = """axe.run('.wbp', {resultTypes: ['violations']}).then((found) => found.violations
    .filter((v) => ['serious', 'critical'].includes(v.impact))
    .map((v) => v.id + ': ' + v.nodes.slice(0, 4).map((n) => n.html.slice(0, 160)).join(' | ')))"""
MORE = ("operator", "footprint", "cache", "roofline", "warps", "export")


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
    browser.until("document.querySelectorAll('.wbp .pane').length === 11")
    browser.until("!document.querySelector('.wbp').textContent.includes('counting …')")
    browser.run("document.querySelector('.wbp .export [data-way=c]').click()")
    browser.until("document.querySelector('.wbp .export .files')")
    browser.run("document.querySelector('.wbp .export .files button').click()")
    browser.until("document.querySelector('.wbp .export .text .cm-line')")
    assert browser.run(SERIOUS) == []
    page.ask(f"setattr(panel, 'panes', {before!r})")
    browser.until("document.querySelectorAll('.wbp .pane').length === 5")


@pytest.mark.parametrize("name", SCHEDULES)
def test_nothing_serious_is_found_as_it_opens(name, opened, browser):
    checked(opened(name))
    for light in (True, False):
        browser.run(f"document.body.dataset.jpThemeLight = '{str(light).lower()}'")
        browser.run(f"document.body.style.background = '{'#fff' if light else '#111'}'")
        assert browser.run(SERIOUS) == []
    browser.run("document.body.dataset.jpThemeLight = 'true', document.body.style.background = ''")
