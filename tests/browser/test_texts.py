"""Columns of the code: compiler, flags and machine of each; a line and what was made from it; kept panels."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import texts

WINDOW = wb.operator("""
def window(float(T,D) Q, float(T+7,D) K) -> (S) {
    S(t,w) +=! Q(t,d) * K(t+w,d) where w in 0:8
}
""")
COLUMN = ".wbp .code .column"
WAITS = "document.querySelector('.wbp .code').textContent.includes('asking for it')"


@pytest.fixture
def bench(browser):
    made = wb.schedule(WINDOW, T=64, D=32) | wb.vectorize("d")
    return Bench(browser, wb.panel(made, panes=("code", "history")), whole=False)


def shown(browser, name: str) -> None:
    """Switch a language on or off and wait for its text."""
    browser.run(f"[...document.querySelectorAll('.wbp .language')].find((b) => b.textContent === '{name}').click()")
    browser.until(f"!{WAITS}")


def set_in(browser, column: int, choice: str, value: str) -> None:
    """Choose a compiler or a machine, or type flags, above a column."""
    browser.until(f"document.querySelectorAll('{COLUMN}')[{column}].querySelector('[data-choice={choice}]')")
    browser.run(
        f"(() => {{ const e = document.querySelectorAll('{COLUMN}')[{column}].querySelector('[data-choice={choice}]');"
        f" e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change')) }})()"
    )


def test_one_language_stands_there_twice_with_flags_of_its_own(bench, browser, keep):
    shown(browser, "assembly")
    browser.click(f"{COLUMN}:nth-child(2) .double")
    browser.until(f"document.querySelectorAll('{COLUMN}').length === 3")
    set_in(browser, 2, "flags", "-O0")
    browser.until(f"document.querySelectorAll('{COLUMN}')[2].textContent.includes('-O0') && !{WAITS}")
    assert bench.ask("all(v['lines'] != panel.views['assembly']['lines'] for v in panel.views['texts'].values())")
    keep("texts")
    browser.click(f"{COLUMN}:nth-child(3) .without")
    browser.until(f"document.querySelectorAll('{COLUMN}').length === 2")


def test_a_flag_that_is_not_taken_is_said(bench, browser):
    shown(browser, "assembly")
    set_in(browser, 1, "flags", "-fplugin=./x.so")
    browser.until("document.querySelector('.wbp .status').textContent.includes('is not taken here')")


def test_c_is_written_for_the_machine_of_its_column(bench, browser):
    browser.until("document.querySelector('.wbp [data-choice=target] option[value=neon]')")
    set_in(browser, 0, "target", "neon")
    bench.becomes("panel.views.get('texts')")
    (code,) = bench.panel.views["texts"].values()
    assert "vector_size(16)" in "".join(run[0] for line in code["lines"] for run in line["runs"])
    browser.until(f"!{WAITS} && document.querySelector('.wbp .code .cm-editor')")


def test_a_line_and_what_was_made_from_it_have_one_colour(bench, browser):
    shown(browser, "assembly")
    browser.until("document.querySelector('.wbp .code .line.tint')")
    pairs = browser.run(
        f"""(() => {{ const tint = (e) => [...e.classList].find((c) => /^t\\d$/.test(c));
        const [c, a] = document.querySelectorAll('{COLUMN}');
        const of = Object.fromEntries([...c.querySelectorAll('.line.tint')].map((e) => [e.dataset.line, tint(e)]));
        const made = window.state.views.assembly.lines;
        return [...a.querySelectorAll('.line.tint')].map((e) => [tint(e), of[made[e.dataset.line - 1].of]]) }})()"""
    )
    assert len(pairs) > 3
    assert all(a == b for a, b in pairs if b)
    browser.click(".wbp .in-colour")
    browser.until("!document.querySelector('.wbp .code .line.tint')")


def test_long_lines_go_on_below_or_do_not(bench, browser):
    browser.size(1100, 800)
    tall = "Math.max(...[...document.querySelectorAll('.wbp .code .line')].map((e) => e.offsetHeight))"
    one = browser.run("Math.min(...[...document.querySelectorAll('.wbp .code .line')].map((e) => e.offsetHeight))")
    browser.until(f"{tall} > {1.5 * one}")
    browser.click(".wbp .wrap")
    browser.until(f"{tall} <= {1.2 * one}")
    browser.size(1500, 1100)


def test_llvm_mca_says_what_an_iteration_takes(bench, browser):
    shown(browser, "llvm-mca")
    browser.until(f"!{WAITS}")
    text = texts(browser, COLUMN)[-1]
    assert "cycles an iteration" in text or "llvm-mca" in text


def test_a_panel_that_was_saved_is_opened_again(bench, browser, tmp_path):
    bench.ask("panel.apply(wb.interchange('S/w', 'S/t'))")
    kept = bench.panel.save(tmp_path / "window.panel.json")
    bench.ask("panel.undo()")
    browser.until("document.querySelector('.wbp .undo').disabled")
    browser.do(lambda: browser.page.locator(".wbp .keeping input").set_input_files(kept))
    bench.becomes("[s.name for s in panel.schedule.trace] == ['vectorize', 'interchange']")
    assert bench.ask("panel.past['undo']")
