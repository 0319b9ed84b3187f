"""Cells that begin with %%operator: errors at their token while one types, colours, completion of names."""

from __future__ import annotations

import json
import re

import pytest

import workbench as wb
from tests.browser.chromium import CONTROL, Browser
from tests.browser.hands import attributes, texts
from tests.browser.lab import Page
from tests.viz.panels.values import SCHEDULES, schedule
from workbench.errors import OperatorError

pytestmark = pytest.mark.slow

FINE = "%%operator\ndef f(float(Rows,Cols) Alpha) -> (Beta) {\n    Beta(i) +=! Alpha(i,j)\n}"
EDITOR = ".jp-CodeCell .jp-InputArea-editor .cm-content"
RANGE = ".jp-CodeCell .wb-error"
UNDERLINED = f"document.querySelector('{RANGE}')"
# Milliseconds from the last key (the last change of the text) to the underline.
TYPED = """(window.typed = new Promise((done) => {
    let last = 0;
    const content = document.querySelectorAll(%s)[%d], look = () => {
        if (document.querySelector('%s') && last) return done(performance.now() - last);
        setTimeout(look, 4);
    };
    content.addEventListener('input', () => { last = performance.now() });
    look() }), 0)"""


def broken(name: str) -> str:
    """The text of an operator with a name on the right-hand side that does not exist."""
    text = schedule(name).program.original.operator
    begin = text.index("=", text.index("{"))
    wrong = text[:begin] + re.sub(r"[A-Za-z_]\w*(?=\()", "Unknown", text[begin:], count=1)
    assert wrong != text
    return wrong


def named(text: str) -> tuple[str, str]:
    """The token below which the error's own text has its caret, and its words."""
    with pytest.raises(OperatorError) as error:
        wb.operators(text)
    lines = str(error.value).splitlines()
    caret = next(i for i, line in enumerate(lines) if re.fullmatch(r"\s*\|\s*\^~*", line))
    begin, end = lines[caret].index("^"), len(lines[caret])
    return lines[caret - 1][begin:end], lines[0].partition(": ")[2]


@pytest.fixture(scope="module")
def page(lab, browser) -> Page:
    return lab.open(browser, "operators", "import workbench as wb", FINE, "import time")


@pytest.fixture(scope="module")
def ready(page) -> Page:
    """The page, its kernel with workbench."""
    page.execute(0)
    return page


def enter(browser: Browser, cell: int = 1) -> None:
    """Go to a cell, and choose all of its text; a click alone leaves the focus where a busy page had it."""
    browser.click(EDITOR, cell)
    browser.run(f"document.querySelectorAll('{EDITOR}')[{cell}].focus()")
    browser.key("a", CONTROL)


def write(browser: Browser, text: str, cell: int = 1) -> None:
    """Replace a cell's text with the keyboard."""
    enter(browser, cell)
    browser.type(text)


def clean(browser: Browser) -> None:
    """Write what is right, until nothing is underlined."""
    write(browser, FINE)
    browser.until(f"!{UNDERLINED}")


def test_nothing_is_asked_of_a_kernel_without_workbench_until_it_has_it(page, browser):
    wrong = FINE.replace("Alpha(", "Alpa(")
    write(browser, wrong)
    browser.run("new Promise((done) => setTimeout(done, 400)).then(() => 0)")
    assert not browser.run(f"Boolean({UNDERLINED})")
    assert page.ask("'workbench' in __import__('sys').modules") is False
    page.execute(0)
    browser.until(f"{UNDERLINED} && {UNDERLINED}.textContent === 'Alpa'")
    clean(browser)


@pytest.mark.parametrize("name", SCHEDULES)
def test_an_error_is_underlined_at_the_token_of_its_caret_while_one_types(name, ready, browser, measured, keep_window):
    text = broken(name)
    token, words = named(text)
    clean(browser)
    enter(browser)
    browser.run(TYPED % (json.dumps(EDITOR), 1, RANGE))
    for part in ("%%operator\n", text[: len(text) // 2], text[len(text) // 2 :]):
        browser.type(part)
    measured[f"{name}: from the last key to the underlined token in a cell, ms"] = round(browser.run("window.typed"))
    assert texts(browser, RANGE) == [token]
    browser.point_at(RANGE)
    browser.until("document.querySelector('.wb-error-words')")
    assert words in texts(browser, ".wb-error-words")[0]
    keep_window(f"cell_{name}")
    clean(browser)


def test_several_errors_and_unfinished_text(ready, browser):
    write(browser, "%%operator\ndef f(float(N) x) -> (y, z) { y(i) = a(i)  z(i) = b(i) }")
    browser.until(f"document.querySelectorAll('{RANGE}').length")
    found = texts(browser, RANGE)
    assert found == [token for token in ("a", "b") if token in found]
    write(browser, "%%operator\ndef f(float(N) x) -> (y) { y(i) = ")
    browser.until(f"{UNDERLINED} && {UNDERLINED}.textContent !== {json.dumps(found[0])}")
    write(browser, "%%operator\n")
    browser.until(f"!{UNDERLINED}")
    write(browser, "a = Alpa(")  # no cell of ours any more
    browser.run("new Promise((done) => setTimeout(done, 400)).then(() => 0)")
    assert not browser.run(f"Boolean({UNDERLINED})")
    clean(browser)


def test_errors_are_underlined_while_a_cell_runs(ready, browser, lab, measured):
    ready.browser.run(
        "window.notebook.content.widgets[2].model.sharedModel.setSource("
        "\"import os, time\\nwhile not os.path.exists('end_typing'): time.sleep(0.05)\")"
    )
    ready.execute(2, wait=False)
    runs = "document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')[2].textContent.includes('*')"
    try:
        browser.until(runs)
        enter(browser)
        browser.run(TYPED % (json.dumps(EDITOR), 1, RANGE))
        browser.type(FINE.replace("Alpha(", "Alpa("))
        waited = browser.run("window.typed")
        measured["from the last key to the underlined token while a cell runs, ms"] = round(waited)
        assert texts(browser, RANGE) == ["Alpa"]
        assert browser.run(runs)
        assert browser.run("window.notebook.content.widgets[2].model.executionCount") is None
    finally:
        (lab.folder / "end_typing").touch()
    browser.until(f"!({runs})")
    clean(browser)


def test_a_restarted_kernel_is_asked_again(ready, browser):
    ready.restart()
    ready.execute(0)
    write(browser, FINE.replace("Alpha(", "Alpa("))
    browser.until(f"{UNDERLINED} && {UNDERLINED}.textContent === 'Alpa'")
    clean(browser)


def test_names_and_sizes_are_completed_and_words_highlighted(ready, browser):
    for begun, whole in (("Beta(i) = Alpha(i, Ro", "Rows"), ("Beta(i) = Al", "Alpha"), ("Beta(i) = sq", "sqrt")):
        write(browser, FINE.partition("    Beta")[0] + "    " + begun)
        browser.key("Tab")
        listed = "[...document.querySelectorAll('.jp-Completer-item')].some((e) => e.textContent.includes(%s))"
        taken = "window.notebook.content.widgets[1].model.sharedModel.getSource().endsWith(%s)"
        browser.until(f"{listed % json.dumps(whole)} || {taken % json.dumps(whole)}")
        browser.key("Escape")
    clean(browser)
    words = browser.run(f"[...document.querySelectorAll('{EDITOR}')][1].querySelectorAll('span[class]').length")
    assert words > 4
    assert attributes(browser, f"{EDITOR}", "data-language")[1] == "operator"
