"""Pictures in which one thing is told from another: of a crowd one at a time, a colour for each name, no word cut."""

from __future__ import annotations

from itertools import pairwise

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import texts
from workbench.errors import IllegalSchedule

SIZES = {"1600 x 1000": (1480, 800), "1280 x 800": (1160, 600)}
GATED = """
def gated(float(N,D) X, float(D) a, float(D) b) -> (Y) {
    G(n,d) = X(n,d) * a(d)
    U(n,d) = X(n,d) + b(d)
    S(n,d) = max(G(n,d), 0.0) * U(n,d) + G(n,d)
    Y(n,d) = S(n,d) - U(n,d)
}"""
CHIPS = ".wbp .domain .chip"
# Marks of one place whose boxes have a part in common.
COVERED = """(() => {
    const marks = [...document.querySelectorAll('.wbp .plot .point')].map((e) => e.getBoundingClientRect());
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
    return marks.reduce((sum, a, i) => sum + marks.slice(i + 1).filter((b) => meet(a, b)).length, 0) })()"""
# What stands out of its pane to the right, or below the pane's lower edge.
CUT = """(() => { const pane = document.querySelector('.wbp .domain'), room = pane.getBoundingClientRect();
    return [...pane.querySelectorAll('%s')].filter((e) => { const b = e.getBoundingClientRect();
        return b.width && (b.right > room.right + 1 || b.left < room.left - 1 || (%s && b.bottom > room.bottom + 1)) })
        .map((e) => `${e.tagName} ${e.className} ${e.textContent}`) })()"""


@pytest.fixture(autouse=True)
def usual_size(browser):
    yield
    browser.size(1500, 1100)


def merged():
    """Four statements in one nest."""
    made = wb.schedule(wb.operator(GATED), N=64, D=32)
    return made | wb.merge("G", "U", depth=2) | wb.merge("U", "S", depth=2) | wb.merge("S", "Y", depth=2)


def names(browser):
    return [text.split("(")[0].split()[1] for text in texts(browser, CHIPS)]


def colours(browser, selector):
    """Name of a statement → its colour, as it is seen."""
    return browser.run(f"""Object.fromEntries([...document.querySelectorAll({selector!r})]
        .map((e) => [e.textContent.split('(')[0].trim(), getComputedStyle(e).color]))""")


@pytest.mark.parametrize("size", SIZES)
def test_of_a_crowd_the_statement_that_costs_most_is_drawn_and_the_others_are_one_choice_away(size, browser):
    browser.size(*SIZES[size])
    bench = Bench(browser, wb.panel(merged()))
    assert names(browser) == ["S"]
    assert "1 of 4 shown: it costs most" in texts(browser, ".wbp .shown-of")[0]
    assert texts(browser, ".wbp .shown-of")[0].endswith("% of operations and accesses")
    browser.run("[...document.querySelectorAll('.wbp .nest-choice')].find((b) => b.textContent === 'U').click()")
    browser.until("document.querySelectorAll('.wbp .domain .chip').length === 1")
    assert names(browser) == ["U"]
    browser.run("[...document.querySelectorAll('.wbp .nest-choice')].find((b) => b.textContent.includes('·')).click()")
    browser.until("document.querySelectorAll('.wbp .domain .chip').length === 4")
    assert browser.run(COVERED) == 0
    browser.run("[...document.querySelectorAll('.wbp .nest-choice')].find((b) => b.textContent === 'G').click()")
    bench.ask("setattr(panel, 'selection', {'statement': 'Y'})")
    browser.until("document.querySelector('.wbp .domain .chip').textContent.includes('Y')")


def test_a_refusal_in_a_crowd_shows_the_two_that_would_be_in_the_wrong_order(browser):
    text = GATED.replace("(Y)", "(Y, total)").replace("    Y(n,d)", "    total(n) +=! S(n,d)\n    Y(n,d)")
    made = wb.schedule(wb.operator(text), N=64, D=32)
    made = made | wb.merge("G", "U", depth=2) | wb.merge("U", "S", depth=2) | wb.merge("S", "total")
    bench = Bench(browser, wb.panel(made))
    with pytest.raises(IllegalSchedule):
        bench.panel.apply(wb.parallelize("total/d"))
    browser.until("document.querySelectorAll('.wbp .plot .arrow.bad').length > 0")
    assert names(browser) == ["total"]

