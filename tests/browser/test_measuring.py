"""What is shown is built, checked and timed by a click or a key, while the panel answers."""

from __future__ import annotations

import time

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.hands import texts
from workbench.runtime.measuring import roofs
from workbench.tune.measuring.runner import Limits
from workbench.viz.panels.measuring.measuring import Measuring

WINDOW = wb.operator("""
def window(float(T,D) Q, float(T+7,D) K) -> (S) {
    S(t,w) +=! Q(t,d) * K(t+w,d) where w in 0:8
}
""")
READY = "document.querySelector('.wbp .head .time').textContent.includes('NumPy')"


@pytest.fixture
def bench(browser):
    """A panel of an operator that no library has."""
    made = wb.schedule(WINDOW, T=64, D=32)
    return Bench(browser, wb.panel(made, panes=("code", "tree", "history", "roofline")), whole=False)


def taken(bench: Bench) -> None:
    """Two steps of which the second is undone."""
    bench.ask("panel.apply(wb.interchange('S/w', 'S/t'))")
    bench.ask("panel.apply(wb.split('S/d', 8))")


def test_a_click_measures_and_every_line_of_the_history_gets_its_time(bench, browser, keep):
    taken(bench)
    browser.until("document.querySelectorAll('.wbp .moment').length === 3")
    browser.click(".wbp .measure-now")
    browser.until(READY, 60)
    assert "naive" in texts(browser, ".wbp .head .time")[0]
    assert len(texts(browser, ".wbp .history li .time")) == 2, "this schedule and the naive one"
    assert texts(browser, ".wbp .history .hardware")[0].startswith(("hardware, a call: ", "no hardware counters ("))
    browser.click(".wbp .measure-all")
    browser.until("document.querySelectorAll('.wbp .history li .time b').length === 3", 60)
    assert not texts(browser, ".wbp .measure-all"), "nothing is left to be measured"
    bench.ask("panel.undo()")
    bench.ask("panel.redo()")
    assert len(texts(browser, ".wbp .history li .time b")) == 3, "undo and redo keep the times"
    keep("measured")


def test_a_small_kernel_is_shown_soon_after_the_click(bench, browser, measured):
    browser.point_at(".wbp .measure-now")
    bench.becomes("bool(panel.measuring and panel.measuring._benches)")
    for name in ("first", "second"):
        bench.ask("panel.apply(wb.interchange('S/w', 'S/t'))" if name == "second" else "None")
        browser.until(f"document.querySelector('.wbp').dataset.place === '{int(name == 'second')}'")
        begun = time.perf_counter()
        browser.click(".wbp .measure-now")
        browser.until("/\\d [mun]?s/.test(document.querySelector('.wbp .head .time').textContent)", 60)
        measured[f"{name} schedule measured after the click, ms"] = round(1000 * (time.perf_counter() - begun))
        browser.until("!document.querySelector('.wbp .measure-now').textContent.includes('stop')", 60)
    browser.until(READY, 60)


def test_the_key_measures_and_stops(browser):
    made = wb.schedule(wb.ops.matmul, M=1400, N=1400, K=1400)
    bench = Bench(browser, wb.panel(made, panes=("tree", "history")), whole=False)
    browser.until("document.querySelector('.wbp .tree .row')")
    browser.run("document.querySelector('.wbp .history .pin').focus()")
    browser.key("m")
    browser.until("document.querySelector('.wbp .measure-now').textContent.includes('stop')")
    bench.becomes("panel.measured['about']", 60)
    assert texts(browser, ".wbp .head .time") == ["measuring …"]
    browser.key("m")
    browser.until("document.querySelector('.wbp .measure-now').textContent.includes('measure')")
    assert bench.ask("panel.measured['said']").startswith("stopped: ")
    assert texts(browser, ".wbp .head .time") == [""]


