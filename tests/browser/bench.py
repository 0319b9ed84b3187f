"""The ESM in a bare page, and a panel in this process: the interface of anywidget's model, and no Jupyter at all."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import workbench as wb
from tests.browser.chromium import PATIENCE, Browser, BrowserError
from tests.support import PACKAGE
from workbench.viz.draw.palette import variables
from workbench.viz.panels import Panel

TRAITS = (
    "title", "panes", "domain", "tables", "tree", "code", "past", "offers", "refusal", "selection", "machine", "views",
    "source", "study", "export", "measured", "network", "arrangement",
)  # fmt: skip
_PAGE = """(async (code, css) => {
    document.head.replaceChildren(); document.body.replaceChildren();
    document.body.style.cssText = 'margin:12px;font-family:sans-serif';
    document.head.append(Object.assign(document.createElement('style'), {textContent: css}));
    window.esm = (await import(URL.createObjectURL(new Blob([code], {type: 'text/javascript'})))).default;
    window.outbox = []; window.state = {}; window.dirty = {}; window.heard = {};
    window.model = {
        get: (name) => window.state[name],
        set: (name, value) => { window.state[name] = value; window.dirty[name] = value; window.tell('change:' + name) },
        save_changes: () => { window.outbox.push({set: window.dirty}); window.dirty = {} },
        on: (event, f) => (window.heard[event] ??= []).push(f),
        off: (event, f) => { window.heard[event] = (window.heard[event] ?? []).filter((g) => g !== f) },
        send: (content) => window.outbox.push({message: content}),
    };
    window.tell = (event, ...rest) => [...(window.heard[event] ?? [])].forEach((f) => f(...rest));
    window.receive = (changes) => {
        for (const [name, value] of Object.entries(changes)) {
            window.state[name] = name !== 'tables' ? value
                : new DataView(Uint8Array.from(atob(value), (c) => c.charCodeAt(0)).buffer);
        }
        for (const name of Object.keys(changes)) window.tell('change:' + name);
    };
    window.view = () => { const el = document.createElement('div'); document.body.append(el);
        return window.esm.render({model: window.model, el}) };
})"""


class Bench:
    """A page with a view of a panel; `browser` waits for the panel as it waits for the page."""

    def __init__(self, browser: Browser, panel: Panel, *, whole: bool = True) -> None:
        self.panel = panel
        self.browser = browser
        self._known: dict[str, Any] = {}
        self._messages: list[Any] = []
        panel.send = lambda content, buffers=None: self._messages.append(content)  # type: ignore[method-assign]
        browser.go("about:blank")
        browser.until("document.readyState === 'complete'")
        esm = (PACKAGE / "viz" / "panels" / "static" / "panel.js").read_text(encoding="utf-8")
        css = variables("auto") + (PACKAGE / "viz" / "panels" / "static" / "panel.css").read_text(encoding="utf-8")
        browser.run(f"{_PAGE}({json.dumps(esm)}, {json.dumps(css)})")
        browser.pump = self.pump
        self._deliver()
        browser.run("(window.close_view = window.view(), 0)")
        if whole:
            browser.until("document.querySelector('.wbp .plot') && document.querySelector('.wbp .offers details')")

    def pump(self) -> None:
        """Carry what the page said to the panel, and what the panel says to the page."""
        for said in self.browser.run("window.outbox.splice(0)"):
            for name, value in said.get("set", {}).items():
                setattr(self.panel, name, value)
                self._known[name] = getattr(self.panel, name)
            if "message" in said:
                self.panel._answer(self.panel, said["message"], [])
        self._deliver()

    def _deliver(self) -> None:
        now = {name: getattr(self.panel, name) for name in TRAITS}
        changed = {n: v for n, v in now.items() if n not in self._known or self._known[n] != v}
        self._known |= changed
        if "tables" in changed:
            changed["tables"] = base64.b64encode(changed["tables"]).decode()
        if changed:
            self.browser.run(f"window.receive({json.dumps(changed)})")
        for message in self._messages:
            self.browser.run(f"window.tell('msg:custom', {json.dumps(message)})")
        self._messages.clear()

    def ask(self, expression: str) -> Any:
        """The value of a Python expression over `panel`, after all that the page said so far."""
        self.pump()
        value = eval(expression, {"panel": self.panel, "wb": wb})
        self.pump()
        return json.loads(json.dumps(value, default=lambda _: None))

    def becomes(self, expression: str, seconds: float = PATIENCE) -> Any:
        """The value of a Python expression as soon as it is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.ask(expression):
                return value
            time.sleep(0.02)
        raise BrowserError(f"not within {seconds:g} s: {expression}")