HIGH = "[...document.querySelectorAll('.wbp .plot .frame')].map((e) => e.getBoundingClientRect().height)"


def test_arrows_that_have_no_room_are_those_of_one_point_and_of_the_one_under_the_mouse(browser):
    bench = Bench(browser, wb.panel(wb.schedule(wb.ops.jacobi_2d, N=512, M=512, steps=20)))
    displayed = "filter((e) => getComputedStyle(e).display !== 'none')"
    seen = f"[...document.querySelectorAll('.wbp .plot .arrow%s')].{displayed}.length"
    marks = browser.run("document.querySelectorAll('.wbp .plot .point').length")
    assert 0 < browser.run(seen % "") < marks / 4
    assert "arrows of one point" in texts(browser, ".wbp .domain .note")[0]
    browser.point_at(".wbp .plot [data-point='B(1, 3, 2)']")
    browser.until(f"{seen % '.lit'} > 2")
    with pytest.raises(IllegalSchedule):
        bench.panel.apply(wb.parallelize("t"))
    browser.until("document.querySelector('.wbp .plot .arrow.bad')")
    assert browser.run(seen % ".bad") <= 4


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_name_has_one_colour_in_all_panes_and_keeps_it_through_the_steps(theme, browser):
    made = wb.schedule(wb.ops.matmul, M=64, N=64, K=64) | wb.decompose_reduction("C")
    bench = Bench(browser, wb.panel(made))
    browser.run(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
    seen = [colours(browser, ".wbp .tree .row.statement b")]
    steps = ["wb.tile({'C/m': 16, 'C/n': 16})", "wb.stage('A', 'C/m_i')", "wb.stage('B', 'C/m_i')"]
    for number, step in enumerate(steps, 1):
        bench.ask(f"panel.apply({step})")
        browser.until(f"document.querySelector('.wbp').dataset.place === '{number}'")
        seen.append(colours(browser, ".wbp .tree .row.statement b"))
    for before, after in pairwise(seen):
        assert all(after[name] == colour for name, colour in before.items() if name in after)
    last = seen[-1]
    assert len(last) > len(seen[0]), "steps add statements"
    assert len(set(last.values())) == len(last), "no two have one colour"
    drawn = colours(browser, CHIPS)
    assert drawn
    assert drawn.items() <= last.items()
    browser.run("document.body.dataset.jpThemeLight = 'true'")


def test_a_loop_alone_is_one_row(browser):
    Bench(browser, wb.panel(wb.schedule(wb.ops.histogram, N=1 << 12, bins=32)))
    rows = browser.run("""[...document.querySelectorAll('.wbp svg.plot')].map((plot) => {
        const at = (e) => e.getBoundingClientRect();
        const high = at(plot.querySelector('.frame')).height;
        const tops = [...plot.querySelectorAll('.point')].map((e) => at(e).top);
        return [high, Math.max(...tops) - Math.min(...tops)] })""")
    assert len(rows) >= 2
    assert all(spread < high for high, spread in rows)
    assert all(high <= 70 for high, _ in rows), "one place high"


@pytest.mark.parametrize("size", SIZES)
def test_in_a_talk_one_picture_fills_its_pane(size, browser):
    """Larger than before, with the names of axes and statements, without what changes it; code begins at a loop."""
    browser.size(*SIZES[size])
    Bench(browser, wb.panel(wb.schedule(wb.ops.conv2d, stride=1, pad=1, dilation=1)))
    before = max(browser.run(HIGH))
    browser.click(".wbp .talk-layout")
    browser.until("document.querySelector('.wbp.talk')")
    browser.until(f"{HIGH}.length === 1 && {HIGH}[0] > 1.3 * {before}")
    seen = "[...document.querySelectorAll('.wbp %s')].filter((e) => e.checkVisibility()).length"
    assert browser.run(seen % ".domain .chip") == 2
    assert browser.run(seen % ".plot .axis") == 2
    for gone in (".tools", ".film", ".controls select", ".hint", ".tile-apply", ".languages", ".save"):
        assert browser.run(seen % gone) == 0, gone
    text = browser.run("document.querySelector('.wbp .listing').textContent")
    assert text.lstrip("0123456789 ").startswith("for"), text[:60]
    assert "WB_STOPS" not in text


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["matmul", "attention", "lstm_cell"])
def test_no_label_of_a_picture_is_cut_and_what_is_drawn_smaller_says_so(name, size, browser):
    sizes = {"matmul": {"M": 512, "N": 512, "K": 512}, "attention": {"B": 8, "M": 256, "N": 256, "D": 64, "E": 64}}
    browser.size(*SIZES[size])
    made = wb.schedule(getattr(wb.ops, name), sizes.get(name, {"B": 64, "I": 256, "H": 256}))
    Bench(browser, wb.panel(made))
    assert browser.run(CUT % (".controls *, .tools *, .nest-choices *, .hint", "false")) == []
    assert browser.run(CUT % (".under *", "true")) == []
    assert texts(browser, ".wbp .under .note")[0].startswith("drawn for ")
    assert browser.run("document.querySelector('.wbp .under .note').title.includes('instead of')")


