"""A study in a panel: stored ones in a bare page, one that runs in a real JupyterLab."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.chromium import Browser
from tests.browser.hands import texts
from tests.tune.support import SIZES, SMALL
from workbench.runtime.measuring.machine_code import why_unreadable
from workbench.tune import Database
from workbench.tune.measuring import runner
from workbench.tune.trials import fastest

TITLES = [
    "trials, and the best so far", "which decisions matter", "predicted beside measured", "how well the model ranks",
    "below the ceilings", "decision by decision",
]  # fmt: skip
PANE = ".wbp .trials"
DOTS = f"{PANE} figure:first-child [aria-label=dot]"
# The distances of the line of the best so far from the top of its chart.
PATH = f"document.querySelector('{PANE} [aria-label=line] path').getAttribute('d')"
BEST = f"[...{PATH}.matchAll(/[,V]([\\d.]+)/g)].map((m) => +m[1])"
SPACE = """wb.schedule(odd, N=24, M=40) | wb.tile({{"R/n": wb.choose({rows})}}) \\
    | wb.tile({{"R/m": wb.choose({columns})}}) | wb.choose(wb.unroll("R/m_i"), None, name="unrolled")"""


def pane(browser: Browser, name: str) -> str:
    return browser.run(f"document.querySelector('{PANE}').dataset.{name}")


def button(browser: Browser, text: str) -> None:
    """Click a button of the pane by its text."""
    found = f"[...document.querySelectorAll('{PANE} button')].find((b) => b.textContent === {json.dumps(text)})"
    browser.until(found)
    browser.run(f"{found}.click()")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Eighteen trials of which the database knows."""
    database = tmp_path_factory.mktemp("stored") / "trials.sqlite"
    start = wb.schedule(SMALL, **SIZES) | wb.tile({"R/n": wb.choose(1, 2, 3, 4, 6, 12)})
    sketch = start | wb.tile({"R/m": wb.choose(4, 8, 20)}) | wb.choose(wb.unroll("R/m_i"), None, name="unrolled")
    wb.autotune(sketch, trials=18, database=database, seed=1).result()
    return wb.autotune(sketch, trials=18, database=database, seed=1)


class Estimating(runner.Runner):
    """A runner without a GPU, whose model needs no compiler: of two threads each takes half as long, in both parts."""

    ranks = True

    def open(self, assignment):
        self.sketch = assignment.sketch

    def measure(self, requests, best):
        for request in requests:
            schedule = request.schedule or self.sketch.at(request.point)
            seconds = 1e-3 / request.point.get("threads", 4) + 1e-4 / request.point.get("init", 4)
            yield runner.Result(
                request.number, "estimated", "1 x odd: bound by memory, 20 registers", key=schedule.key,
                record=schedule.to_json(), steps=schedule.steps(), estimate=seconds,
            )  # fmt: skip

    def again(self, requests, patience):
        for result in self.measure(requests, None):
            message = f"estimated; executed by the processor, its results agree with the oracle\n{result.message}"
            yield replace(result, message=message, run_seconds=1.0)

    def close(self):
        pass


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """A stored study of a space for CUDA on a machine without a GPU."""
    start = wb.schedule(SMALL, **SIZES) | wb.decompose_reduction("R")
    size, init = wb.choose(4, 8, 24, name="threads"), wb.choose(4, 12, name="init")
    cut = start | wb.split("R.init/n", init) | wb.bind("R.init/n_o", "block.x") | wb.bind("R.init/n_i", "thread.x")
    sketch = cut | wb.split("R/n", size) | wb.bind("R/n_o", "block.x") | wb.bind("R/n_i", "thread.x")
    database = tmp_path_factory.mktemp("ranked") / "trials.sqlite"
    given = {"target": "h200", "searcher": "grid", "database": database, "runner": Estimating(), "seed": 1}
    wb.autotune(sketch, trials=6, **given).result()
    return wb.autotune(sketch, trials=0, **given)


@pytest.fixture
def page(study, browser, what_is_said_from_now_on):
    made = Bench(browser, wb.panel(study, panes=("trials", "code"), baselines={"PyTorch": 2e-5}), whole=False)
    browser.until(f"document.querySelector('{DOTS} circle')")
    return made


