"""A JupyterLab (or Notebook 7) on loopback with notebooks of the tests, and what one does in it."""

from __future__ import annotations

import ast
import json
import os
import re
import secrets
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.browser.chromium import PATIENCE, Browser, BrowserError
from tests.support import PACKAGE, ROOT

EXTENSIONS = PACKAGE / "labextension"
NEWS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
# anywidget gives a script two seconds to begin, however busy the machine is.
LATE = "Failed to initialize model"
# JupyterLab's own promise, where a kernel is restarted that it is just asking who it is.
RESTARTED = "Canceled future for kernel_info_request"
_READY = """(async () => { const c = window.notebook.sessionContext; await c.ready; await c.session.kernel.info;
    if (document.activeElement) document.activeElement.blur(); return c.session.kernel.id })()"""
_CLOSE = """(async () => {
    for (const w of [...window.jupyterapp.shell.widgets('main')]) {
        if (w.context) w.context.model.dirty = false; // or it asks whether to save
        if (w.sessionContext) await w.sessionContext.shutdown();
        w.close();
    } })()"""
_OPEN = """(async () => {
    window.notebook = await window.jupyterapp.commands.execute('docmanager:open', %s);
    await window.notebook.revealed })()"""
_REPLACE = """(async (cells) => {
    const { model } = window.notebook.content;
    model.sharedModel.transact(() => {
        model.sharedModel.deleteCellRange(0, model.sharedModel.cells.length);
        model.sharedModel.insertCells(0, cells.map((source) => ({cell_type: 'code', source, metadata: {}})));
    });
    window.notebook.content.activeCellIndex = 0;
    const { kernel } = window.notebook.sessionContext.session;
    await kernel.requestExecute({code: 'globals().pop("panel", None)', silent: true}).done })(%s)"""
_ASK = """(async () => {
    const future = window.notebook.sessionContext.session.kernel.requestExecute(
        {code: '', silent: true, store_history: false, user_expressions: {x: %s}});
    const x = (await future.done).content.user_expressions.x;
    return x.status === 'ok' ? x.data['text/plain'] : 'ERROR ' + x.evalue })()"""


def missing(module: str) -> str | None:
    """Why a server cannot be started, or None."""
    return None if find_spec(module) else f"install {module}: `pip install {module}`"


