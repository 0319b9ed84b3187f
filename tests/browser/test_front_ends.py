"""The same ESM outside JupyterLab: Notebook 7 and marimo, each started here and driven as JupyterLab is."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import PATIENCE, Browser, BrowserError
from tests.browser.hands import APPLIED, POINTS, drag_on_plot, steps
from tests.browser.lab import Page, missing
from tests.support import ROOT
from tests.viz.panels.values import SCHEDULES

pytestmark = pytest.mark.slow

CELLS = [f"import workbench as wb\n{name} = wb.panel({text})\n{name}" for name, text in SCHEDULES.items()]
APP = """import marimo
app = marimo.App()

@app.cell
def _():
    import marimo as mo
    import workbench as wb
    return mo, wb
""" + "".join(
    f"""
@app.cell
def _(mo, wb):
    mo.ui.anywidget(wb.panel({text}))
    return
"""
    for text in SCHEDULES.values()
)  # fmt: skip
# A legal step of the n-th panel is clicked; marimo shows widgets in shadow trees, which selectors do not enter.
PANELS = """(() => { const found = [], look = (tree) => {
    for (const e of tree.querySelectorAll('*')) {
        if (e.matches('.wbp')) found.push(e);
        else if (e.shadowRoot) look(e.shadowRoot);
    } };
    look(document);
    return window.panels = found })()"""
LEGAL = "window.panels[%d].querySelector('.offer button[data-legal=true]')"

# Notebook 7 shuts outputs that it takes for long into a box of a few lines: a panel is seen whole there too.
SHUT_IN_A_BOX = """(() => {
    const area = document.querySelector('.jp-Cell-outputArea:has(.wbp)');
    area.closest('.jp-CodeCell').classList.add('jp-mod-outputsScrolled');
    return area.clientHeight >= area.querySelector('.wbp').offsetHeight })()"""


def take_a_step(browser: Browser, nth: int) -> str:
    """Wait for the n-th panel, click a legal step of its list, wait until it is taken; its text."""
    browser.until(f"{PANELS}.length > {nth} && window.panels[{nth}].querySelector('.plot') && {LEGAL % nth}")
    text = browser.run(f"{LEGAL % nth}.textContent")
    browser.run(f"{LEGAL % nth}.click()")
    browser.until(f"!window.panels[{nth}].querySelector('.undo').disabled")
    assert f"wb.{text}" in browser.run(f"window.panels[{nth}].querySelector('.script').textContent")
    return text


def test_notebook_7_shows_it_and_a_drag_is_a_step(notebook7, browser, keep_window):
    name = notebook7.write("seven", *CELLS)
    notebook7.visit(browser, f"notebooks/{name}")
    browser.until("window.notebook = window.jupyterapp.shell.currentWidget")
    browser.until("window.notebook.content && window.notebook.content.activeCell")
    page = Page(browser)
    page.execute(0)
    page.panel()
    page.ask("globals().update(panel=matmul)")
    drag_on_plot(browser, "tile", (2, 3))
    browser.until(APPLIED)
    assert steps(page)[-1].startswith("tile(")
    browser.click(POINTS, 1)
    assert page.becomes("panel.selection")["statement"]
    for nth, program in enumerate(SCHEDULES):
        page.execute(nth)
        step = take_a_step(browser, nth)
        assert page.ask(f"[str(s) for s in {program}.schedule.trace]") == [step]
    assert browser.run(SHUT_IN_A_BOX)
    page.command("tensor-workbench:show")
    browser.until("document.querySelector('#tensor-workbench-side .wbp .plot')")
    keep_window("notebook7")


@pytest.fixture(scope="module")
def marimo(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    if reason := missing("marimo"):
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("marimo")
    (folder / "app.py").write_text(APP)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["marimo", "run", "app.py", "--headless", "--no-token", "--host=127.0.0.1", f"--port={port}"]
    own = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "PYTHONPATH": str(ROOT)}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command], env={**os.environ, **own}, cwd=folder, stdout=log, stderr=log
        )
    yield listening(process, f"http://127.0.0.1:{port}", folder / "log")
    process.terminate()
    process.wait(20)


def listening(process: subprocess.Popen[bytes], address: str, log: Path) -> str:
    """The address, once the server answers there."""
    from urllib.error import URLError
    from urllib.request import urlopen

    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            urlopen(address, timeout=10).close()
            return address
        except (URLError, OSError):
            time.sleep(0.1)
    raise BrowserError(f"marimo did not start:\n{log.read_text()[-2000:]}")


def test_marimo_shows_it_and_a_step_is_taken(marimo, browser, keep_window):
    browser.go(marimo)
    for nth in range(len(SCHEDULES)):
        take_a_step(browser, nth)
    browser.run("(window.panel = window.panels[0], 0)")
    browser.run("window.panel.querySelector('[data-point]').scrollIntoView({block: 'center'})")
    x, y = browser.run(
        "(() => { const b = window.panel.querySelector('[data-point]').getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2] })()"
    )
    browser.move((x, y))
    name = json.dumps(browser.run("window.panel.querySelector('[data-point]').getAttribute('data-point')"))
    browser.until(f"window.panel.querySelector('.cells b').textContent.endsWith({name})")
    ground = browser.run("getComputedStyle(window.panel).backgroundColor")
    assert ground == "rgb(255, 255, 255)", "colours of the views reach into the shadow tree"
    keep_window("marimo")
