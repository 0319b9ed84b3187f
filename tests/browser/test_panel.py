"""The panel in a real JupyterLab: what lights up, what a drag does, what is refused, what the history says."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from itertools import pairwise

import pytest

import workbench as wb
from tests.browser import expected
from tests.browser.chromium import CONTROL, SHIFT, Browser, BrowserError
from tests.browser.hands import (
    APPLIED,
    POINTS,
    answers,
    attributes,
    choose,
    drag_on_plot,
    filtered,
    fresh,
    point,
    some_offer,
    steps,
    texts,
)  # fmt: skip
from tests.browser.lab import LATE, RESTARTED, Page
from tests.viz.panels.values import SCHEDULES, schedule
from workbench.schedules import preview

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("what_is_said_from_now_on")]
REFUSED = ("interchange", "parallelize", "reverse")
# Each runs until the test says that it may end: however slow the machine is, the questions come while it runs.
RUNNING = {
    "matmul": "time.sleep(0.05)",
    "triangular": "sum(range(1000))",
    "stencil": "time.sleep(0.05)",
    "convolution": "wb.autoschedule(wb.ops.matmul, M=64, N=64, K=64)",
}
RUNS = "document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')[1].textContent.includes('*')"
# Only lines that are near to what is seen are in the page.
ACTIVE_LINES = """(async () => {
    const scroller = document.querySelector('.wbp .listing').closest('.cm-scroller'), found = new Map();
    for (let y = 0; y < scroller.scrollHeight; y += 150) {
        scroller.scrollTop = y;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        scroller.querySelectorAll('.line.active').forEach((e) => found.set(Number(e.dataset.line), e.textContent));
    }
    scroller.scrollTop = 0;
    return [...found].sort(([a], [b]) => a - b).map(([, text]) => text) })()"""
CODE = "__import__('hashlib').sha256(wb.generate({}).source.encode()).hexdigest()"


@pytest.fixture(scope="module", params=SCHEDULES)
def case(request, in_lab) -> tuple[str, Page]:
    return request.param, in_lab(request.param)


# -- what lights up --------------------------------------------------------------------------------------------------


def test_pointing_at_an_instance_lights_what_belongs_to_it(case, browser, keep, measured):
    name, page = case
    fresh(page)
    names = attributes(browser, POINTS, "data-point")
    for nth in sorted({0, len(names) // 2, len(names) * 2 // 3, len(names) - 1}):
        browser.point_at(POINTS, nth)
        browser.until(f"document.querySelector('.wbp .cells b').textContent.endsWith({json.dumps(names[nth])})")
        lit_as_computed(page, names[nth], schedule(name))
    measured[f"{name}: hover to light, ms"] = hover_time(browser)
    keep(f"{name}_hover")


def lit_as_computed(page: Page, name: str, of: wb.Schedule) -> None:
    """Cells, nodes, lines and points that are lit are those of one instance."""
    browser, at = page.browser, point(name)
    cells = expected.touched(of.program, at)
    for kind in ("read", "write"):
        assert set(attributes(browser, f".wbp .cell.{kind}", "data-cell")) == cells[kind]
    loops = expected.around(of, at[0])
    assert sorted(attributes(browser, ".wbp .node.active", "data-name")) == sorted([*loops, at[0]])
    assert attributes(browser, ".wbp .point.lit", "data-point") == [name]
    lines = [text.strip() for text in browser.run(ACTIVE_LINES)]
    headers = [v for line in lines for v in re.findall(r"for \(\w+ (\w+?)(?:_\d+)? = ", line)]
    assert list(dict.fromkeys(headers)) == loops  # one that is divided where a choice changes has several
    assert any(f"/* {at[0]}: " in line for line in lines)
    others = {s.name for s in of.program.statements} - {at[0]}
    assert not [line for line in lines for other in others if f"/* {other}: " in line]


def hover_time(browser: Browser) -> float:
    """Milliseconds from a pointer event to the end of all that it lights, without painting: the median of some."""
    return browser.run("""(() => {
        const svg = document.querySelector('.wbp svg.plot'), all = [...svg.querySelectorAll('.point')], times = [];
        for (let i = 0; i < 30; i++) {
            const b = all[(i * 7) % all.length].getBoundingClientRect(), t = performance.now();
            const at = {clientX: b.x + b.width / 2, clientY: b.y + b.height / 2};
            svg.dispatchEvent(new PointerEvent('pointermove', at));
            document.body.offsetHeight; times.push(performance.now() - t);
        }
        return times.sort((a, b) => a - b)[15] })()""")


def test_lines_loops_and_cells_light_instances(case, browser):
    _, page = case
    fresh(page)
    line = page.ask("next(x['number'] for x in panel.code['lines'] if len(x['statements']) == 1 and not x['loop'])")
    statement = page.ask(f"panel.code['lines'][{line - 1}]['statements'][0]")
    browser.point_at(f".wbp .line[data-line='{line}'] .number")
    browser.until("document.querySelector('.wbp .plot.has-lit')")
    lit = attributes(browser, ".wbp .point.lit", "data-point")
    assert lit
    assert lit == [p for p in attributes(browser, POINTS, "data-point") if p.startswith(f"{statement}(")]
    browser.point_at(".wbp .tree .row.loop")
    outer = attributes(browser, ".wbp .tree .node", "data-name")[0]
    assert outer in attributes(browser, ".wbp .node.active", "data-name")
    browser.click(POINTS, 0)
    browser.point_at(".wbp .cells")  # away from the plot: what lies under a mouse that rests is shown instead
    browser.until("document.querySelector('.wbp .cell')")
    cell = attributes(browser, ".wbp .cell", "data-cell")[0]
    browser.click(".wbp .cell")
    browser.until(f"document.querySelector('.wbp .cells').textContent.includes('what touches {cell}')")
    assert attributes(browser, ".wbp .point.lit", "data-point")


def test_a_selection_goes_both_ways(case, browser):
    _, page = case
    fresh(page)
    names = attributes(browser, POINTS, "data-point")
    browser.click(POINTS, 1)
    browser.until("document.querySelector('.wbp .cells b')")
    chosen = page.becomes("panel.selection")
    assert (chosen["statement"], tuple(chosen["instance"])) == point(names[1])
    statement, at = point(names[2])
    page.ask(f"setattr(panel, 'selection', {{'statement': '{statement}', 'instance': {at}}})")
    browser.until(f"document.querySelector('.wbp .cells b').textContent.endsWith({json.dumps(names[2])})")
    assert attributes(browser, ".wbp .point.lit", "data-point") == [names[2]]


def test_at_a_time_exactly_what_has_run_is_filled(case, browser, keep):
    name, page = case
    fresh(page)
    at_its_time(page, schedule(name))
    legal = some_offer(browser, "interchange", "reverse", "skew", legal=True)
    choose(browser, legal)
    browser.until(APPLIED)
    at_its_time(page, schedule(name) | eval(f"wb.{legal}", {"wb": wb}))
    keep(f"{name}_replay")


def at_its_time(page: Page, of: wb.Schedule) -> None:
    """Move the time slider; what is filled is what the generated code has touched by then."""
    browser = page.browser
    browser.run("document.querySelectorAll('.wbp .slider [type=checkbox]:checked').forEach((b) => b.click())")
    order = expected.in_order(of, page.ask("panel.domain['sizes']"))
    when = {at: i for i, at in enumerate(order)}
    names = attributes(browser, POINTS, "data-point")
    assert len(set(names)) == len(names)
    moments = sorted(when[point(name)] for name in names)
    for time in (1, moments[0] + 1, moments[len(moments) // 2], moments[-1], len(order)):
        browser.run(
            f"(() => {{ const r = document.querySelector('.wbp .replay input'); r.value = {time};"
            " r.dispatchEvent(new Event('input')); })()"
        )
        filled = set(attributes(browser, ".wbp .plot .point:not(.waits)", "data-point"))
        assert filled == {name for name in names if when[point(name)] < time}


# -- what a drag does, and its Python ----------------------------------------------------------------------------------


def test_two_drags_and_an_undo_are_python_that_a_new_kernel_runs(case, browser, keep):
    name, page = case
    fresh(page)
    drags = [("tile", (2, 3)), ("tile", (2, 1))] if name != "stencil" else [("skew", (2, 1)), ("skew", (3, 1))]
    drag_on_plot(browser, *drags[0])
    browser.until(APPLIED)
    first, place = steps(page), at_place(browser)
    keep(f"{name}_dragged")
    drag_on_plot(browser, *drags[1])
    browser.until(f"document.querySelector('.wbp').dataset.place !== '{place}' && {APPLIED}")
    assert len(steps(page)) > len(first)
    browser.click(".wbp .undo")
    browser.until(f"document.querySelector('.wbp').dataset.place === '{place}' && {APPLIED}")
    assert steps(page) == first
    code, script = page.ask(CODE.format("panel.schedule")), page.ask("str(panel.history)")
    page.insert(script)
    page.restart()
    page.execute(1)
    assert page.ask("[str(s) for s in schedule.trace]") == first
    assert page.ask(f"__import__('workbench') and {CODE.format('schedule')}") == code
    page.execute(0)
    page.panel()
    assert page.ask("panel.schedule.trace") == []
    page.remove(1)


def test_a_nest_dropped_on_another_is_merged_with_it_or_refused(case, browser, keep):
    name, page = case
    fresh(page)
    while browser.run("Boolean(document.querySelector('.wbp .apart'))"):
        place = at_place(browser)
        browser.click(".wbp .apart")
        browser.until(f"document.querySelector('.wbp').dataset.place !== '{place}' && {APPLIED}")
    apart, nests = steps(page), texts(browser, ".wbp .nest .chips")
    first, second, legal = neighbours(page)
    place = at_place(browser)
    chips = [f".wbp .chip[data-statement={json.dumps(end)}]" for end in (first, second)]
    done = f"document.querySelector('.wbp').dataset.place !== '{place}' && {APPLIED}"
    drop_until(browser, chips, done if legal else "!document.querySelector('.wbp .refusal').hidden")
    if not legal:
        assert f"merge('{first}', '{second}')" in texts(browser, ".wbp .refusal")[0]
        return
    assert steps(page) == [*apart, f"merge('{first}', '{second}')"]
    browser.until(f"document.querySelectorAll('.wbp .nest').length === {len(nests) - 1}")
    keep(f"{name}_merged")


def drop_until(browser: Browser, chips: list[str], done: str) -> None:
    """Drag one chip onto another; again if the list was drawn anew meanwhile, as a person would."""
    for patience in (20, 20, 180):
        browser.run(f"document.querySelector({json.dumps(chips[0])}).scrollIntoView({{block: 'start'}})")
        browser.drag(*(box_middle(browser, chip) for chip in chips))
        with suppress(BrowserError):
            browser.until(done, patience)
            return
    raise BrowserError(f"dropped three times, and not yet: {done}")


def neighbours(page: Page) -> tuple[str, str, bool]:
    """Two neighbouring nests by the names of their first statements, and whether they may be merged: such, if any."""
    names = page.ask("[panel.domain['statements'][n['statements'][0]]['name'] for n in panel.domain['nests']]")
    pairs = [list(pair) for pair in pairwise(names)]
    merges = page.ask(f"[[*p, bool(panel.schedule.can(__import__('workbench').merge(*p)))] for p in {pairs!r}]")
    first, second, legal = max(merges, key=lambda found: found[2])
    return first, second, legal


def box_middle(browser: Browser, selector: str) -> tuple[float, float]:
    """The middle of an element as the page stands."""
    box = browser.box(selector)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def at_place(browser: Browser) -> str:
    """Which moment of the history is shown."""
    return browser.run("document.querySelector('.wbp').dataset.place")


def test_a_step_from_the_list_and_back_by_keys(case, browser, measured):
    name, page = case
    fresh(page)
    legal = some_offer(browser, "parallelize", "interchange", "vectorize", legal=True)
    started = browser.run("performance.now()")
    choose(browser, legal)
    browser.until(APPLIED)
    measured[f"{name}: a step's round trip, ms"] = browser.run("performance.now()") - started
    assert steps(page)[-1] == legal
    taken = at_place(browser)
    for key, modifiers, place, trace in (("z", CONTROL, "0", []), ("Z", CONTROL + SHIFT, taken, [legal])):
        browser.run("document.querySelector('.wbp svg.plot').focus()")
        browser.key(key, modifiers)
        browser.until(f"document.querySelector('.wbp').dataset.place === '{place}'")
        assert steps(page) == trace


def test_a_refused_step_shows_its_witness_in_red_and_its_repair(case, browser, keep):
    name, page = case
    fresh(page)
    refused = some_offer(browser, *(REFUSED[:1] if name == "stencil" else REFUSED), legal=False)
    choose(browser, refused)
    browser.until("!document.querySelector('.wbp .refusal').hidden")
    browser.until("document.querySelector('.wbp .plot .arrow.bad')")
    keep(f"{name}_refused")
    assert steps(page) == []
    of = schedule(name)
    after = preview(of, eval(f"wb.{refused}", {"wb": wb}))
    told = page.ask("panel.refusal['pairs']")
    assert told
    for wrong in told:
        ends = [(wrong[end], tuple(p)) for end, p in zip(("source", "target"), wrong["pairs"][0], strict=True)]
        assert expected.depend(of.program, *ends, wrong["array"])
        assert expected.goes_wrong(after, wrong)
    browser.click(".wbp .witness", 0)
    browser.until("document.querySelector('.wbp .cells b')")
    assert page.becomes("panel.selection")["statement"] == told[0]["source"]
    if texts(browser, ".wbp .repair"):
        browser.click(".wbp .repair", 0)
        browser.until("document.querySelector('.wbp .refusal').hidden")
        assert page.ask("bool(panel.schedule.verdict)")
        assert steps(page)


# -- while a cell runs -------------------------------------------------------------------------------------------------


def test_steps_are_answered_within_a_second_while_a_cell_runs(case, browser, lab, measured):
    name, page = case
    fresh(page)
    step = some_offer(browser, "interchange", "vectorize", "parallelize", legal=True)
    filtered(browser, step)
    idle = max(answers(browser, step))
    page.insert(f"import os, time\nwhile not os.path.exists('end_{name}'): {RUNNING[name]}")
    page.execute(1, wait=False)
    try:
        browser.until(RUNS)
        times = [answers(browser, step) for _ in range(3)]
        assert browser.run(RUNS)
    finally:
        (lab.folder / f"end_{name}").touch()
    browser.until(f"!({RUNS})")
    page.remove(1)
    told = [[round(t) for t in both] for both in times]
    measured[f"{name}: answers to steps and undos while {RUNNING[name]} runs, ms"] = told
    # A machine that is busy with other things is slow without a cell as well.
    assert min(max(both) for both in times) < max(1000, 4 * idle)


# -- several views, and the console ------------------------------------------------------------------------------------


def test_two_views_of_a_panel_agree_after_every_action(case, browser):
    _, page = case
    fresh(page)
    page.second_view()
    agree(page)
    for act in (
        lambda: choose(browser, some_offer(browser, "split", "interchange", "vectorize", legal=True)),
        lambda: browser.click(".wbp .undo"),
        lambda: choose(browser, some_offer(browser, *REFUSED, legal=False)),
        lambda: browser.click(POINTS),
        lambda: browser.click(".wbp .refusal .close"),
    ):
        before = page.ask("[panel.history.place, panel.refusal, panel.selection]")
        act()
        filtered(browser, "")  # a filter is a view's own, and so is what lies under the mouse
        browser.point_at(".wbp .title")
        page.becomes(f"[panel.history.place, panel.refusal, panel.selection] != {before!r}")
        agree(page)
    page.one_view()


# Lines that are not visible, above or below, may be missing; what both views show of the code is the same.
SAME_LINES = """(() => {
    const views = [...document.querySelectorAll('.wbp .code')];
    const numbered = (line) => [line.textContent.match(/^\\d*/)[0], line.textContent];
    const [one, other] = views.map((view) => new Map([...view.querySelectorAll('.cm-line')].map(numbered)));
    const both = [...one.keys()].filter((number) => number && other.has(number));
    const headings = new Set(views.map((view) => view.querySelector('h3').textContent));
    return headings.size === 1 && both.length > 3 && both.every((number) => one.get(number) === other.get(number));
})()"""

# What a step costs is asked for those that a view has unfolded.
WITHOUT_COSTS = """(part) => {
    const copy = part.cloneNode(true);
    copy.querySelectorAll('.cost').forEach((cost) => cost.remove());
    return copy.textContent }"""


def agree(page: Page) -> None:
    """Both views show the same, once the kernel has answered."""
    browser = page.browser
    settled = "[...document.querySelectorAll('.wbp')].every((e) => e.dataset.offers !== '0' && !e.matches('.busy'))"
    browser.until(f"document.querySelectorAll('.wbp').length === 2 && {settled}")
    same = "(new Set([...document.querySelectorAll('.wbp')].map((e) => e.dataset.place)).size === 1)"
    for part in (".tree", ".code", ".script", ".cells", ".refusal", ".offers"):
        shown = f"[...document.querySelectorAll('.wbp {part}')].map({WITHOUT_COSTS})"
        found = f"(new Set({shown}).size === 1)"
        if part == ".code":
            found = SAME_LINES
        browser.until(f"{same} && {found}", 10)


def test_nothing_was_thrown_on_the_way(case, browser):
    ours = [line for line in browser.console if "panel" in line or "wbp" in line or line.startswith("thrown")]
    assert [line for line in ours if LATE not in line and RESTARTED not in line] == []