def test_the_roofline_has_measured_points_below_the_possible_ones(bench, browser, keep, monkeypatch):
    known = roofs.Ceilings(2e11, {"L2": 3e11, "L3": 1e11, "memory": 2e10})
    monkeypatch.setattr(roofs, "known_ceilings", lambda: known)
    taken(bench)
    browser.until("document.querySelectorAll('.wbp .roofline .trial').length === 3")
    assert not texts(browser, ".wbp .roofline path.measured")
    browser.click(".wbp .measure-all")
    browser.until("document.querySelectorAll('.wbp .roofline path.measured').length === 3", 90)
    assert "diamonds: measured" in texts(browser, ".wbp .roofline .note")[0]
    ends = "(e) => [e.y1, e.y2].map((v) => v.baseVal.value)"
    at = browser.run(f"[...document.querySelectorAll('.wbp .roofline .thread')].map({ends})")
    assert len(at) == 3
    assert all(low > high for high, low in at), "nothing is faster than the ceiling that holds it"
    keep("roofline_measured")


def test_what_went_wrong_stands_in_the_place_of_a_time_in_both_themes(browser, keep):
    made = wb.panel(wb.schedule(wb.ops.matmul, M=1400, N=1400, K=1400), panes=("code", "tree", "history"))
    bench = Bench(browser, made, whole=False)
    bench.panel.measuring = Measuring(made, Limits(run_seconds=0.05))
    bench.ask("panel.apply(wb.interchange('C/k', 'C/n'))")
    browser.until("document.querySelectorAll('.wbp .moment').length === 2")
    browser.click(".wbp .measure-all")
    browser.until("document.querySelectorAll('.wbp .history li .time.bad').length === 2", 60)
    browser.until("document.querySelector('.wbp .measure-now').textContent.includes('measure')", 60)
    assert texts(browser, ".wbp .head .time.bad") == ["\u2715 timed out"]
    assert "did not answer within" in browser.run("document.querySelector('.wbp .head .time').title")
    for theme in ("light", "dark"):
        browser.run(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
        keep(f"measured_{theme}")
    browser.run("document.body.dataset.jpThemeLight = 'true'")


def test_in_jupyterlab_results_arrive_while_a_cell_runs(in_lab, lab, browser, keep):
    page = in_lab("matmul")
    browser.click(".wbp .measure-now")
    browser.until(READY, 90)
    waits = "while not os.path.exists('end_measuring'): time.sleep(0.05)"
    page.insert(f"import os, time; panel.apply(wb.tile(m=6, n=16))\n{waits}")
    page.execute(1, wait=False)
    try:
        browser.until("document.querySelector('.wbp').dataset.place === '1'", 60)
        browser.until("document.querySelector('.wbp .undo').disabled === false")
    finally:
        (lab.folder / "end_measuring").touch()
    assert page.ask("len(panel.measurements)") == 1
    browser.click(".wbp .measure-now")
    browser.until(READY, 60)
    assert page.ask("len(panel.measurements)") == 2
    keep("measured_lab")


def test_a_kernel_that_is_gone_is_told_and_one_that_answers_is_not(bench, browser, keep):
    shown = "document.querySelector('.wbp .gone').hidden === false"
    browser.run("(window.tell('comm_live_update'), 0)")
    browser.until(f"!({shown})")
    browser.run("(window.sent = [], window.model.send = (what) => window.sent.push(what.name), 0)")
    browser.run("(window.tell('comm_live_update'), window.outbox.splice(0), 0)")
    browser.until(shown)
    assert browser.run("document.querySelector('.wbp .gone').textContent").startswith("kernel gone: ")
    asked = browser.run("window.sent.length")
    for selector in (".measure-now", ".undo", ".redo", ".save-state"):
        assert browser.run(f"document.querySelector('.wbp {selector}').closest('[inert]') !== null"), selector
    browser.click(".wbp .measure-now")
    browser.click(".wbp .tree .row")
    browser.until("document.querySelector('.wbp .tree .node.active')")  # what is drawn can still be looked at
    browser.run("document.querySelector('.wbp .tree [role=treeitem]').focus()")
    for key in ("m", "Control+z"):
        browser.key(key)
    assert browser.run("window.sent.length") == asked
    assert browser.run("window.outbox") == [], "nothing is told to a kernel that is gone"
    keep("gone")
