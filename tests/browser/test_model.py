"""A model in the panel: walked by keys, folded, zoomed, opened; axe-core finds nothing serious in both themes."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.test_access import SERIOUS, checked
from tests.viz.views.models.test_graph import BLOCK, RECURRENT, deep

pytestmark = pytest.mark.slow

READY = "document.querySelectorAll('.wbp .drawing .place').length > 3"


def shown(browser, value, **given) -> Bench:
    """A page with the panel of a model."""
    page = Bench(browser, wb.panel(value, **given), whole=False)
    browser.until(READY)
    return page


def place(browser, words: str) -> str:
    """The id of the first place that is called so."""
    called = f"e.getAttribute('aria-label').split(';')[0].includes('{words}')"
    found = f"[...document.querySelectorAll('.wbp .place')].find((e) => {called})"
    browser.until(f"Boolean({found})")
    return browser.run(f"{found}.dataset.id")


def press(browser, key: str, on: str = "") -> None:
    """A key on what has the focus, or on a place."""
    target = f"document.querySelector('.wbp .place[data-id=\"{on}\"]')" if on else "document.activeElement"
    browser.run(f"(() => {{ const e = {target}; e.focus(); e.dispatchEvent(new KeyboardEvent('keydown',"
                f" {{key: {key!r}, bubbles: true, cancelable: true}})) }})()")  # fmt: skip


def test_a_module_opens_and_folds_by_keys(browser, keep):
    page = shown(browser, deep(6, 5))
    keep("model_folded")
    folded = place(browser, "stage0.block0")
    before = browser.run("document.querySelectorAll('.wbp .place').length")
    press(browser, "Enter", folded)
    browser.until(f"document.querySelectorAll('.wbp .place').length === {before + 3}")
    assert "stage0.block0" not in {".".join(path) for path in page.panel.watching.folds}
    press(browser, "f", place(browser, "stage0.block0.twist0"))
    browser.until(f"document.querySelectorAll('.wbp .place').length === {before}")


def test_arrows_walk_from_who_makes_a_value_to_who_takes_it(browser):
    shown(browser, wb.model(BLOCK))
    press(browser, "ArrowDown", place(browser, "matmul"))
    assert "bias_relu" in browser.run("document.activeElement.getAttribute('aria-label')")
    assert "bias_relu" in browser.run("document.querySelector('.wbp .model .detail').textContent")
    press(browser, "ArrowUp")
    assert "matmul" in browser.run("document.activeElement.getAttribute('aria-label')")


def test_a_click_on_a_call_in_a_group_shows_the_operator_of_its_kernel(browser, keep):
    page = shown(browser, wb.graph.fused(wb.model(BLOCK)), sizes={"n": 8})
    keep("model_fused")
    last = "[...document.querySelectorAll('.wbp .place')].at(-1).getAttribute('aria-label')"
    assert "sums over cells" in browser.run(last)
    browser.run(f"document.querySelector('.wbp .place[data-id=\"{place(browser, 'bias_relu')}\"]')"
                ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")  # fmt: skip
    browser.until("document.querySelector('.wbp .plot') && document.querySelector('.wbp .pane.code')")
    assert page.ask("panel.title").startswith("fused_matmul_bias_relu")
    assert page.ask("dict(panel.schedule.program.sizes)")["n"] == 8
    keep("model_opened")


def test_times_are_a_line_that_zooms_and_memory_is_planned_when_it_is_looked_at(browser, keep):
    built = wb.build(wb.model(BLOCK))
    arrays = [np.ones(shape, "f4") for shape in ((4, 64), (64, 32), (32,), (32,))]
    page = shown(browser, built, profile=built.profile(*arrays, seconds=0.01), sizes={"n": 4})
    browser.run("document.querySelector('.wbp [data-name=view-time]').click()")
    browser.until("document.querySelectorAll('.wbp .drawing .place').length === 4")
    keep("model_time")
    width = "Number(document.querySelector('.wbp .place[data-id=t0]').getAttribute('width'))"
    before = browser.run(width)
    browser.run("document.querySelector('.wbp [data-name=in]').click()")
    assert browser.run(width) != before
    browser.run("document.querySelector('.wbp [data-name=fit]').click()")
    assert browser.run(width) == before
    assert page.panel.network["memory"] is None
    browser.run("document.querySelector('.wbp [data-name=view-memory]').click()")
    browser.until("document.querySelectorAll('.wbp .drawing .place').length >= 4")
    keep("model_memory")


def test_a_stage_of_the_passes_is_chosen_and_what_it_changed_coloured(browser, keep):
    page = shown(browser, wb.optimize(wb.model(BLOCK)))
    stages = page.panel.network["stages"]
    assert stages[0] == "before the passes"
    assert len(stages) > 1
    browser.run("(() => { const e = document.querySelector('.wbp [data-name=colours]'); e.selectedIndex = 1;"
                " e.dispatchEvent(new Event('change')) })()")  # fmt: skip
    browser.until("document.querySelector('.wbp .legend').textContent.includes('as before')"
                  " || document.querySelector('.wbp .legend').textContent.includes('new')")  # fmt: skip
    browser.run("(() => { const e = document.querySelector('.wbp [data-name=stage]'); e.selectedIndex = 0;"
                " e.dispatchEvent(new Event('change')) })()")  # fmt: skip
    browser.until("[...document.querySelectorAll('.wbp .place')].some((e) =>"
                  " e.getAttribute('aria-label').startsWith('matmul'))")  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_serious_is_found_by_axe(browser, theme, keep):
    checked(shown(browser, wb.model(RECURRENT)))
    browser.run(f"document.body.dataset.jpThemeLight = '{str(theme == 'light').lower()}'")
    browser.run(f"document.body.style.background = '{'#fff' if theme == 'light' else '#111'}'")
    browser.run("document.querySelectorAll('.wbp .model details').forEach((e) => { e.open = true })")
    assert browser.run(SERIOUS) == []
    keep(f"model_{theme}")
    browser.run("document.body.dataset.jpThemeLight = 'true', document.body.style.background = ''")


def test_in_jupyterlab_a_click_opens_an_operator(lab, browser):
    text = "fn main(x: float32[4, 8], w: float32[8, 4], b: float32[4]) { bias_relu(matmul(x, w), b) }"
    page = lab.again(browser, f"import workbench as wb\npanel = wb.panel(wb.model({text!r}))\npanel")
    page.execute(0)
    browser.until("document.querySelectorAll('.wbp .drawing .place').length === 6")
    found = place(browser, "bias_relu")
    browser.run(f"document.querySelector('.wbp .place[data-id=\"{found}\"]')"
                ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")  # fmt: skip
    browser.until("document.querySelector('.wbp .pane.code') && document.querySelector('.wbp .plot')")
    assert page.becomes("panel.schedule.program.name") == "bias_relu"
