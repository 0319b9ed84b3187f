"""The panel in a real JupyterLab: what lights up, what a drag does, what is refused, what the history says."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import pytest

import workbench as wb
from tests.browser.bench import Bench as Page
from tests.browser.chromium import CONTROL, SHIFT, Browser
from tests.support import ROOT
from tests.viz.panels.values import schedule
from workbench.lang.folding import fold

POINTS = ".wbp .plot [data-point]"


@pytest.fixture(scope="module", params=["matmul"])
def case(request, opened) -> tuple[str, Page]:
    return request.param, opened(request.param)


def texts(browser: Browser, selector: str) -> list[str]:
    """The texts of all elements of a selector."""
    return browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")


def attributes(browser: Browser, selector: str, name: str) -> list[str]:
    """One attribute of all elements of a selector."""
    script = f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.getAttribute({json.dumps(name)}))"
    return browser.run(script)


def steps(page: Page) -> list[str]:
    """The trace, asked from the kernel."""
    return page.ask("[str(s) for s in panel.schedule.trace]")


def fresh(page: Page) -> None:
    """Back to the schedule the panel began with, nothing selected, no filter, the next steps known."""
    page.ask("panel._go(panel.history.at(0))")
    page.ask("setattr(panel, 'selection', {})")
    page.browser.until('document.querySelector(\'.wbp[data-place="0"]:not([data-offers="0"]):not(.busy)\')')
    filtered(page.browser, "")


def filtered(browser: Browser, text: str) -> None:
    """Write into the filter of the next steps."""
    browser.run(
        "(() => { const f = document.querySelector('.wbp .steps input');"
        f" f.value = {json.dumps(text)}; f.dispatchEvent(new Event('input')); }})()"
    )


def choose(browser: Browser, text: str) -> None:
    """Click the offer with exactly this text."""
    filtered(browser, text)
    offers = "[...document.querySelectorAll('.wbp .offer button')]"
    browser.run(f"{offers}.find((b) => b.textContent === {json.dumps(text)}).click()")


def test_pointing_at_an_instance_lights_what_belongs_to_it(case, browser, keep, measured):
    name, page = case
    fresh(page)
    names = attributes(browser, POINTS, "data-point")
    nth = len(names) * 2 // 3
    browser.point_at(POINTS, nth)
    browser.until("document.querySelector('.wbp .plot.has-lit')")
    statement, _, rest = names[nth].partition("(")
    point = [int(v) for v in rest.rstrip(")").split(",")]
    expected = belonging(schedule(name), statement, point)
    for kind in ("read", "write"):
        assert set(attributes(browser, f".wbp .cell.{kind}", "data-cell")) == expected[kind]
    assert set(attributes(browser, ".wbp .node.active", "data-name")) == expected["nodes"]
    shown = set(attributes(browser, ".wbp .line.active", "data-line"))
    assert shown == {
        str(n) for n in page.ask(f"[x['number'] for x in panel.code['lines'] if '{statement}' in x['statements']]")
    }
    assert attributes(browser, ".wbp .point.lit", "data-point") == [names[nth]]
    measured[f"{name}: hover to light, ms"] = hover_time(browser)
    keep(f"{name}_hover")


def belonging(of: wb.Schedule, statement: str, point: list[int]) -> dict[str, set[str]]:
    """Cells and nodes of an instance, from the program and the tree."""
    from workbench.poly.tree import path

    own = next(s for s in of.program.statements if s.name == statement)
    known = {**of.program.sizes, **dict(zip(own.dims, point, strict=True))}
    cells: dict[str, set[str]] = {"read": set(), "write": set()}
    for access in own.accesses:
        cells[access.kind].add(f"{access.array}({', '.join(str(fold(e, known)) for e in access.subscripts)})")
    return {**cells, "nodes": {*(loop.name for loop in path(of.tree, own.id)), statement}}


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
    assert f"{chosen['statement']}({', '.join(map(str, chosen['instance']))})" == names[1]
    statement, _, rest = names[2].partition("(")
    page.ask(f"setattr(panel, 'selection', {{'statement': '{statement}', 'instance': ({rest.rstrip(')')},)}})")
    browser.until(f"document.querySelector('.wbp .cells b').textContent.endsWith({json.dumps(names[2])})")
    assert attributes(browser, ".wbp .point.lit", "data-point") == [names[2]]


def drag_on_plot(browser: Browser, mode: str, size: tuple[int, int]) -> None:
    """Choose a mode and drag over width × height points of the last plot, from a corner of its domain."""
    browser.run(f"[...document.querySelectorAll('.wbp .mode')].find((b) => b.textContent === '{mode}').click()")
    browser.middle(".wbp svg.plot")
    corner = browser.run("""(() => {
        const svg = [...document.querySelectorAll('.wbp svg.plot')].at(-1);
        svg.scrollIntoView({block: 'center'});
        const f = svg.querySelector('.frame').getBoundingClientRect();
        const unit = [...svg.querySelectorAll('line.grid')].slice(0, 2).map((l) => l.getBoundingClientRect().x);
        return [f.x, f.y + f.height, unit[1] - unit[0]] })()""")
    x, y, unit = corner
    start = (x + unit * 1.5, y - unit * 1.5)
    end = (start[0] + unit * (size[0] - 1), start[1] - unit * (size[1] - 1))
    browser.drag(start, end)


def test_dragging_tiles_undoing_and_the_script_in_a_fresh_kernel(case, browser, keep, measured):
    name, page = case
    fresh(page)
    drag_on_plot(browser, "tile", (2, 3))
    browser.until(
        "document.querySelector('.wbp .undo').disabled === false || !document.querySelector('.wbp .refusal').hidden"
    )
    if name == "stencil":
        keep(f"{name}_tile_refused")
        assert texts(browser, ".wbp .refusal code")[0].startswith("tile(")
        return
    assert "tile" in steps(page)[-1]
    first = steps(page)
    browser.until("document.querySelector('.wbp .plot .tile')")
    keep(f"{name}_tiled")
    drag_on_plot(browser, "tile", (2, 1))
    browser.until(f"document.querySelector('.wbp .script').textContent.split('| wb.').length > {len(first) + 1}")
    browser.click(".wbp .undo")
    browser.until(f"document.querySelector('.wbp .script').textContent.split('| wb.').length === {len(first) + 1}")
    assert steps(page) == first
    script = page.ask("str(panel.history)")
    check = "\nimport hashlib; print(hashlib.sha256(wb.generate(schedule).source.encode()).hexdigest())"
    ran = subprocess.run(
        [sys.executable, "-c", script + check], capture_output=True, text=True, cwd=ROOT, check=True, timeout=120
    )
    source = page.ask("wb.generate(panel.schedule).source")
    assert ran.stdout.strip() == hashlib.sha256(source.encode()).hexdigest()


def test_a_step_from_the_list_and_back_by_keys(case, browser, measured):
    name, page = case
    fresh(page)
    legal = browser.run(
        "[...document.querySelectorAll('.wbp .offer button[data-legal=true]')].map((b) => b.textContent)"
        ".find((t) => t.startsWith('parallelize') || t.startsWith('interchange') || t.startsWith('vectorize'))"
    )
    started = browser.run("performance.now()")
    choose(browser, legal)
    browser.until("!document.querySelector('.wbp .undo').disabled")
    measured[f"{name}: a step's round trip, ms"] = browser.run("performance.now()") - started
    assert steps(page)[-1] == legal
    browser.run("document.querySelector('.wbp svg.plot').focus()")
    browser.key("z", CONTROL)
    browser.until("document.querySelector('.wbp .undo').disabled")
    assert steps(page) == []
    browser.run("document.querySelector('.wbp svg.plot').focus()")
    browser.key("Z", CONTROL | SHIFT)
    browser.until("!document.querySelector('.wbp .undo').disabled")
    assert steps(page)[-1] == legal


def test_a_refused_step_shows_its_witness_in_red_and_its_repair(case, browser, keep):
    name, page = case
    fresh(page)
    refused = browser.run(
        "[...document.querySelectorAll('.wbp .offer button[data-legal=false]')].map((b) => b.textContent)"
        ".find((t) => t.startsWith('parallelize') || t.startsWith('reverse'))"
    )
    choose(browser, refused)
    browser.until("!document.querySelector('.wbp .refusal').hidden")
    browser.until("document.querySelector('.wbp .plot .arrow.bad')")
    keep(f"{name}_refused")
    assert steps(page) == []
    told = page.ask("panel.refusal['pairs'][0]")
    program = schedule(name).program
    assert {s.name for s in program.statements} >= {told["source"], told["target"]}
    browser.click(".wbp .witness", 0)
    browser.until("document.querySelector('.wbp .cells b')")
    assert page.becomes("panel.selection")["statement"] == told["source"]
    if texts(browser, ".wbp .repair"):
        browser.click(".wbp .repair", 0)
        browser.until("document.querySelector('.wbp .refusal').hidden")
        assert page.ask("bool(panel.schedule.verdict)")
        assert steps(page)


def test_keys_alone_walk_tile_and_undo(case, browser):
    _, page = case
    fresh(page)
    browser.run("document.querySelector('.wbp svg.plot').focus()")
    for _ in range(2):
        browser.key("n")
    browser.until("document.querySelector('.wbp .cells b')")
    assert "place" in texts(browser, ".wbp .cells")[0]
    before = page.becomes("panel.selection")
    browser.key("ArrowUp")
    browser.key("ArrowRight")
    page.becomes(f"panel.selection != {before!r}")
    assert "point" not in texts(browser, ".wbp .cells")[0]
    browser.run("document.querySelector('.wbp .numbers input').select()")
    browser.type("2")
    browser.run("document.querySelector('.wbp .tile-apply').focus()")
    browser.key("Enter")
    browser.until("!document.querySelector('.wbp .undo').disabled || !document.querySelector('.wbp .refusal').hidden")


def test_two_views_of_a_panel_agree(case, browser):
    _, page = case
    fresh(page)
    browser.run("(window.close_second = window.view(), 0)")
    browser.until(
        "document.querySelectorAll('.wbp').length === 2 && document.querySelectorAll('.wbp')[1].querySelector('.plot')"
    )
    page.ask("panel.apply(wb.split(panel.tree[0]['step'], 2))")
    browser.until("[...document.querySelectorAll('.wbp .undo')].every((b) => !b.disabled)")
    page.ask("setattr(panel, 'selection', {'statement': panel.schedule.program.statements[0].name})")
    browser.until("[...document.querySelectorAll('.wbp')].every((e) => e.querySelector('.plot.has-lit'))")
    seen = "[...document.querySelectorAll('.wbp %s')].map((e) => e.innerText)"
    for part in (".tree", ".code", ".script", ".cells"):
        one, two = browser.run(seen % part)
        assert one == two
    browser.run("window.close_second(), document.querySelectorAll('.wbp')[1].parentElement.remove()")


def test_nothing_was_thrown_on_the_way(case, browser):
    assert [line for line in browser.console if "panel" in line or "wbp" in line or line.startswith("thrown")] == []
