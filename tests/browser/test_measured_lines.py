"""Lines with a time: time and both factors are read in every width, and beside them what was expected of the step."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.chromium import SHIFT
from tests.browser.hands import texts
from tests.browser.test_one_screen import SIZES

# A sum over a window, which no library has.
WINDOW = wb.operator("""
def window_of_neighbours(float(T,D) Q, float(T+7,D) K) -> (S) {
    S(t,w) +=! Q(t,d) * K(t+w,d) where w in 0:8
}
""")
HEAD, LINES = ".wbp .head .time", ".wbp .history li"
READY = "document.querySelector('.wbp .head .time').textContent.includes('NumPy')"
BUSY = "document.querySelector('.wbp .measure-now').textContent.includes('stop')"
# What is seen of an element: its text without what is not displayed.
READ = "document.querySelectorAll('%s')[%d].innerText.replace(/\\s+/g, ' ')"
# Elements of a selector that stand out of a box, to the left or to the right.
OUT = """(() => { const edge = document.querySelector('%s').getBoundingClientRect();
    return [...document.querySelectorAll('%s')].map((e) => e.getBoundingClientRect())
        .filter((b) => b.left < edge.left - 1 || b.right > edge.right + 1).length })()"""


def faster(times, threads=2):
    """So many times, give or take a tenth."""
    return {"times": times, "lower": 0.9 * times, "upper": 1.1 * times, "threads": threads}


def timing(threads, naive, numpy):
    """What was measured, with all that one may say of it."""
    words = f"results checked, 12.3 ms a call on {threads} threads, 1234 (1111 to 1357) times as fast as the naive one"
    return {
        "outcome": "measured", "seconds": 0.0123, "lower": 0.0121, "upper": 0.0129, "threads": threads, "naive": naive,
        "numpy": numpy, "words": words, "hardware": "",
    }  # fmt: skip


LONG = timing(16, faster(1234.0, 1), faster(0.0614, 16))
GAINED = {"expected": 3.14, "unmodelled": "", "measured": faster(2.42), "since": "naive"}
STEPS = ("interchange('S/w', 'S/t')", "split('S/d', 8)", "vectorize('S/t')")


@pytest.fixture(autouse=True)
def usual_size(browser):
    yield
    browser.size(1500, 1100)


def told(browser, size, gained=GAINED):
    """A panel after three steps of which all were measured, with the longest words."""
    browser.size(*size)
    bench = Bench(browser, wb.panel(wb.schedule(WINDOW, T=64, D=32)))
    for number, step in enumerate(STEPS, 1):
        bench.ask(f"panel.apply(wb.{step})")
        browser.until(f"document.querySelector('.wbp').dataset.place === '{number}'")
    came = [LONG] * (len(STEPS) + 1)
    bench.panel.measured = {
        "about": "window", "doing": "", "busy": [], "said": "", "naive": LONG, "numpy": LONG, "moments": came,
        "gained": [None, *[gained] * len(STEPS)],
    }  # fmt: skip
    bench.pump()
    browser.until(f"document.querySelectorAll('{LINES} .time b').length === {len(came)}")
    return bench


@pytest.mark.parametrize("size", [*SIZES.values(), (1040, 731), (760, 700)])
def test_time_and_both_factors_are_read_in_every_width(size, browser, keep_window):
    told(browser, size)
    browser.run(f"document.querySelector('{LINES}').scrollIntoView({{block: 'center'}})")
    for nth in range(len(STEPS) + 1):
        line = browser.run(READ % (LINES, nth))
        assert all(part in line for part in ("12.3 ms", "1234× naive", "0.061× NumPy")), line
    assert browser.run(OUT % (".wbp .history", f"{LINES} :is(.time, .factor, .gained)")) == 0
    assert browser.run("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.wbp .history'))")
    if size[0] < 1000:
        return
    head = browser.run(READ % (HEAD, 0))
    assert all(part in head for part in ("12.3 ms", "1234× naive", "0.061× NumPy")), head
    assert browser.run(f"(e => e.scrollWidth <= e.clientWidth + 1)(document.querySelector('{HEAD}'))"), "it is not cut"
    keep_window(f"measured_lines_{size[0]}")


def test_what_a_narrow_line_leaves_out_is_read_by_mouse_and_by_keyboard(browser):
    told(browser, SIZES["1280 x 800"])
    assert "thread" not in browser.run(READ % (LINES, 1))
    moment = f"document.querySelectorAll('{LINES} .moment')[1]"
    assert "12.3 ms a call on 16 threads" in browser.run(f"{moment}.title")
    assert "12.3 ms a call on 16 threads" in browser.run(f"document.querySelectorAll('{LINES} .time')[1].title")
    browser.run(f"{moment}.focus()")
    browser.key("Tab")
    browser.key("Tab", SHIFT)
    line = browser.run(READ % (LINES, 1))
    assert "12.3 ms on 16 threads" in line
    assert "1234× naive on 1 thread (1111 to 1357)" in line
    assert "expected 3.1×, measured 2.4× (2.18 to 2.66) since naive" in line
    assert browser.run(OUT % (".wbp .history", f"{LINES} :is(.time, .factor, .gained)")) == 0
    assert "thread" not in browser.run(READ % (LINES, 2)), "the other lines are as short as before"


def test_all_of_the_time_in_the_head_is_read_by_mouse_and_by_keyboard(browser):
    told(browser, (1040, 731))
    assert "(" not in browser.run(READ % (HEAD, 0)), "there is no room for spreads"
    assert "12.3 ms a call on 16 threads" in browser.run(f"document.querySelector('{HEAD}').title")
    full = "document.querySelector('.wbp .head .full').innerText"
    below = browser.box(".wbp .panes")
    assert browser.run("document.querySelector('.wbp .head .full').offsetHeight") == 0
    browser.run(f"document.querySelector('{HEAD}').focus()")
    browser.key("Shift")
    browser.until("document.querySelector('.wbp .head .full').offsetHeight > 0")
    assert "12.3 ms a call on 16 threads" in browser.run(full)
    assert browser.box(".wbp .panes") == below, "it moves nothing"
    browser.size(1500, 800)
    browser.until(f"{READ % (HEAD, 0)}.includes('(1111 to 1357)')")
    assert browser.run(f"document.querySelector('{HEAD}').tabIndex") == -1, "nothing is left out"


@pytest.mark.parametrize("size", SIZES.values())
def test_a_proposed_step_says_what_was_expected_beside_what_was_measured(size, browser, keep_window):
    browser.size(*size)
    bench = Bench(browser, wb.panel(wb.schedule(WINDOW, T=256, D=64)))
    browser.until("document.querySelector('.wbp .begin-with')")
    expected = texts(browser, ".wbp .begin .gain")[0]
    browser.click(".wbp .begin-with")
    browser.until("document.querySelector('.wbp').dataset.place === '1'")
    assert not texts(browser, ".wbp .gained"), "nothing is measured yet"
    browser.click(".wbp .measure-now")
    browser.until(f"{READY} && !({BUSY})", 90)
    gained = bench.ask("panel.measured['gained'][1]")
    assert f"{gained['expected']:.2g}×" == expected
    for shown in (texts(browser, ".wbp .last-step .gained")[0].strip(), texts(browser, f"{LINES} .gained")[0]):
        assert shown.startswith(f"expected {expected}, measured ")
    browser.run("document.querySelector('.wbp .history').scrollTop = 0")
    first = browser.box(".wbp .last-step .gained")
    pane = browser.box(".wbp .history")
    assert first["y"] + first["height"] <= pane["y"] + pane["height"], "it is seen at once"
    keep_window(f"expected_{size[0]}")


def test_where_the_model_or_the_clock_has_nothing_the_line_says_so(browser):
    why = "gains on a GPU are not modelled"
    told(browser, SIZES["1600 x 1000"], {"expected": None, "unmodelled": why, "measured": None, "since": ""})
    said = f"expected: {why}, the line before is not measured"
    assert texts(browser, f"{LINES} .gained") == [said] * len(STEPS)
    assert texts(browser, ".wbp .last-step .gained")[0].strip() == said
