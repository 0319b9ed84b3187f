"""A headless Chromium driven over its DevTools protocol: navigate, evaluate, mouse, keys, screenshots."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import websocket

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-port=0", "--remote-allow-origins=*", "--window-size=1500,1100",
)  # fmt: skip
KEYS = {
    "Enter": 13, "Escape": 27, "Tab": 9, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, " ": 32,
}  # fmt: skip
CONTROL, SHIFT, ALT = 2, 8, 1
PATIENCE = 180  # seconds: a test on a machine that is busy with other things is slow, not wrong
_PLAIN = '(() => { try { const v = (%s); return typeof v === "object" ? v !== null : v } catch { return null } })()'


def chromium() -> str | None:
    """The browser of this machine, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class BrowserError(AssertionError):
    """What the page threw, or what did not happen in time."""


class Browser:
    """One browser with one page."""

    def __init__(self, program: str, profile: Path) -> None:
        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        port = self._port()
        self.console: list[str] = []
        self.pump: Callable[[], None] = lambda: None  # what else has to go on while one waits for the page
        self.dragged: dict[str, Any] | None = None
        self._number = 0
        self._socket = websocket.create_connection(self._page(port), timeout=PATIENCE, max_size=None)
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.size(1500, 1100)

    def _port(self) -> str:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if found := re.search(r"ws://127\.0\.0\.1:(\d+)/", line):
                return found[1]
        raise BrowserError("the browser ended before it listened")

    @staticmethod
    def _page(port: str) -> str:
        from urllib.request import urlopen

        with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
            return next(t["webSocketDebuggerUrl"] for t in json.load(answer) if t["type"] == "page")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol, and its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                if "error" in message:
                    raise BrowserError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._heard(message)

    def _heard(self, message: dict[str, Any]) -> None:
        if message.get("method") == "Page.javascriptDialogOpening":  # "leave the page?"
            leave = {"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            self._socket.send(json.dumps(leave))
        if message.get("method") == "Input.dragIntercepted":
            self.dragged = message["params"]["data"]
        if message.get("method") == "Runtime.exceptionThrown":
            details = message["params"]["exceptionDetails"]
            self.console.append(f"thrown: {details.get('exception', {}).get('description', details['text'])}")
        elif message.get("method") == "Runtime.consoleAPICalled" and message["params"]["type"] == "error":
            said = (str(a.get("value", a.get("description", ""))) for a in message["params"]["args"])
            self.console.append("error: " + " ".join(said))

    # -- the page ------------------------------------------------------------------------------------------------------

    def size(self, width: int, height: int) -> None:
        """The size of the window, in CSS pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def go(self, address: str) -> None:
        """Open an address."""
        self.pump = lambda: None
        self.call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def until(self, script: str, seconds: float = PATIENCE) -> Any:
        """The value of an expression as soon as it is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.pump()
            if value := self.run(_PLAIN % script):
                return value
            time.sleep(0.03)
        raise BrowserError(f"not within {seconds:g} s: {script}\n" + "\n".join(self.console[-8:]))

    def screenshot(self, path: Path, selector: str | None = None) -> Path:
        """A PNG of the window, or of the first element of a selector."""
        clip = {}
        if selector:
            box = self.box(selector)
            clip = {"clip": {**box, "scale": 1}}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=bool(selector), **clip)["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
        return path

    def box(self, selector: str) -> dict[str, float]:
        """Where an element is in the window."""
        return self.run(
            f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return {x: b.x, y: b.y, width: b.width, height: b.height} })()"
        )

    # -- hands ---------------------------------------------------------------------------------------------------------

    def middle(self, selector: str, nth: int = 0) -> tuple[float, float]:
        """The middle of the n-th element of a selector, scrolled into view."""
        found = self.run(
            f"(() => {{ const e = document.querySelectorAll({json.dumps(selector)})[{nth}]; if (!e) return null;"
            " e.scrollIntoView({block: 'center', inline: 'nearest'}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        if found is None:
            raise BrowserError(f"nothing matches {selector} (number {nth})")
        return tuple(found)

    def mouse(self, kind: str, at: tuple[float, float], **more: Any) -> None:
        """One mouse event: mousePressed, mouseMoved, mouseReleased."""
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], **more)

    def point_at(self, selector: str, nth: int = 0) -> None:
        """Move the mouse over an element."""
        self.mouse("mouseMoved", self.middle(selector, nth))

    def click(self, selector: str, nth: int = 0) -> None:
        """Click the middle of an element."""
        at = self.middle(selector, nth)
        self.mouse("mouseMoved", at)
        self.mouse("mousePressed", at, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", at, button="left", clickCount=1)

    def drag(self, start: tuple[float, float], end: tuple[float, float], pauses: int = 8) -> None:
        """Press at one place, move, release at another."""
        self.mouse("mouseMoved", start)
        self.mouse("mousePressed", start, button="left", buttons=1, clickCount=1)
        for i in range(1, pauses + 1):
            at = tuple(a + (b - a) * i / pauses for a, b in zip(start, end, strict=True))
            self.mouse("mouseMoved", at, button="left", buttons=1)
        self.mouse("mouseReleased", end, button="left", clickCount=1)

    def drop(self, source: tuple[float, float], target: tuple[float, float]) -> None:
        """Drag what may be dragged from one place to another and let it fall, as a hand with a mouse does."""
        self.call("Input.setInterceptDrags", enabled=True)
        self.dragged = None
        self.mouse("mouseMoved", source)
        self.mouse("mousePressed", source, button="left", buttons=1, clickCount=1)
        for away in (4, 12):
            self.mouse("mouseMoved", (source[0] + away, source[1]), button="left", buttons=1)
        if self.dragged is None:
            raise BrowserError("nothing can be dragged there")
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=target[0], y=target[1], data=self.dragged)
        self.mouse("mouseReleased", target, button="left", clickCount=1)
        self.call("Input.setInterceptDrags", enabled=False)

    def key(self, key: str, modifiers: int = 0) -> None:
        """One key, down and up."""
        code = KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)
        text = {"text": "\r" if key == "Enter" else key} if (len(key) == 1 or key == "Enter") and not modifiers else {}
        place = {"code": f"Key{key.upper()}"} if key.isalpha() and len(key) == 1 else {}
        named = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers, **place}
        self.call("Input.dispatchKeyEvent", type="keyDown", **named, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def type(self, text: str) -> None:
        """Text as if pasted into what has the focus."""
        self.call("Input.insertText", text=text)

    def close(self) -> None:
        """End the browser that was started here."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(20)