def test_a_stored_study_is_drawn(study, browser, measured):
    begun = time.perf_counter()
    again = wb.autotune(study.assignment.sketch, trials=0, database=Database(study.database.url), seed=1)
    panel = wb.panel(again, panes=("trials",))
    opened = time.perf_counter() - begun
    Bench(browser, panel, whole=False)
    browser.until(f"document.querySelector('{DOTS} circle')")
    measured["a stored study of 18 trials: until it is opened, until it is drawn, ms"] = [
        round(1000 * opened), round(1000 * (time.perf_counter() - begun)),
    ]  # fmt: skip
    assert pane(browser, "trials") == "18"


def test_the_charts_show_every_trial_and_the_best_never_gets_worse(page, study, browser):
    assert len(texts(browser, f"{DOTS} circle")) == 18
    titles = texts(browser, f"{PANE} figcaption")
    assert [t for t in TITLES if t in titles] == titles
    assert {TITLES[0], TITLES[1], TITLES[-1]} <= {*titles}  # the others want predictions, or sums
    heights = browser.run(BEST)
    assert len(heights) > 2
    assert heights == sorted(heights)  # downwards: less time
    assert "PyTorch" in browser.run(f"document.querySelector('{PANE} figure').textContent")


def test_a_click_shows_the_trial_in_every_pane(page, study, browser):
    number = study.trials[5].number
    browser.run(f"document.querySelector('{DOTS} circle:nth-child({number})').scrollIntoView({{block: 'center'}})")
    box = browser.box(f"{DOTS} circle:nth-child({number})")
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    browser.move(at)
    browser.until(f"document.querySelector('{PANE} [aria-label=tip]')?.textContent.includes('trial ')")
    browser.press(at)
    browser.until(f"document.querySelector('{PANE} .told b')")
    shown = int(browser.run(f"document.querySelector('{PANE} .told b').textContent").split()[1])
    assert abs(shown - number) <= 1  # points may stand close together
    assert page.ask("str(panel.schedule)") == str(study.schedule(shown))
    told = browser.run(f"document.querySelector('{PANE} .told').textContent")
    assert ("hot loop: " in told) is not bool(why_unreadable())  # what the compiler made of it
    button(browser, "best")
    best = fastest(t for t in study.trials if t.source == "search").number
    browser.until(f"document.querySelector('{PANE} .told b').textContent === 'trial {best}'")
    assert page.ask("panel.schedule.key") == study.schedule(best).key
    button(browser, "\u25b8" if best < 18 else "\u25c2")
    browser.until(f"document.querySelector('{PANE} .told b').textContent !== 'trial {best}'")
    button(browser, "code against the best")
    browser.until(f"document.querySelector('{PANE} .changes .cm-editor')")
    assert "(best: " in browser.run(f"document.querySelector('{PANE} .decisions').textContent")


