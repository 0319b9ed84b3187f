"""An operator in a string of Python has the colours of its language in both themes; other strings keep theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.browser.lab import Page
from tests.browser.shots import THEMES

pytestmark = pytest.mark.slow

PYTHON = '''import workbench as wb
note = """not an operator, though def f(x) -> (y) stands in it"""
op = wb.operator("""
def scaled<T: floats>(T(N) x, float a) -> (y) {  # twice
    y(i) = a * 2.5 * x(i)
}""")
short = wb.operator("def copied(double(N) v) -> (w) { w(i) = v(i) }")'''
_LEAVES = """(() => {
    const editor = document.querySelector('.jp-CodeCell .cm-content'), found = [];
    const walker = document.createTreeWalker(editor, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const { textContent, parentElement } = walker.currentNode;
        if (textContent.trim()) found.push([textContent.trim(), getComputedStyle(parentElement).color]);
    }
    return found })()"""


@pytest.fixture(params=THEMES)
def page(lab, browser, request) -> Iterator[Page]:
    opened = lab.open(browser, "embedded", PYTHON)
    opened.command("apputils:change-theme", theme=THEMES[request.param])
    browser.until(f"document.body.dataset.jpThemeLight === '{str(request.param == 'light').lower()}'")
    browser.until("document.querySelector('.wb-text-keyword')")
    yield opened
    opened.command("apputils:change-theme", theme=THEMES["light"])


def colours(page: Page) -> dict[str, set[str]]:
    """Of each piece of text in the cell the colours in which it stands."""
    found: dict[str, set[str]] = {}
    for text, colour in page.browser.run(_LEAVES):
        found.setdefault(text, set()).add(colour)
    return found


def test_an_operator_in_python_has_the_colours_of_its_language(page, browser, keep_window):
    seen = colours(page)
    (string,) = next(found for text, found in seen.items() if "not an operator" in text)
    (keyword,) = seen["import"]
    (comment,) = seen["# twice"]
    assert seen["def"] == {keyword}
    assert len({string, keyword, comment, *seen["2.5"], *seen["x"]}) == 5
    for token in ("scaled", "floats", "x", "float", "double", "a", "y", "w", "copied", "2.5", "->", "="):
        assert string not in seen[token], token
    keep_window("embedded_operators")


def test_the_colours_follow_what_is_typed(page, browser):
    def write(text: str) -> None:
        browser.run(f"window.notebook.content.widgets[0].model.sharedModel.setSource({json.dumps(text)})")

    write(PYTHON.replace("def copied", "deaf copied").replace("def scaled", "deaf scaled"))
    browser.until("!document.querySelector('.wb-text-keyword')")
    assert browser.run("document.querySelectorAll('[class*=wb-text]').length") == 0
    write("x = 1\n" + PYTHON)
    browser.until("document.querySelectorAll('.wb-text-keyword').length === 2")
