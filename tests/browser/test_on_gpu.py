"""From C to CUDA by one click, and what the code pane does with a schedule that is on a GPU."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import attributes, texts

SCALED = wb.operator("""
def scaled(float(N,M) A, float(M) s) -> (B, T) {
    B(i,j) = A(i,j) * s(j)
    T(i) +=! B(i,j)
}
""")
PRESSED = "[...document.querySelectorAll('.wbp .language[aria-pressed=true]')].map((e) => e.textContent)"
SCROLLER = "document.querySelector('.wbp .code .cm-scroller')"


@pytest.fixture
def bench(browser):
    """A panel of an operator that no library has."""
    made = Bench(browser, wb.panel(wb.schedule(SCALED, N=48, M=40), panes=("code", "tree", "history")), whole=False)
    browser.until("document.querySelector('.wbp .listing')")
    return made


def test_one_click_shows_cuda_and_a_second_takes_it(bench, browser, keep):
    assert browser.run(PRESSED) == ["C"]
    browser.click(".wbp .to-gpu")
    browser.until("document.querySelector('.wbp.previewing .changes')", 60)
    assert "blockIdx.x" in browser.run("document.querySelector('.wbp .code').textContent")
    assert bench.ask("len(panel.schedule.trace)") == 0
    keep("gpu_preview")
    browser.click(".wbp .code .apply")
    bench.becomes("len(panel.schedule.trace) > 1", 60)
    browser.until("document.querySelector('.wbp .listing') && !document.querySelector('.wbp.previewing')")
    browser.until(f"JSON.stringify({PRESSED}) === '[\"CUDA\"]'")
    browser.until("document.querySelector('.wbp .code .listing').textContent.includes('blockIdx.x')")
    assert not texts(browser, ".wbp .to-gpu")
    assert texts(browser, ".wbp .fold")[0].endswith("lines before the function")
    for theme in ("light", "dark"):
        browser.run(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
        keep(f"gpu_{theme}")
    browser.run("document.body.dataset.jpThemeLight = 'true'")
    browser.click(".wbp .undo")
    browser.until(f"JSON.stringify({PRESSED}) === '[\"C\"]'")


def test_a_schedule_on_a_gpu_opens_on_cuda_with_what_stands_before_it_folded(browser):
    mapped = wb.schedule(SCALED, N=48, M=40) | wb.bind("B/i", "block.x") | wb.bind("T/i", "block.x")
    Bench(browser, wb.panel(mapped, panes=("code", "tree")), whole=False)
    browser.until("document.querySelector('.wbp .code .listing')")
    assert browser.run(PRESSED) == ["CUDA"]
    assert "__global__" in texts(browser, ".wbp .code .listing")[0]
    assert texts(browser, ".wbp .fold")[0].endswith("lines before the function")


def test_an_unmapped_loop_is_answered_with_its_bindings(bench, browser, keep):
    browser.click(".wbp .language", 1)
    browser.until("document.querySelectorAll('.wbp .instead .repair').length > 1")
    keep("unbound")
    first = texts(browser, ".wbp .instead .repair")[0]
    browser.click(".wbp .instead .repair")
    assert bench.becomes("[str(s) for s in panel.schedule.trace]") == [first]


def test_a_language_that_somebody_chose_stays(bench, browser):
    browser.click(".wbp .language", 2)
    browser.until("document.querySelectorAll('.wbp .listing').length === 2")
    bench.ask("panel.apply(wb.bind('B/i', 'block.x'))")
    browser.until("document.querySelector('.wbp').dataset.place === '1'")
    assert browser.run(PRESSED) == ["C", "assembly"]


def test_one_reads_on_where_one_was_after_a_step(bench, browser):
    browser.run(f"{SCROLLER}.closest('.pane').style.maxHeight = '220px'")
    browser.until(f"{SCROLLER}.scrollHeight > {SCROLLER}.clientHeight + 60")
    browser.run(f"({SCROLLER}.scrollTop = 55, 0)")
    browser.until(f"{SCROLLER}.scrollTop === 55")
    bench.ask("panel.apply(wb.split('B/j', 8))")
    browser.until("document.querySelector('.wbp .code .listing').textContent.includes('j_o')")
    browser.until(f"{SCROLLER}.scrollTop === 55")


def test_the_buttons_are_named(bench, browser):
    assert "default recipe" in attributes(browser, ".wbp .to-gpu", "title")[0]


APART = """(() => {
    const boxes = [...document.querySelectorAll('.wbp .plot .label')].map((e) => e.getBBox());
    return boxes.every((a, i) => boxes.slice(i + 1).every((b) =>
        a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y + 3 || b.y + b.height <= a.y + 3)) })()"""
BEHIND = "[...document.querySelectorAll('.wbp [data-behind]')].filter((e) => !e.hidden).map((e) => e.dataset.behind)"


def test_blocks_threads_and_tiles_have_a_mark_each_and_the_legend_names_them(browser, keep):
    copied = wb.schedule(wb.operator("def copied(float(M,N) A) -> (B) { B(m,n) = A(m,n) }"), M=8, N=8)
    tiled = copied | wb.tile(m=4, n=4) | wb.tile({"m_i": 2, "n_i": 2})
    mapped = tiled | wb.bind("m_o", "block.y") | wb.bind("n_o", "block.x") | wb.bind("m_i_i", "thread.x")
    made = Bench(browser, wb.panel(mapped, panes=("domain",)), whole=False)
    browser.until("document.querySelector('.wbp .plot .block')")
    count = "document.querySelectorAll(`.wbp .plot .${name}`).length"
    counts = browser.run(f"['block', 'thread', 'tile', 'hatch'].map((name) => {count})")
    assert counts[0] == 4
    assert counts[1] > counts[0]
    assert counts[2] > counts[0]
    assert counts[3] == 1, "of one thread"
    assert browser.run(BEHIND) == ["block", "tile", "thread"]
    assert texts(browser, ".wbp .plot .of-block") == ["block (0,0)", "(1,0)", "(0,1)", "(1,1)"]
    assert texts(browser, ".wbp .plot .of-thread") == ["thread (0)"]
    assert browser.run(APART)
    keep("regions_light")
    made.ask("setattr(panel, 'selection', {'statement': 'B', 'instance': (1, 2)})")
    browser.until("document.querySelector('.wbp .plot .of-thread').textContent === 'thread (1)'")
    browser.run("document.body.dataset.jpThemeLight = 'false'")
    keep("regions_dark")
    browser.run("document.body.dataset.jpThemeLight = 'true'")
    made.ask("setattr(panel, 'schedule', wb.schedule(wb.ops.matmul, M=4, N=4, K=4))")
    browser.until("!document.querySelector('.wbp .plot .block') && !document.querySelector('.wbp .plot .tile')")
    assert not browser.run("document.querySelector('.wbp .legend-behind')")
