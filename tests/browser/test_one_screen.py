"""The first look needs no scrolling; panes are resized, enlarged and hidden by mouse and keys; a talk has two."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import texts
from tests.viz.panels.values import SCHEDULES, schedule

FIRST = ("domain", "code", "tree", "steps", "history")
SEEN = """(() => { const [w, h] = [innerWidth, innerHeight];
    return %s.filter((s) => { const b = document.querySelector(s).getBoundingClientRect();
        return b.width < 40 || b.height < 20 || b.top < 0 || b.left < 0 || b.bottom > h || b.right > w }) })()"""
PLOT = "document.querySelector('.wbp svg.plot').getBoundingClientRect()"
WIDE = "Math.round(document.querySelector('.wbp [data-slot=%s]').getBoundingClientRect().width)"
# What JupyterLab leaves a cell's output of a window, its side bar closed.
SIZES = {"1600 x 1000": (1480, 800), "1280 x 800": (1160, 600)}


@pytest.fixture(autouse=True)
def usual_size(browser):
    yield
    browser.size(1500, 1100)


def opened(browser, size, made, **more):
    browser.size(*SIZES[size])
    return Bench(browser, wb.panel(made, **more))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_first_look_needs_no_scrolling(name, size, browser):
    opened(browser, size, schedule(name))
    wanted = [".wbp .head", ".wbp .foot", ".wbp .start", *(f".wbp [data-slot={pane}]" for pane in FIRST)]
    browser.until("document.querySelector('.wbp .begin-with')")
    assert browser.run(SEEN % wanted) == []
    assert browser.run("document.scrollingElement.scrollHeight <= innerHeight"), "the page does not scroll"


# The height of a line of code that is not wrapped.
LINE = "Math.min(...[...document.querySelectorAll('.wbp .code .cm-line')].map((e) => e.getBoundingClientRect().height))"
# Parts of headings and rows that cover one another, or stand out of the pane they are in.
MET = """(() => { const box = (e) => e.getBoundingClientRect();
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    const out = (a, b) => a.right > b.right + 1 || a.left < b.left - 1 || a.bottom > b.bottom + 1;
    return ['.code', '.domain', '.foot'].flatMap((name) => {
        const room = document.querySelector(`.wbp ${name}`);
        const parts = [...room.querySelectorAll('h3 :is(select, button, .soft), .replay *, .cells, .status')]
            .filter((e) => box(e).width > 0 && box(e).height > 1);
        const bad = (e, i) => out(box(e), box(room))
            || parts.slice(i + 1).some((other) => !e.contains(other) && meet(box(e), box(other)));
        return parts.filter(bad).map((e) => `${name} ${e.tagName} ${e.className}`) }) })()"""
# Lines of text that the lower edge of a box goes through.
CUT = """(() => { const box = document.querySelector('%s'), edge = box.getBoundingClientRect().bottom - 2;
    const all = document.createRange();
    all.selectNodeContents(box);
    const through = (r) => r.height < 16 && r.top < edge - 2 && r.bottom > edge + 1;
    return [...all.getClientRects()].filter(through).length })()"""


@pytest.mark.parametrize("size", [(1040, 731), *SIZES.values()])
def test_nothing_is_cut_or_covered_where_there_is_little_room(size, browser):
    made = schedule("matmul") | wb.decompose_reduction("C") | wb.parallelize("C/m") | wb.unroll("C/k")
    browser.size(*size)
    Bench(browser, wb.panel(made))
    browser.until("document.querySelector('.wbp .replay label').offsetWidth")
    browser.until("document.querySelector('.wbp .code .fold')")
    assert browser.run(MET) == []
    row = "document.querySelector('.wbp .replay').offsetHeight"
    high = browser.run(row)
    browser.run("""(() => { const r = document.querySelector('.wbp .replay input'); r.value = 17;
        r.dispatchEvent(new Event('input')) })()""")
    browser.until("document.querySelector('.wbp .replay output').textContent.includes('C')")
    assert browser.run(row) == high, "what is said of a moment breaks no row"


@pytest.mark.parametrize("name", SCHEDULES)
def test_what_one_may_begin_with_shows_whole_lines(name, browser):
    browser.size(1040, 731)
    Bench(browser, wb.panel(schedule(name)))
    browser.until("document.querySelector('.wbp .begin-with')")
    assert browser.run(CUT % ".wbp .start") == 0


@pytest.mark.parametrize("size", SIZES)
def test_a_legality_map_stands_beside_the_picture_that_one_drags_on(size, browser):
    opened(browser, size, schedule("matmul"))
    browser.point_at(".wbp .mode:nth-child(2)")
    browser.until("document.querySelector('.wbp .map:not([hidden]) .spot[data-legal]')")
    plot, found = browser.box(".wbp svg.plot"), browser.box(".wbp .map")
    assert found["x"] >= plot["x"] + plot["width"]
    assert found["x"] + found["width"] <= browser.run("innerWidth")
    browser.point_at(".wbp .plot [data-point]")
    browser.until("document.querySelector('.wbp .map').hidden")


def test_a_map_that_would_cover_the_picture_waits_to_be_asked_for(browser):
    """Where there is no room beside, as in a talk or where the pane stands alone, a rest on a button opens none."""
    opened(browser, "1280 x 800", schedule("matmul"))
    browser.click(".wbp [data-slot=domain] .enlarge")
    browser.point_at(".wbp .mode:nth-child(2)")
    browser.until("document.querySelector('.wbp .status').textContent.includes('arrow down')")
    assert browser.run("document.querySelector('.wbp .map').hidden")
    browser.run("document.querySelector('.wbp .mode:nth-child(2)').focus()")
    browser.key("ArrowDown")
    browser.until("document.querySelector('.wbp .map:not([hidden]) .spot[data-legal]')")


def test_a_picture_is_as_large_as_its_pane(browser):
    opened(browser, "1600 x 1000", schedule("matmul"))
    before = browser.run(f"{PLOT}.height")
    browser.click("[aria-label='enlarge domain']")
    browser.until(f"{PLOT}.height > {before} + 20")
    assert browser.run("[...document.querySelectorAll('.wbp .slot')].filter((e) => e.offsetWidth).length") == 1
    browser.key("Escape")
    browser.until(f"Math.abs({PLOT}.height - {before}) < 2")


def test_head_and_detail_line_stay_while_one_scrolls_to_another_pane(browser):
    bench = opened(browser, "1280 x 800", schedule("matmul"))
    bench.ask("setattr(panel, 'panes', [*panel.panes, 'footprint', 'roofline', 'warps'])")
    browser.until("document.querySelector('.wbp .slot[data-slot=warps]')")
    browser.run("document.querySelector('.wbp .slot[data-slot=warps]').scrollIntoView({block: 'end'})")
    assert browser.run(SEEN % [".wbp .head", ".wbp .foot", ".wbp [data-slot=warps] .slot-head"]) == []


def test_a_picture_that_was_zoomed_fits_again(browser):
    opened(browser, "1600 x 1000", schedule("matmul"))
    browser.click(".wbp [aria-label='zoom in']")
    browser.click(".wbp [aria-label='zoom in']")
    browser.until("document.querySelector('.wbp svg.plot.zoomed')")
    browser.click(".wbp .fit")
    browser.until("!document.querySelector('.wbp svg.plot.zoomed')")


def test_borders_move_by_mouse_and_by_keys(browser):
    bench = opened(browser, "1600 x 1000", schedule("matmul"))
    was = browser.run(WIDE % "domain")
    x, y = browser.middle(".wbp .border.vertical")
    browser.drag((x, y), (x - 90, y))
    browser.until(f"Math.abs({WIDE % 'domain'} - {was - 90}) <= 3")
    bench.becomes("'pictures' in panel.arrangement['shares']")
    browser.run("document.querySelector('.wbp .border.vertical').focus()")
    for _ in range(3):
        browser.key("ArrowRight")
    browser.until(f"Math.abs({WIDE % 'domain'} - {was - 90 + 72}) <= 5")
    browser.run("document.querySelector('.wbp .border.vertical').dispatchEvent(new MouseEvent('dblclick'))")
    browser.until(f"Math.abs({WIDE % 'domain'} - {was}) <= 2")
    browser.run("document.querySelector('.wbp .border.grip').focus()")
    browser.key("ArrowUp")
    bench.becomes("panel.arrangement.get('height', 0) > 300")


def test_a_pane_is_hidden_and_one_more_is_scrolled_to(browser):
    bench = opened(browser, "1280 x 800", schedule("matmul"))
    browser.click("[aria-label='close history']")
    bench.becomes("'history' not in panel.panes")
    browser.until("!document.querySelector('.wbp .slot[data-slot=history]')")
    browser.click(".wbp [data-pane=footprint]")
    browser.until("document.querySelector('.wbp .footprint')")
    head = browser.box(".wbp .head")
    assert head["y"] >= 0
    top = "document.querySelector('.wbp [data-slot=footprint]').getBoundingClientRect().top"
    browser.until(f"{top} < innerHeight - 100")


@pytest.mark.parametrize("size", SIZES)
def test_a_talk_has_two_panes_in_large_type(size, browser, keep_window):
    bench = opened(browser, size, schedule("convolution"))
    small = browser.run(LINE)
    browser.click(".wbp .talk-layout")
    browser.until("document.querySelector('.wbp.talk')")
    shown = "[...document.querySelectorAll('.wbp .slot')].map((e) => e.dataset.slot)"
    browser.until(f"{shown}.join() === 'domain,code'")
    assert browser.run(LINE) > 1.2 * small
    assert browser.run(SEEN % [".wbp .head", ".wbp [data-slot=domain]", ".wbp [data-slot=code]"]) == []
    keep_window(f"talk_{size.split()[0]}")
    browser.click(".wbp [data-pane=tree]")
    browser.until(f"{shown}.join() === 'domain,tree'")
    assert bench.ask("list(panel.panes)") == list(FIRST), "which panes there are is kept"
    browser.click(".wbp .talk-layout")
    browser.until(f"{shown}.length === 5")


def test_points_are_dragged_where_the_mouse_is_in_large_type(browser):
    bench = opened(browser, "1600 x 1000", schedule("matmul"))
    bench.ask("setattr(panel, 'arrangement', {'talk': True})")
    browser.until("document.querySelector('.wbp.talk')")
    browser.point_at(".wbp .plot [data-point='C(1, 2, 3)']")
    browser.until("document.querySelector('.wbp .cells').textContent.includes('A(1, 3)')")


def test_the_whole_screen_and_back(browser):
    opened(browser, "1280 x 800", schedule("matmul"))
    browser.click(".wbp .full-screen")
    browser.until("document.fullscreenElement && document.fullscreenElement.matches('.wbp')")
    browser.until("document.querySelector('.wbp').offsetHeight >= innerHeight - 2")
    browser.click(".wbp .full-screen")
    browser.until("!document.fullscreenElement")


def test_what_one_may_do_with_the_mouse_is_said_once(browser):
    browser.run("localStorage.removeItem('tensor-workbench:hint')") if browser.run("origin !== 'null'") else None
    made = wb.schedule(wb.operator("def f(float(N,M) x) -> (y) { y(i,j) = x(i,j) + x(i,j) }"), N=8, M=8)
    opened(browser, "1280 x 800", made)
    assert "drag over the points" in texts(browser, ".wbp .hint")[0]
    assert browser.box(".wbp .hint")["height"] < 30, "it is one line"
    browser.click(".wbp .hint-close")
    browser.until("!document.querySelector('.wbp .hint')")
    browser.run("(window.close_view(), document.querySelectorAll('.wbp').forEach((e) => e.remove()), window.view(), 0)")
    browser.until("document.querySelector('.wbp svg.plot')")
    assert not texts(browser, ".wbp .hint")
