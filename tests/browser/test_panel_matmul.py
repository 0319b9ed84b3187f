"""What needs to be seen once: gestures of one kind, switches, strange names, themes."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from tests.browser.bench import Bench as Page
from tests.browser.chromium import CONTROL
from tests.browser.hands import attributes, choose, drag_on_plot, fresh, mode, point, steps, texts

# Where points stand, in cells of the grid, by the ticks of the axes.
PLACES = """(() => {
    const plot = document.querySelector('.wbp svg.plot'), box = (e) => e.getBoundingClientRect();
    const centre = (e) => [box(e).x + box(e).width / 2, box(e).y + box(e).height / 2];
    const ticks = [...plot.querySelectorAll('.tick')].map((e) => [Number(e.textContent), ...centre(e)]);
    const above = ticks.filter((t) => t[2] < box(plot.querySelector(".frame")).top);
    const line = (known, i) => { const [a, b] = [known[0], known.at(-1)];
        return (v) => a[0] + (v - a[i]) * (b[0] - a[0]) / (b[i] - a[i]) };
    const x = line(above, 1), y = line(ticks.filter((t) => !above.includes(t)), 2);
    return Object.fromEntries([...plot.querySelectorAll('.point[data-point^="C("]')].map((e) =>
        [e.dataset.point, [x(centre(e)[0]), y(centre(e)[1])]])) })()"""
STARTED = 'document.querySelector(\'.wbp[data-place="0"]:not([data-offers="0"]):not(.busy)\')'


@pytest.fixture(scope="module")
def page(opened) -> Page:
    return opened("matmul")


def drop(browser, source: str, target: str) -> None:
    """Drag one element onto another, as the page hears it."""
    browser.run(
        f"(() => {{ const a = {source}, b = {target}, dataTransfer = new DataTransfer();"
        " const more = {dataTransfer, bubbles: true, cancelable: true};"
        " const say = (e, kind) => e.dispatchEvent(new DragEvent(kind, more));"
        " say(a, 'dragstart'); say(b, 'dragover'); say(b, 'drop') })()"
    )


def test_a_loop_dropped_on_another_takes_its_place(page, browser):
    fresh(page)
    rows = "[...document.querySelectorAll('.wbp .tree .row.loop')]"
    drop(browser, f"{rows}[0]", f"{rows}[1]")
    browser.until("!document.querySelector('.wbp .undo').disabled")
    assert steps(page)[-1] == "interchange('n', 'm')"


def test_a_statement_of_the_tree_dropped_on_another_nest_is_merged(page, browser):
    fresh(page)
    browser.click(".wbp .apart")
    browser.until("document.querySelectorAll('.wbp .nest').length === 2")
    browser.run("document.querySelector('.wbp .tree').scrollIntoView({block: 'center'})")
    browser.drag(*(browser.middle(".wbp .tree .row.statement", n) for n in (1, 0)))
    browser.until("document.querySelectorAll('.wbp .nest').length === 1")
    assert steps(page) == ["distribute('C')", "merge('C.init', 'C')"]


def test_the_name_of_an_axis_dropped_on_the_other_interchanges(page, browser):
    fresh(page)
    browser.run("document.querySelector('.wbp .plot').scrollIntoView({block: 'center'})")
    browser.drag(browser.middle(".wbp .plot .axis.x"), browser.middle(".wbp .plot .axis.y"))
    browser.until("!document.querySelector('.wbp .undo').disabled")
    assert steps(page)[-1] == "interchange('k', 'n')"


def test_a_statement_is_split_off(page, browser):
    fresh(page)
    browser.click(".wbp .apart")
    browser.until("!document.querySelector('.wbp .undo').disabled")
    assert steps(page) == ["distribute('C')"]
    browser.until("document.querySelectorAll('.wbp .nest').length === 2")


def test_other_axes_and_sliders(page, browser):
    fresh(page)
    before = attributes(browser, ".wbp .plot [data-point]", "data-point")
    browser.run(
        "(() => { const s = document.querySelector('.wbp [data-dim=m]'); s.value = 3;"
        " s.dispatchEvent(new Event('input')); })()"
    )
    after = attributes(browser, ".wbp .plot [data-point]", "data-point")
    assert len(before) == len(after)
    assert all(p.startswith(("C(3,", "C.init(3,")) for p in after)
    browser.run(
        "(() => { const s = document.querySelector('.wbp [data-axis=y]'); s.value = 'm';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    assert texts(browser, ".wbp .plot .axis.y") == ["m"]
    assert attributes(browser, ".wbp [data-dim]", "data-dim") == ["n"]


def test_branches_of_the_history_can_be_gone_back_to(page, browser, keep):
    fresh(page)
    for step in ("parallelize('m')", "parallelize('n')"):
        choose(browser, step)
        browser.until("!document.querySelector('.wbp .undo').disabled")
        browser.click(".wbp .undo")
        browser.until(STARTED)
    browser.run(
        "[...document.querySelectorAll('.wbp .moment')].find((b) => b.textContent === \"parallelize('m')\").click()"
    )
    browser.until("!document.querySelector('.wbp .undo').disabled")
    assert steps(page) == ["parallelize('m')"]


def test_a_drag_along_an_axis_skews(page, browser):
    fresh(page)
    for axis, dim in (("x", "n"), ("y", "m")):
        browser.run(
            f"(() => {{ const s = document.querySelector('.wbp [data-axis={axis}]'); s.value = '{dim}';"
            " s.dispatchEvent(new Event('change')); })()"
        )
    drag_on_plot(browser, "skew", (3, 1))
    browser.until("!document.querySelector('.wbp .undo').disabled || !document.querySelector('.wbp .refusal').hidden")
    assert steps(page) == ["skew('n', by='m', factor=2)"]
    mode(browser, "select")
    browser.until("document.querySelector('.wbp .plot .axis.x').textContent === 'n + 2 * m'")
    places = browser.run(PLACES)
    assert len(places) > 9
    for name, (x, y) in places.items():
        m, n = point(name)[1][:2]
        assert (round(x), round(y)) == (n + 2 * m, m)  # beside it stands C.init
    browser.click(".wbp .undo")
    browser.until(f"{STARTED} && document.querySelector('.wbp .plot .axis.x').textContent === 'n'")


def test_the_replay_plays_pauses_and_goes_on(page, browser):
    fresh(page)
    at = "Number(document.querySelector('.wbp .replay input').value)"
    whole = browser.run(at)
    browser.click(".wbp .play")
    browser.until(f"{at} > 2 && {at} < {whole}")
    browser.click(".wbp .play")
    stopped = browser.run(at)
    waiting = len(attributes(browser, ".wbp .plot .point.waits", "data-point"))
    assert waiting
    browser.run("new Promise((done) => setTimeout(done, 300)).then(() => 0)")  # three of its beats
    assert browser.run(at) == stopped
    assert len(attributes(browser, ".wbp .plot .point.waits", "data-point")) == waiting
    browser.run("document.querySelector('.wbp .replay input').focus()")
    browser.key("ArrowRight")
    assert browser.run(at) == stopped + 1


def test_a_picture_is_zoomed_by_wheel_and_keys_and_moved(page, browser):
    fresh(page)
    mode(browser, "select")
    world = "document.querySelector('.wbp .plot .world').getAttribute('transform')"
    x, y = browser.middle(".wbp svg.plot")
    browser.move((x, y))
    browser.wheel(-120, CONTROL)
    browser.until(f"/scale\\(1\\.25\\)/.test({world})")
    before = browser.run(world)
    browser.drag((x, y), (x + 30, y + 20))
    assert browser.run(world) != before
    browser.run("document.querySelector('.wbp svg.plot').focus()")
    browser.key("-")
    browser.until("!document.querySelector('.wbp svg.plot').matches('.zoomed')")
    browser.click("[aria-label='zoom in']")
    browser.until("document.querySelector('.wbp svg.plot').matches('.zoomed')")


def test_text_with_markup_is_shown_as_text(page, browser):
    fresh(page)
    bad = '<img src=x onerror="window.broken = 1"><b>bold</b>'
    page.ask(f"setattr(panel, 'refusal', {{'step': {bad!r}, 'reason': {bad!r}, 'repairs': [], 'pairs': []}})")
    browser.until("!document.querySelector('.wbp .refusal').hidden")
    page.ask(f"setattr(panel, 'past', {{**panel.past, 'script': {bad!r}, 'steps': [{bad!r}]}})")
    page.ask(f"setattr(panel, 'code', {{**panel.code, 'reason': {bad!r}}})")
    browser.until(f"document.querySelector('.wbp .script').textContent.includes({json.dumps(bad)})")
    assert browser.run("[window.broken, document.querySelectorAll('.wbp img').length]") == [None, 0]
    page.ask("panel._go(panel.history.at(0))")


def test_the_dark_theme(page, browser, keep):
    fresh(page)
    browser.run("document.body.dataset.jpThemeLight = 'false'")
    page.ask("panel.apply(wb.tile(m=2, n=2))")
    browser.until("!document.querySelector('.wbp .undo').disabled && document.querySelector('.wbp .offers details')")
    assert browser.run("getComputedStyle(document.querySelector('.wbp')).backgroundColor") == "rgb(22, 25, 29)"
    keep("dark")
    browser.run("document.body.dataset.jpThemeLight = 'true'")


def test_a_thread_has_the_points_it_runs_and_none_between_them(browser):
    """Threads that take every fourth point: what lies between belongs to others."""
    made = wb.schedule(wb.operator("def f(float(N) x) -> (y) { y(i) = 2 * x(i) }"), N=64) | wb.tile(i=4)
    page = Page(browser, wb.panel(made | wb.parallelize("i_i"), panes=("domain",)), whole=False)
    browser.until("document.querySelector('.wbp .plot .thread')")
    drawn = browser.run("[...document.querySelectorAll('.wbp .plot .thread')].map((e) => e.getAttribute('d'))")
    pieces = [[float(at.split(",")[0]) for at in piece.split("L")] for d in drawn for piece in d[1:-1].split("zM")]
    assert len(drawn) == 4
    assert len(pieces) == page.panel.domain["sizes"]["N"] > 4
    assert len({round(max(xs) - min(xs)) for xs in pieces}) == 1, "each piece is as wide as a point"
    shades = browser.run("[...document.querySelectorAll('.wbp .plot .thread')].map((e) => e.matches('.odd'))")
    assert {True, False} == set(shades)


def test_arrows_are_shown_by_kind_and_by_array(browser):
    """One of the last tests here: it opens a page of its own."""
    made = wb.operator("def two(float(N) x) -> (a, b, c) { a(i) = x(i)  b(i) = a(i)  c(i) = a(i-1) + b(i) }")
    made = wb.schedule(made, N=6) | wb.merge("a", "b") | wb.merge("b", "c")
    page = Page(browser, wb.panel(made, panes=("domain",)), whole=False)
    browser.until("document.querySelector('.wbp .plot .arrow')")
    count = "document.querySelectorAll('.wbp .plot .arrow').length"
    names = sorted({a["array"] for a in page.panel.domain["arrows"]})
    assert names == ["a", "b"] == sorted(attributes(browser, ".wbp .of-array", "data-array"))
    seen = {None: browser.run(count)}
    for name in names:
        box = f"document.querySelector('.wbp .of-array[data-array={name}] input')"
        browser.run(f"{box}.click()")
        seen[name] = browser.run(count)
        browser.run(f"{box}.click()")
    assert browser.run(count) == seen[None]
    assert 0 < seen["a"] < seen["b"] < seen[None]