@pytest.mark.parametrize("size", SIZES)
def test_the_loops_of_a_product_and_the_last_step_are_seen_without_scrolling(size, browser):
    browser.size(*SIZES[size])
    bench = Bench(browser, wb.panel(wb.schedule(wb.ops.matmul, M=512, N=512, K=512)))
    below = """(() => { const b = document.querySelector('.wbp .tree').getBoundingClientRect().bottom;
        const under = (e) => e.getBoundingClientRect().bottom > b + 1;
        return [...document.querySelectorAll('.wbp .tree .row')].filter(under).length })()"""
    assert browser.run(below) == 0
    bench.ask("panel.apply(wb.tile(m=32, n=64, k=16))")
    browser.until("document.querySelector('.wbp .last-step code')")
    assert texts(browser, ".wbp .last-step code")[0].startswith("tile(m=32, n=64, k=16)")
    for step in ("parallelize('m_o')", "vectorize('n_i')", "vectorize('C.init/n')"):
        bench.ask(f"panel.apply(wb.{step})")
    browser.until("document.querySelectorAll('.wbp .last-step').length === 4")
    assert texts(browser, ".wbp .last-step code")[0] == "vectorize('C.init/n')"
    tops = "[...document.querySelectorAll('.wbp .actions button')].map((e) => e.getBoundingClientRect().top)"
    assert browser.run(f"new Set({tops}).size") == 1, "what one does with them stands in one row"
    pane, line = browser.box(".wbp .history"), browser.box(".wbp .last-step:last-child")
    assert line["y"] + line["height"] <= pane["y"] + pane["height"]


def test_what_a_step_computes_anew_is_said_when_it_is_taken(browser):
    browser.size(1280, 800)
    text = "def twice(float(N) x) -> (c) { a(i) = x(i) * 2.0  c(i) = a(i) + a(i+1) where i in 0:N-1 }"
    bench = Bench(browser, wb.panel(wb.schedule(wb.operator(text), N=65)))
    bench.ask("panel.apply(wb.compute_at('a', 'c/i'))")
    browser.until("document.querySelector('.wbp .last-step .remark')")
    assert "a: 2 times as many instances" in texts(browser, ".wbp .last-step")[0]
    assert texts(browser, ".wbp .head .sizes") == ["1 step, legal, the last: ⚠ a: 2 times as many instances"]
    ground = "getComputedStyle(document.querySelector('.wbp .%s .warns')).backgroundColor"
    assert {browser.run(ground % place) for place in ("head .sizes", "last-step")} != {"rgba(0, 0, 0, 0)"}