def notebook(*cells: str) -> dict[str, Any]:
    """A notebook of code cells."""
    made = [
        {"cell_type": "code", "id": f"c{i}", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
        for i, text in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


class Server:
    """A server in a folder of its own; nothing of the user's settings is read or written."""

    def __init__(self, folder: Path, module: str = "jupyterlab") -> None:
        self.folder, self._base, self._token = folder / "notebooks", folder, secrets.token_hex(16)
        self.folder.mkdir()
        self._log = (folder / "server.log").open("w")
        apps = ("LabApp",) if module == "jupyterlab" else ("LabApp", "JupyterNotebookApp")
        place = self._extensions()
        arguments = (
            "--ip=127.0.0.1", "--port=0", "--no-browser", "--allow-root", f"--ServerApp.root_dir={self.folder}",
            f"--IdentityProvider.token={self._token}", *(f"--{a}.expose_app_in_browser=True" for a in apps),
            *(f"--{a}.extra_labextensions_path={place}" for a in apps),
        )  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env={**os.environ, **self._own()}, stdout=self._log, stderr=subprocess.STDOUT, cwd=folder,
        )  # fmt: skip
        self.address = self._listening()
        self._here = f"Boolean(window.jupyterapp) && location.origin === {json.dumps(self.address)}"

    def _extensions(self) -> Path:
        """The extension of this tree, whatever the environment has installed."""
        place = self._base / "labextensions"
        place.mkdir()
        if EXTENSIONS.is_dir():
            (place / "tensor-workbench").symlink_to(EXTENSIONS)
        return place

    def _own(self) -> dict[str, str]:
        home = self._base / "home"
        settings = home / "config" / "labconfig"
        settings.mkdir(parents=True)
        (settings / "default_setting_overrides.json").write_text(json.dumps(NEWS))
        places = {"JUPYTER_CONFIG_DIR": "config", "IPYTHONDIR": "ipython", "JUPYTER_DATA_DIR": "data"}
        places |= {"JUPYTER_RUNTIME_DIR": "runtime", "JUPYTERLAB_WORKSPACES_DIR": "workspaces"}
        return {"HOME": str(home), "PYTHONPATH": str(ROOT), **{k: str(home / v) for k, v in places.items()}}

    def _listening(self) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            text = (self._base / "server.log").read_text()
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", text):
                return f"http://127.0.0.1:{found[1]}"
            if self._process.poll() is not None:
                raise BrowserError(f"the server ended:\n{text[-2000:]}")
            time.sleep(0.05)
        raise BrowserError(f"the server did not start within {PATIENCE} s")

    def visit(self, browser: Browser, path: str) -> None:
        """Open a page of the server and wait for the application."""
        browser.go(f"{self.address}/{path}{'&' if '?' in path else '?'}token={self._token}")
        browser.until(self._here)
        browser.run("window.jupyterapp.restored.then(() => 0)")

    def write(self, name: str, *cells: str) -> str:
        """A notebook file with these cells; its name."""
        (self.folder / f"{name}.ipynb").write_text(json.dumps(notebook(*cells)))
        return f"{name}.ipynb"

    def open(self, browser: Browser, name: str, *cells: str) -> Page:
        """A notebook with these cells, alone in the window, its kernel ready."""
        return self.open_file(browser, name, json.dumps(notebook(*cells)))

    def open_file(self, browser: Browser, name: str, text: str | None = None) -> Page:
        """A notebook file, written anew with a text or opened as it is, alone in the window, its kernel ready."""
        path = f"{name}.ipynb"
        if text is not None:
            (self.folder / path).write_text(text)
        if not browser.run(self._here):
            self.visit(browser, "lab?reset")
        browser.run(_CLOSE)
        browser.run(_OPEN % json.dumps({"path": path}))
        return Page(browser)

    def again(self, browser: Browser, *cells: str) -> Page:
        """A notebook with these cells whose kernel is that of the one before, if there was one: it starts faster."""
        usable = f"{self._here} && window.shared && !window.shared.isDisposed && window.shared === window.notebook"
        if not browser.run(usable):
            page = self.open(browser, "again", *cells)
            browser.run("(window.shared = window.notebook, 0)")
            return page
        browser.run("window.jupyterapp.shell.activateById(window.notebook.id)")
        browser.run(_REPLACE % json.dumps(cells))
        return Page(browser)

    def remembers(self, text: str) -> None:
        """Wait until the layout that the page saves of itself holds a text."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if any(text in path.read_text() for path in (self._base / "home" / "workspaces").glob("*")):
                return
            time.sleep(0.05)
        raise BrowserError(f"no saved layout holds {text}")

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
    """An open notebook, which is `window.notebook` in the page."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.ready()

    def ready(self) -> str:
        """Wait until the kernel has answered; its id."""
        return self.browser.run(_READY)

    def execute(self, cell: int, *, wait: bool = True) -> None:
        """Run one cell."""
        self.browser.run(
            "(async () => { const n = window.notebook.content;"
            f" window.jupyterapp.shell.activateById(window.notebook.id); n.activeCellIndex = {cell}; n.deselectAll();"
            " window.ran = window.jupyterapp.commands.execute('notebook:run-cell'); })()"
        )
        if wait:
            self.browser.run("window.ran.then(() => 0)")

    def command(self, name: str, **arguments: Any) -> Any:
        """Execute a command of the application and wait for it."""
        given = json.dumps(arguments)
        return self.browser.run(
            f"Promise.resolve(window.jupyterapp.commands.execute({json.dumps(name)}, {given})).then(() => 0)"
        )

    def save(self) -> None:
        """Write the notebook's file, whichever of the page's widgets is the current one."""
        self.browser.run("window.notebook.context.save().then(() => 0)")

    def ask(self, expression: str) -> Any:
        """The value of a Python expression in the kernel, through JSON; waits behind a running cell."""
        code = f"__import__('json').dumps({expression}, default=lambda _: None)"
        answer = self.browser.run(_ASK % json.dumps(code))
        if answer.startswith("ERROR "):
            raise BrowserError(f"{expression}: {answer}")
        return json.loads(ast.literal_eval(answer))

    def becomes(self, expression: str, seconds: float = PATIENCE) -> Any:
        """The value of a Python expression as soon as it is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.ask(expression):
                return value
        raise BrowserError(f"not within {seconds:g} s: {expression}")

    def insert(self, text: str) -> None:
        """A cell with this text below the first one."""
        self.browser.run(
            "(() => { const m = window.notebook.content.model.sharedModel;"
            f" m.insertCell(1, {{cell_type: 'code', source: {json.dumps(text)}, metadata: {{}}}}) }})()"
        )

    def remove(self, cell: int) -> None:
        """Delete a cell."""
        self.browser.run(f"window.notebook.content.model.sharedModel.deleteCell({cell})")

    def restart(self) -> None:
        """A new kernel for the notebook, which has answered."""
        self.browser.run("window.notebook.sessionContext.session.kernel.restart().then(() => 0)")
        self.ready()

    def second_view(self) -> None:
        """The output of the first cell shown a second time, beside the notebook."""
        self.browser.run(
            "window.notebook.content.activeCellIndex = 0,"
            " window.jupyterapp.commands.execute('notebook:create-output-view').then(() => 0)"
        )
        self.browser.until("document.querySelectorAll('.wbp .plot').length >= 2")

    def one_view(self) -> None:
        """Close what `second_view` opened."""
        self.alone()
        self.browser.until("document.querySelectorAll('.wbp').length === 1")

    def alone(self) -> None:
        """Close everything in the main area but the notebook."""
        others = "[...window.jupyterapp.shell.widgets('main')].filter((w) => w !== window.notebook)"
        self.browser.run(f"{others}.forEach((w) => w.close())")

    def panel(self) -> None:
        """Wait for a panel with points, its next steps known."""
        shown = "document.querySelector('.wbp .plot')"
        late = [line for line in self.browser.console if LATE in line]
        try:
            self.browser.until(shown, 20)
        except BrowserError:
            if late != [line for line in self.browser.console if LATE in line]:
                self.browser.console[:] = [line for line in self.browser.console if LATE not in line]
                self.execute(0)  # as one does who sees no picture
        self.browser.until(f"{shown} && document.querySelector('.wbp .offers details')")
