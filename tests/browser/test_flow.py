"""The dataflow leads into the nests: by mouse and by keys, in the picture that shows one nest at a time."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import attributes, texts
from tests.browser.test_access import SERIOUS, checked

pytestmark = pytest.mark.slow

PLACES = ".wbp .flow .drawing .place"
CHIPS = ".wbp .domain .chip"


@pytest.fixture
def page(browser):
    cell = wb.schedule(wb.ops.lstm_cell, B=4, I=8, H=8)
    made = Bench(browser, wb.panel(cell, panes=("domain", "code", "tree", "dataflow")), whole=False)
    browser.until(f"document.querySelectorAll('{PLACES}').length > 4 && document.querySelector('{CHIPS}')")
    return made


def test_a_click_on_a_statement_shows_its_nest(page, browser, keep):
    for statement in ("hidden", "Z"):
        browser.click(f"{PLACES}[data-id='{statement}']")
        page.becomes(f"panel.selection.get('statement') == {statement!r}")
        browser.until(f"[...document.querySelectorAll('{CHIPS}')].some((e) => e.dataset.statement === '{statement}')")
        assert statement in attributes(browser, CHIPS, "data-statement")
        assert "reads" in texts(browser, ".wbp .flow .detail")[0]
    keep("flow")


def test_arrows_and_enter_do_the_same(page, browser):
    browser.run(f"document.querySelector('{PLACES}').focus()")
    first = browser.run("document.activeElement.dataset.id")
    browser.key("ArrowDown")
    second = browser.run("document.activeElement.dataset.id")
    assert second != first
    browser.key("Enter")
    page.becomes(f"panel.selection.get('statement') == {second!r}")


def test_after_a_step_it_is_that_of_the_new_schedule(page, browser):
    before = attributes(browser, PLACES, "aria-label")
    page.ask("panel.apply(wb.merge('cell', 'hidden'))")
    browser.until("document.querySelector('.wbp').dataset.place === '1'")
    browser.until(f"document.querySelectorAll('{PLACES}').length === {len(before)}")
    assert attributes(browser, PLACES, "aria-label") != []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_is_found_by_axe(theme, page, browser):
    checked(page)
    browser.run(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
    browser.run(f"document.body.style.background = '{'#fff' if theme == 'light' else '#111'}'")
    assert browser.run(SERIOUS) == []
    browser.run("document.body.dataset.jpThemeLight = 'true', document.body.style.background = ''")
