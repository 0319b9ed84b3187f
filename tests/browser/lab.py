"""A JupyterLab on loopback with notebooks of the tests, and what one does in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.browser.chromium import Browser, BrowserError
from tests.support import ROOT

PANEL = ".wbp"
NOTEBOOK = "[...window.jupyterapp.shell.widgets('main')].find((w) => w.content && w.content.activeCell)"


def notebook(*cells: str) -> dict[str, Any]:
    """A notebook of code cells."""
    made = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
        for i, text in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


class Lab:
    """A server in a folder of its own; nothing of the user's settings is read or written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        home = folder / "home"
        settings = folder / "prefix" / "share" / "jupyter" / "lab" / "settings"
        for made in (home, settings):
            made.mkdir(parents=True)
        news = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
        (folder / "settings.json").write_text(json.dumps(news))
        own = {
            "HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config"), "IPYTHONDIR": str(home / "ipython"),
            "JUPYTER_DATA_DIR": str(home / "data"), "PYTHONPATH": str(ROOT),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        }  # fmt: skip
        self._log = (folder / "lab.log").open("w")
        self._process = subprocess.Popen(
            [
                sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", "--port=0", "--no-browser", "--allow-root",
                f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=", "--ServerApp.password=",
                "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
                "--LabApp.expose_app_in_browser=True",
            ],
            env={**os.environ, **own}, stdout=self._log, stderr=subprocess.STDOUT, cwd=folder,
        )  # fmt: skip
        self.address = self._listening()

    def _listening(self) -> str:
        end = time.monotonic() + 90
        while time.monotonic() < end:
            text = (self.folder / "lab.log").read_text()
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/lab", text):
                return f"http://127.0.0.1:{found[1]}"
            if self._process.poll() is not None:
                raise BrowserError(f"JupyterLab ended:\n{text[-2000:]}")
            time.sleep(0.1)
        raise BrowserError("JupyterLab did not start within 90 s")

    def open(self, browser: Browser, name: str, cells: Sequence[str]) -> Page:
        """A notebook with these cells, opened with a kernel that has answered."""
        (self.folder / f"{name}.ipynb").write_text(json.dumps(notebook(*cells)))
        browser.go(f"{self.address}/lab/tree/{name}.ipynb?reset")
        browser.until("document.querySelector('.jp-Notebook .jp-CodeCell .cm-content')", 90)
        browser.until("!document.querySelector('#jupyterlab-splash')")
        browser.until(f"window.notebook = {NOTEBOOK}", 60)
        browser.run(
            "(async () => { const c = window.notebook.sessionContext; await c.ready; await c.session.kernel.info; })()"
        )
        return Page(browser)

    def close(self) -> None:
        """End the server, and with it the kernels it started."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(20)
        self._log.close()


class Page:
    """An open notebook."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        browser.run(
            "window.jupyterapp.commands.isToggled('application:toggle-left-area') &&"
            " window.jupyterapp.commands.execute('application:toggle-left-area')"
        )

    def execute(self, cell: int, *, wait: bool = True) -> None:
        """Run one cell."""
        self.browser.run(
            "(async () => { const n = window.notebook.content;"
            f" window.jupyterapp.shell.activateById(window.notebook.id); n.activeCellIndex = {cell}; n.deselectAll();"
            " window.ran = window.jupyterapp.commands.execute('notebook:run-cell'); })()"
        )
        if wait:
            self.browser.run("window.ran")

    def ask(self, expression: str) -> Any:
        """The value of a Python expression in the kernel, through JSON; waits behind a running cell."""
        code = json.dumps(f"__import__('json').dumps({expression})")
        answer = self.browser.run(
            "(async () => { const k = window.notebook.sessionContext.session.kernel;"
            " const f = k.requestExecute({code: '', silent: true, store_history: false,"
            f" user_expressions: {{x: {code}}}}}); const r = await f.done; const x = r.content.user_expressions.x;"
            " return x.status === 'ok' ? x.data['text/plain'] : 'ERROR ' + x.evalue })()"
        )
        if answer.startswith("ERROR "):
            raise BrowserError(answer)
        import ast

        return json.loads(ast.literal_eval(answer))

    def panel(self) -> None:
        """Wait for a panel with points, its next steps known."""
        self.browser.until(f"document.querySelector('{PANEL} .plot')", 60)
        self.browser.until(f"document.querySelector('{PANEL} .offers details')", 60)

    def settled(self, script: str, seconds: float = 30) -> Any:
        """An expression that becomes true once the kernel has answered."""
        return self.browser.until(script, seconds)
