"""After a restart in JupyterLab: the last state stands there and is kept in the file, and a line says what to do."""

from __future__ import annotations

import json

import pytest

from tests.browser.chromium import CONTROL
from tests.browser.hands import APPLIED, texts

pytestmark = pytest.mark.slow

CELL = """import workbench as wb
op = wb.operator("def energy(float(B,N) x, float(N) w) -> (e) { e(b) +=! x(b,i) * x(b,i) * w(i) }")
panel = wb.panel(wb.schedule(op, B=12, N=40))
panel"""
STORED = "window.notebook.content.widgets[0].model.outputs.get(0).data"
LINE = "document.querySelector('.wb-stored-note')"


@pytest.fixture(scope="module")
def page(lab, browser):
    opened = lab.open(browser, "gone", CELL)
    opened.execute(0)
    opened.panel()
    return opened


def test_what_is_stored_follows_the_panel_and_the_panel_stays_as_it_is(page, browser):
    before = browser.run(f"{STORED}['image/png'].length")
    browser.run("document.querySelector('.wbp').dataset.mine = 'the same element'")
    page.ask("panel.apply(wb.tile(b=4, i=8))")
    browser.until(APPLIED)
    browser.until(f"{STORED}['text/plain'].includes('i_o')")
    assert browser.run(f"{STORED}['image/png'].length") != before
    assert browser.run("document.querySelectorAll('.jp-Notebook .wbp').length") == 1
    assert browser.run("document.querySelector('.wbp').dataset.mine") == "the same element"


def test_after_a_restart_the_last_state_stands_and_a_line_says_what_to_do(page, browser, keep_window):
    said = list(browser.console)
    page.restart()
    browser.until("document.querySelector('.wbp .gone').hidden === false")
    assert texts(browser, ".wbp .gone")[0] == "kernel gone: this is what it showed last; run the cell again"
    assert "wb.tile(b=4, i=8)" in browser.run("document.querySelector('.wbp .script').textContent")
    assert browser.run("document.querySelector('.wbp .undo').closest('[inert]') !== null")
    enabled = "['undo', 'copy'].map((n) => window.jupyterapp.commands.isEnabled('tensor-workbench:' + n))"
    assert browser.run(enabled) == [False, True]
    browser.click(".wbp .plot [data-point]")
    browser.run("document.querySelector('.wbp svg.plot').focus()")
    browser.key("z", CONTROL)
    browser.key("m")
    keep_window("lab_gone")
    assert [line for line in browser.console if line not in said and "Canceled future" not in line] == []


def test_the_file_has_the_last_state_and_the_cell_makes_it_live_again(page, browser, lab, keep_window):
    page.save()
    kept = json.loads((lab.folder / "gone.ipynb").read_text())["cells"][0]["outputs"][0]["data"]
    assert "i_o" in "".join(kept["text/plain"])
    again = lab.open_file(browser, "gone")
    browser.until(f"{LINE} && !{LINE}.hidden")
    assert browser.run(f"{LINE}.textContent").startswith("kernel gone: ")
    assert "i_o" in browser.run("document.querySelector('.wb-live-or-stored > img').alt")
    keep_window("lab_gone_reopened")
    again.execute(0)
    again.panel()
    assert browser.run(f"{LINE}") is None
    assert browser.run("document.querySelector('.wbp .gone').hidden")
