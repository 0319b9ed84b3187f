"""A talk's code begins with the loops of what its picture shows, and is moved for nobody who is at it."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import texts
from workbench.viz.panels.code.listing import code_payload
from workbench.viz.panels.on_gpu import mapped_to_gpu

# Distances in a band and the nearest of each, which no library has; the last nest is what costs least.
NEAREST = wb.operator("""
def nearest(float(N,D) X, float(N+4,D) Y) -> (Z, best) {
    best(i) = X(i,0)
    Z(n,w) +=! fabs(X(n,d) - Y(n+w,d)) where w in 0:5
}
""")
MADE = wb.schedule(NEAREST, N=4096, D=64)
TEXT = ".wbp .code .cm-scroller"
# The number of the first line that is seen whole, the numbers of all that are, and whether the text is at its end.
SEEN = f"""(() => {{ const box = (e) => e.getBoundingClientRect(), pane = document.querySelector('{TEXT}');
    const seen = [...pane.querySelectorAll('.cm-line')].filter((e) => box(e).top > box(pane).top - 3
        && box(e).bottom < box(pane).bottom + 3).map((e) => Number(e.dataset.line));
    return [seen, pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 3] }})()"""
PLACE = f"document.querySelector('{TEXT}').scrollTop"
WHOLE = "document.querySelector('.wbp .code .cm-line').dataset.line === '1'"
PLUMBING = ("WB_STOPS", "__shared__", "const bool", "(void)", "#include")


@pytest.fixture(autouse=True)
def usual_size(browser):
    yield
    browser.size(1500, 1100)


def talk(browser, made, size=(1480, 800)):
    """A panel in its talk layout."""
    browser.size(*size)
    bench = Bench(browser, wb.panel(made))
    browser.until("document.querySelector('.wbp .code .cm-line')")
    browser.click(".wbp .talk-layout")
    browser.until("document.querySelector('.wbp.talk .code .cm-line')")
    browser.move((3, 3))
    return bench


def pictured(browser):
    """The statements of the pictures, by their names."""
    return [re.findall(r"([\w.]+)\(", text)[0] for text in texts(browser, ".wbp .domain .chip")]


def begins_with(browser, made, language="C"):
    """Wait until the text begins with the outermost loop around what the picture shows."""
    names = {*pictured(browser)}
    lines = code_payload(made, language)["lines"]
    wanted = next(line["number"] for line in lines if names & {*line["statements"]})
    browser.until(f"(([seen, end]) => seen[0] === {wanted} || (end && seen.includes({wanted})))({SEEN})")
    return lines[wanted - 1]


@pytest.mark.parametrize("name", ["in order", "distributed", "in lanes", "on a GPU"])
def test_the_loops_of_the_picture_stand_first(name, browser, keep_window):
    made = {
        "in order": MADE,
        "distributed": MADE | wb.decompose_reduction("Z") | wb.parallelize("Z/n"),
        "in lanes": MADE | wb.vectorize("Z/d"),
        "on a GPU": mapped_to_gpu(wb.schedule(wb.ops.matmul, M=512, N=512, K=512)),
    }[name]
    talk(browser, made)
    line = begins_with(browser, made, "CUDA" if name == "on a GPU" else "C")
    assert line["loop"] or "#pragma" in line["runs"][0][0]
    shown = " ".join(texts(browser, ".wbp .code .cm-line"))
    assert not [word for word in PLUMBING if word in shown]
    keep_window(f"talk_{name.replace(' ', '_')}")
    browser.click(".wbp .code .fold")
    browser.until(WHOLE)


def test_another_picture_brings_its_loops(browser):
    made = MADE | wb.decompose_reduction("Z")
    talk(browser, made, (1160, 500))
    begins_with(browser, made)
    first = browser.run(PLACE)
    for nth in (0, 1):
        browser.click(".wbp .nest-choice", nth)
        browser.until(f"document.querySelectorAll('.wbp .nest-choice')[{nth}].ariaPressed === 'true'")
        begins_with(browser, made)
    assert first > 0


def test_who_is_at_the_text_is_not_moved(browser):
    made = MADE | wb.decompose_reduction("Z")
    talk(browser, made, (1160, 500))
    begins_with(browser, made)
    browser.run(f"({PLACE} = 0)")
    line = browser.middle(".wbp .code .cm-line.ours")
    before = browser.run(PLACE)
    browser.press(line)
    browser.until("document.querySelector('.wbp .code .cm-line.active')")
    browser.until("document.querySelector('.wbp .domain .chip').textContent.includes('best')")
    browser.run("new Promise((done) => setTimeout(done, 300)).then(() => 0)")
    assert abs(browser.run(PLACE) - before) < 2


def test_a_text_that_was_unfolded_is_folded_in_a_talk_and_stands_afterwards_as_it_stood(browser):
    browser.size(1480, 800)
    Bench(browser, wb.panel(MADE))
    browser.until("document.querySelector('.wbp .code .fold')")
    browser.click(".wbp .code .fold")
    browser.until(WHOLE)
    browser.run(f"({PLACE} = 300)")
    browser.until(f"Math.abs({PLACE} - 300) < 2")
    browser.click(".wbp .talk-layout")
    browser.until("document.querySelector('.wbp.talk')")
    browser.move((3, 3))
    begins_with(browser, MADE)
    assert not browser.run(WHOLE)
    browser.click(".wbp .talk-layout")
    browser.until("!document.querySelector('.wbp.talk')")
    browser.until(f"Math.abs({PLACE} - 300) < 2")
    assert texts(browser, ".wbp .code .fold") == ["▾ only the function"], "it is still unfolded"
