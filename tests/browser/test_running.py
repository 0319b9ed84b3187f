"""How long one waits: while a cell runs, for the first picture, for a step, with 100 000 instances."""

from __future__ import annotations

import json

import pytest

from tests.browser.chromium import Browser
from tests.browser.hands import POINTS, filtered, fresh, offered, some_offer
from tests.browser.lab import Page
from tests.viz.panels.values import SCHEDULES

# Each runs until the test says that it may end: however slow the machine is, the questions come while it runs.
RUNNING = {
    "a cell that sleeps": "time.sleep(0.05)",
    "a cell that computes": "sum(range(1000))",
    "a cell that schedules": "wb.autoschedule(wb.ops.matmul, M=64, N=64, K=64)",
}
UNTIL = "import os, time\nwhile not os.path.exists('{end}'): {body}"
# Milliseconds from a click to the first frame in which a condition holds.
TIMED = """new Promise((done, failed) => {
    const began = performance.now(), end = began + 60000;
    const look = () => (%s) ? done(performance.now() - began)
        : performance.now() > end ? failed(new Error('not within 60 s')) : setTimeout(look, 4);
    %s; look() })"""
PROMPT = "document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')[{}].textContent.includes('*')"
UNDONE = "document.querySelector('.wbp .undo').disabled"


def click_step(text: str) -> str:
    """A script that clicks the offer with a text."""
    offers = "[...document.querySelectorAll('.wbp .offer button')]"
    return f"{offers}.find((b) => b.textContent === {json.dumps(text)}).click()"


@pytest.fixture(scope="module")
def page(lab, browser) -> Page:
    cells = [UNTIL.format(end=f"end{i}", body=body) for i, body in enumerate(RUNNING.values())]
    made = lab.open(browser, "busy", f"import workbench as wb\npanel = wb.panel({SCHEDULES['matmul']})\npanel", *cells)
    made.execute(0)
    made.panel()
    return made


def answers(browser: Browser, step: str) -> list[float]:
    """Milliseconds that a step and its undo take."""
    taken = browser.run(TIMED % (f"!{UNDONE}", click_step(step)))
    undone = browser.run(TIMED % (UNDONE, "document.querySelector('.wbp .undo').click()"))
    browser.until("document.querySelector('.wbp').matches('[data-place=\"0\"]:not([data-offers=\"0\"]):not(.busy)')")
    return [taken, undone]


@pytest.mark.parametrize("what", RUNNING)
def test_steps_are_answered_within_a_second_while_a_cell_runs(what, page, browser, lab, measured):
    fresh(page)
    step = some_offer(browser, "interchange", "vectorize", "parallelize", legal=True)
    filtered(browser, step)
    idle = max(answers(browser, step))
    number = list(RUNNING).index(what)
    page.execute(number + 1, wait=False)
    runs = PROMPT.format(number + 1)
    try:
        browser.until(runs)
        times = [answers(browser, step) for _ in range(3)]
        assert browser.run(runs)
    finally:
        (lab.folder / f"end{number}").touch()
    browser.until(f"!({runs})")
    measured[f"{what}: answers to steps and undos, ms"] = [[round(t) for t in both] for both in times]
    # A machine that is busy with other things is slow without a cell as well.
    assert min(max(both) for both in times) < max(1000, 4 * idle)


@pytest.mark.parametrize("name", ["matmul", "convolution"])
def test_first_picture_and_a_steps_round_trip(name, lab, browser, measured):
    page = lab.open(browser, f"first_{name}", "import workbench as wb", f"panel = wb.panel({SCHEDULES[name]})", "panel")
    page.execute(0)
    page.execute(1)
    shown = browser.run(
        TIMED
        % (
            "document.querySelector('.wbp .plot .point')",
            "window.notebook.content.activeCellIndex = 2, window.ran = new Date(),"
            " window.jupyterapp.commands.execute('notebook:run-cell').then(() => window.ended = performance.now())",
        )
    )
    measured[f"{name}: from running the cell to the first picture, ms"] = round(shown)
    browser.until("window.ended")
    page.panel()
    times = []
    for text in offered(browser, "interchange", "vectorize", "parallelize", legal=True)[:3]:
        filtered(browser, text)
        times.append(browser.run(TIMED % (f"!{UNDONE}", click_step(text))))
        browser.run(TIMED % (UNDONE, "document.querySelector('.wbp .undo').click()"))
        filtered(browser, "")
        browser.until("document.querySelector('.wbp').dataset.offers !== '0'")
    measured[f"{name}: a step's round trip, ms"] = [round(t) for t in times]


LARGE = """import workbench as wb
large = wb.operator("def large(float(N,M) x) -> (y) { y(i,j) = 2 * x(i,j) }")
panel = wb.panel(wb.schedule(large, N=400, M=260), sizes={"N": 400, "M": 260})"""
FRAMES = """new Promise((done) => {
    const svg = document.querySelector('.wbp svg.plot'), box = svg.getBoundingClientRect(), times = [];
    let last = performance.now(), left = 40;
    const frame = (now) => {
        times.push(now - last); last = now;
        if (!left--) return done(times.slice(1).sort((a, b) => a - b));
        svg.dispatchEvent(new WheelEvent('wheel', {deltaY: left % 20 < 10 ? -1 : 1, ctrlKey: true, bubbles: true,
            cancelable: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2}));
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame) })"""


def worked(browser: Browser) -> float:
    """Milliseconds of processor time that the page's thread has used."""
    found = {m["name"]: m["value"] for m in browser.call("Performance.getMetrics")["metrics"]}
    return 1000 * found["TaskDuration"]


def test_a_hundred_thousand_instances(lab, browser: Browser, measured, keep_window):
    page = lab.open(browser, "large", LARGE, "panel")
    page.execute(0)
    assert page.ask("sum(s['points'][1] for s in panel.domain['statements'])") >= 100_000
    began = browser.run("performance.now()")
    page.execute(1)
    browser.until("document.querySelector('.wbp .plot-box canvas')")
    measured["104 000 instances: first picture, ms"] = round(browser.run("performance.now()") - began)
    browser.call("Performance.enable", timeDomain="threadTicks")
    before = worked(browser)
    times = browser.run(FRAMES)
    frame = (worked(browser) - before) / len(times)
    measured["104 000 instances: a frame while zooming, ms of work, median ms of time"] = [frame, round(times[20], 1)]
    assert frame < 33  # work, not time: other programs of the machine do not count
    hover = browser.run("""(() => {
        const svg = document.querySelector('.wbp svg.plot'), b = svg.getBoundingClientRect(), times = [];
        for (let i = 1; i < 30; i++) {
            const t = performance.now(), at = {clientX: b.x + b.width * i / 31, clientY: b.y + b.height * i / 31};
            svg.dispatchEvent(new PointerEvent('pointermove', at));
            document.body.offsetHeight; times.push(performance.now() - t);
        }
        return times.sort((a, b) => a - b)[15] })()""")
    measured["104 000 instances: hover to light, ms"] = round(hover, 1)
    assert not browser.run(f"document.querySelectorAll({json.dumps(POINTS)}).length")
    keep_window("large")
