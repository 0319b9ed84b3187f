"""A menu on every loop and statement: by right click, by key, by button; drags between rows; where to begin."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import attributes, steps, texts

# A sum over a window, which no library has.
WINDOW = wb.operator("""
def window(float(T,D) Q, float(T+7,D) K) -> (S) {
    S(t,w) +=! Q(t,d) * K(t+w,d) where w in 0:8
}
""")
MENU = "document.querySelector('.wbp .loop-menu')"
READY = f"!{MENU}.hidden && {MENU}.querySelector('.note').textContent.includes('modelled')"
ROW = "[...document.querySelectorAll('.wbp .tree .node')].find((e) => e.dataset.name === {0}).querySelector('.row')"
SOON = "document.querySelector('.wbp .tree .row') && document.querySelector('.wbp .offers details')"


@pytest.fixture
def bench(browser):
    made = Bench(browser, wb.panel(wb.schedule(WINDOW, T=512, D=64)))
    browser.until(SOON)
    return made


def right_click(browser, element: str) -> None:
    """Right click in the middle of what an expression finds."""
    x, y = browser.run(
        f"(() => {{ const b = ({element}).getBoundingClientRect(); return [b.x + 30, b.y + b.height / 2] }})()"
    )
    browser.do(lambda: browser.page.mouse.click(x, y, button="right"))


def chosen(browser, text: str) -> None:
    """Take a line of the menu."""
    browser.run(f"[...{MENU}.querySelectorAll('.may')].find((e) => e.dataset.text === {json.dumps(text)}).click()")


def test_a_right_click_on_a_loop_offers_what_is_legal_first_with_what_it_gains(bench, browser, keep_window):
    right_click(browser, ROW.format("'d'"))
    browser.until(READY)
    legal = attributes(browser, ".wbp .may", "data-legal")
    assert legal == sorted(legal, reverse=True)
    assert "true" in legal
    assert "false" in legal
    first = texts(browser, ".wbp .may")[0]
    assert first.startswith("vectorize('d')")
    assert "×" in first
    assert "lanes" in first
    assert any("parallelize('d')" in text and "→" in text for text in texts(browser, ".wbp .may.illegal"))
    keep_window("menu_light")
    browser.run("document.body.dataset.jpThemeLight = 'false'")
    keep_window("menu_dark")
    browser.run("document.body.dataset.jpThemeLight = 'true'")
    chosen(browser, "vectorize('d')")
    bench.becomes("[str(s) for s in panel.schedule.trace] == [\"vectorize('d')\"]")
    assert browser.run(f"{MENU}.hidden")


def test_an_illegal_line_of_the_menu_shows_its_witness(bench, browser):
    right_click(browser, ROW.format("'d'"))
    browser.until(READY)
    chosen(browser, "parallelize('d')")
    browser.until("!document.querySelector('.wbp .refusal').hidden")
    assert steps(bench) == []


def test_the_menu_by_keys_alone(bench, browser):
    browser.run("document.querySelector('.wbp [role=treeitem]').focus()")
    browser.key(".")
    browser.until(READY)
    browser.until("document.activeElement.matches('.may')")
    browser.key("ArrowDown")
    taken = browser.run("document.activeElement.dataset.text")
    browser.key("Enter")
    bench.becomes(f"[str(s) for s in panel.schedule.trace][-1:] == [{taken!r}]")
    browser.run("document.querySelector('.wbp [role=treeitem]').focus()")
    browser.key("F10", "Shift+")
    browser.until(f"!{MENU}.hidden")
    browser.key("Escape")
    browser.until(f"{MENU}.hidden")
    assert browser.run("document.activeElement.matches('[role=treeitem]')"), "the keyboard is where it was"


def test_a_statement_and_a_line_of_the_code_have_menus(bench, browser):
    right_click(browser, ROW.format("'S'"))
    browser.until(READY)
    assert "statement S" in texts(browser, ".wbp .loop-menu b")[0]
    browser.key("Escape")
    line = "[...document.querySelectorAll('.wbp .code .line')].find((e) => e.textContent.includes('for (int64_t d'))"
    right_click(browser, line)
    browser.until(READY)
    assert texts(browser, ".wbp .loop-menu b") == ["loop d"]
    browser.key("Escape")


def test_sizes_snap_to_vectors_and_caches_and_others_are_typed(bench, browser):
    right_click(browser, ROW.format("'t'"))
    browser.until(READY)
    why = attributes(browser, ".wbp .snap", "title")
    assert any("vector" in text for text in why)
    assert any("fits L" in text for text in why)
    number = "document.querySelector('.wbp .loop-menu input[data-loop=\"{0}\"]')"
    for loop, size in (("t", 24), ("d", 8)):
        browser.run(
            f"(() => {{ const e = {number.format(loop)}; e.value = {size}; e.dispatchEvent(new Event('input')) }})()"
        )
    browser.until("document.querySelector('.wbp .loop-menu .verdict').textContent !== '…'")
    browser.click(".wbp .tile-typed")
    bench.becomes("[str(s) for s in panel.schedule.trace][-1:] == ['tile(t=24, d=8)']")


ROWS = """Object.fromEntries([...document.querySelectorAll('.wbp .tree .row')].map((e) => {
    const b = e.getBoundingClientRect(); return [e.parentElement.dataset.name, [b.x + 30, b.y, b.height]] }))"""


def dropped(browser, loop: str, on: str, part: float) -> None:
    """Drag a loop of the tree to a part of another one's row: 0 is its upper edge, 1 its lower."""
    rows = browser.run(ROWS)
    (x, y, high), (to, top, tall) = rows[loop], rows[on]
    browser.drag((x, y + high / 2), (to, top + part * tall))


@pytest.fixture
def three(browser):
    """Three loops that may stand in any order."""
    outer = wb.operator("def outer(float(I) a, float(J) b, float(K) c) -> (T) { T(i,j,k) = a(i) * b(j) * c(k) }")
    made = Bench(browser, wb.panel(wb.schedule(outer, I=6, J=5, K=4)))
    browser.until(SOON)
    return made


@pytest.mark.parametrize(
    ("loop", "on", "part", "order"),
    [
        ("k", "i", 0.05, "kij"), ("i", "k", 0.85, "jki"), ("k", "j", 0.05, "ikj"), ("i", "k", 0.5, "kji"),
        ("i", "T", 0.3, "jki"),
    ],
)  # fmt: skip
def test_a_loop_dropped_between_rows_goes_there_and_on_a_row_they_interchange(loop, on, part, order, three, browser):
    assert [*browser.run(ROWS)] == ["i", "j", "k", "T"]
    dropped(browser, loop, on, part)
    browser.until(f"Object.keys({ROWS}).join('') === '{order}T'")
    assert len(steps(three)) == 1


def test_a_loop_that_may_not_go_there_is_refused(browser):
    made = wb.schedule(wb.ops.seidel_2d, N=8, M=8, steps=3)
    page = Bench(browser, wb.panel(made))
    browser.until(SOON)
    dropped(browser, "j", "t", 0.05)
    page.becomes("panel.refusal.get('step')")
    assert steps(page) == []


def test_a_naive_schedule_says_where_to_start(bench, browser):
    browser.until("document.querySelector('.wbp .begin-with')")
    assert "start here" in texts(browser, ".wbp .start")[0]
    first = texts(browser, ".wbp .begin-with")[0]
    browser.click(".wbp .begin-with")
    bench.becomes(f"[str(s) for s in panel.schedule.trace] == [{first!r}]")
    browser.until("document.querySelector('.wbp .start').textContent.includes('most to gain')")