def test_one_filter_drives_all_charts(page, study, browser):
    dots = f"[...document.querySelectorAll('{DOTS} circle')]"
    faint = f"{dots}.filter((c) => +c.getAttribute('fill-opacity') < 0.2).length"
    option = f"document.querySelector('{PANE} .option')"
    assert browser.run(faint) == 0
    browser.run(f"{option}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    kept = sum(trial.point["tile_R_n"] == 1 for trial in study.trials if trial.source == "search")
    assert browser.run(faint) == 18 - kept
    assert f"{kept} of 18" in browser.run(f"document.querySelector('{PANE} .sieve').textContent")
    lines = f"[...document.querySelectorAll('{PANE} figure:last-child [aria-label=line]')][0]"
    drawn = browser.run(f"[...{lines}.querySelectorAll('path')].map((p) => p.getAttribute('stroke-opacity'))")
    assert sum(float(one) > 0.5 for one in drawn) == kept
    button(browser, "all")
    assert browser.run(faint) == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_charts_in_both_themes(theme, page, browser, keep):
    browser.run(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
    button(browser, "best")
    browser.until(f"document.querySelector('{PANE} .told b')")
    assert keep(f"study_{theme}").stat().st_size > 20_000
    browser.run("document.body.dataset.jpThemeLight = 'true'")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_ranked_study_never_calls_an_estimate_a_time(theme, ranked, browser, keep, what_is_said_from_now_on):
    assert {t.outcome for t in ranked.trials} == {"estimated"}
    Bench(browser, wb.panel(ranked, panes=("trials", "code"), baselines={"PyTorch": 2e-5}), whole=False)
    browser.until(f"document.querySelector('{DOTS} circle')")
    browser.run(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
    said = browser.run(f"document.querySelector('{PANE}').textContent")
    assert "ranked without a GPU" in said
    assert "nothing was measured" in said
    assert "measured 0" not in said
    assert "the default recipe" not in said.partition("estimates")[0]  # no speedup
    assert "PyTorch" not in said  # what somebody measured is not drawn beside estimates
    assert {"predicted beside measured", "how well the model ranks"}.isdisjoint(texts(browser, f"{PANE} figcaption"))
    assert "6 trials" in said  # not "6 of 0": it was opened with trials=0
    ticks = texts(browser, f"{PANE} figure:first-child [aria-label='x-axis tick label'] text")
    assert ticks == ["1", "2", "3", "4", "5", "6"]
    button(browser, "best")
    browser.until(f"document.querySelector('{PANE} .told b')")
    browser.until("document.querySelector('.wbp .code .cm-editor')")
    assert "threadIdx.x" in browser.run("document.querySelector('.wbp .code').textContent")
    told = browser.run(f"document.querySelector('{PANE} .told').textContent")
    assert "estimated" in told
    assert "executed by the processor: right" in told
    assert "bound by memory" in told
    button(browser, "\u25c2")
    browser.until(f"document.querySelector('{PANE} .told b').textContent === 'trial 5'")
    button(browser, "code against the best")
    browser.until(f"document.querySelector('{PANE} .changes .cm-editor')")
    assert "threadIdx.x" in browser.run(f"document.querySelector('{PANE} .changes').textContent")
    assert keep(f"study_ranked_{theme}").stat().st_size > 20_000
    browser.run("document.body.dataset.jpThemeLight = 'true'")


def test_a_study_that_runs_is_watched_paused_looked_at_and_stopped(lab, browser, measured, keep_window):
    rows, columns = (", ".join(map(str, found)) for found in ((1, 2, 3, 4, 6, 8, 12, 24), (2, 4, 5, 8, 10, 20, 40)))
    cell = f"""import tempfile, workbench as wb
odd = wb.operator({SMALL.text!r})
sketch = {SPACE.format(rows=rows, columns=columns)}
study = wb.autotune(sketch, trials=100, seed=1, database=tempfile.mkdtemp() + "/trials.sqlite")
study"""
    page = lab.open(browser, "tuned", cell)
    page.execute(0)
    browser.until(f"document.querySelector('{PANE}')?.dataset.trials > 8")
    assert pane(browser, "state") == "running"
    keep_window("study_running")
    button(browser, "pause")
    browser.until(f"document.querySelector('{PANE}').dataset.state === 'paused'")
    before = page.ask("len(study.trials)")
    button(browser, "best")
    browser.until(f"document.querySelector('{PANE} .told b')")
    assert page.ask("str(study.panel.schedule) in [str(study.schedule(t)) for t in study.trials if t.schedule]")
    time.sleep(1.0)
    assert page.ask("len(study.trials)") <= before + 8  # a round that was begun is finished
    button(browser, "resume")
    browser.until(f"document.querySelector('{PANE}').dataset.state === 'running'")
    browser.until(f"document.querySelector('{PANE}').dataset.trials > {before + 9}")  # some come after the best
    waits = []
    for way in ("\u25b8", "\u25c2", "\u25b8"):  # the study goes on meanwhile
        told = browser.run(f"document.querySelector('{PANE} .told b').textContent")
        begun = time.perf_counter()
        button(browser, way)
        browser.until(f"document.querySelector('{PANE} .told b').textContent !== {json.dumps(told)}")
        waits.append(round(1000 * (time.perf_counter() - begun)))
    measured["a click on a trial while the study runs, until it is shown, ms"] = waits
    button(browser, "stop")
    browser.until(f"['stopped', 'finished'].includes(document.querySelector('{PANE}').dataset.state)")
    assert page.ask("study.state") in ("stopped", "finished")
    assert page.ask("len(study.trials)") > before
