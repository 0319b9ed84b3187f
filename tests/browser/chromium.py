"""The system's Chromium with one page, by Playwright: navigate, evaluate, mouse, keys, screenshots."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import CDPSession, ConsoleMessage, Error, Page, Playwright, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-sync", "--disable-dev-shm-usage")
CONTROL, SHIFT, ALT = "Control+", "Shift+", "Alt+"
PATIENCE = 180  # seconds: a test on a machine that is busy with other things is slow, not wrong
_CENTRED = "(e) => e.scrollIntoView({block: 'center', inline: 'nearest'})"
_AWAITED = """(() => {
    const value = (0, eval)(%s), found = typeof value === "function" ? value() : value
    const late = (no) => setTimeout(() => no(new Error("nothing came within %d s")), 1000 * %d)
    return found instanceof Promise ? Promise.race([found, new Promise((_, no) => late(no))]) : found
})()"""
_PLAIN = '(() => { try { const v = (%s); return typeof v === "object" ? v !== null : v } catch { return null } })()'

Spot = tuple[float, float]
T = TypeVar("T")


def chromium() -> str | None:
    """The browser of this machine, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class BrowserError(AssertionError):
    """What the page threw, or what did not happen in time."""


class Browser:
    """One browser with one page.

    Playwright has a thread of its own: where it runs, nobody else can run an event loop, as other tests do.
    """

    def __init__(self, program: str) -> None:
        self.console: list[str] = []
        self.pump: Callable[[], None] = lambda: None  # what else has to go on while one waits for the page
        self._thread = ThreadPoolExecutor(1, "browser")
        self._playwright: Playwright = self.do(lambda: sync_playwright().start())
        self.page: Page = self.do(lambda: self._opened(program))
        self._session: CDPSession = self.do(lambda: self.page.context.new_cdp_session(self.page))

    def _opened(self, program: str) -> Page:
        started = self._playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=1000 * PATIENCE)
        page = started.new_page(viewport={"width": 1500, "height": 1100})
        page.set_default_timeout(1000 * PATIENCE)
        page.on("dialog", lambda dialog: dialog.accept())  # "leave the page?"
        page.on("pageerror", lambda error: self.console.append(f"thrown: {error.stack or error.message}"))
        page.on("console", self._heard)
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        """What the page says of errors; what the browser says of missing files is not the page's."""
        if message.type == "error" and message.args:
            self.console.append(f"error: {message.text}")

    def do(self, action: Callable[[], T]) -> T:
        """What comes of an action on the thread of the browser."""
        try:
            return self._thread.submit(action).result()
        except Error as error:
            raise BrowserError(error.message) from error

    # -- the page ------------------------------------------------------------------------------------------------------

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the DevTools protocol, for what Playwright has no word for."""
        return self.do(lambda: self._session.send(method, params))

    def size(self, width: int, height: int) -> None:
        """The size of the window, in CSS pixels."""
        self.do(lambda: self.page.set_viewport_size({"width": width, "height": height}))

    def go(self, address: str) -> None:
        """Open an address."""
        self.pump = lambda: None
        self.do(lambda: self.page.goto(address, wait_until="commit"))

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; promises are awaited, but not for ever."""
        return self._evaluated(_AWAITED % (json.dumps(script), PATIENCE, PATIENCE))

    def _evaluated(self, script: str) -> Any:
        return self.do(lambda: self.page.evaluate(script))

    def until(self, script: str, seconds: float = PATIENCE) -> Any:
        """The value of an expression as soon as it is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.pump()
            if value := self._evaluated(_PLAIN % script):
                return value
            time.sleep(0.03)
        raise BrowserError(f"not within {seconds:g} s: {script}\n" + "\n".join(self.console[-8:]))

    def screenshot(self, path: Path, selector: str | None = None) -> Path:
        """A PNG of the window, or of the first element of a selector."""
        of = self.page.locator(selector).first if selector else self.page
        self.do(lambda: of.screenshot(path=path))
        return path

    def box(self, selector: str, nth: int = 0) -> dict[str, float]:
        """Where the n-th element of a selector is in the window."""
        found = self.do(lambda: self.page.locator(selector).nth(nth).bounding_box())
        assert found is not None, f"{selector} (number {nth}) is not shown"
        return dict(found)

    # -- hands ---------------------------------------------------------------------------------------------------------

    def middle(self, selector: str, nth: int = 0) -> Spot:
        """The middle of the n-th element of a selector, scrolled into view."""
        self.do(lambda: self.page.locator(selector).nth(nth).evaluate(_CENTRED))
        box = self.box(selector, nth)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def move(self, *to: Spot) -> None:
        """Move the mouse from place to place."""
        for x, y in to:
            self.do(lambda x=x, y=y: self.page.mouse.move(x, y))

    def point_at(self, selector: str, nth: int = 0) -> None:
        """Move the mouse over an element."""
        self.move(self.middle(selector, nth))

    def press(self, at: Spot) -> None:
        """Click a place."""
        self.do(lambda: self.page.mouse.click(*at))

    def click(self, selector: str, nth: int = 0) -> None:
        """Click the middle of an element."""
        self.press(self.middle(selector, nth))

    def drag(self, *way: Spot, pauses: int = 8) -> None:
        """Press at one place, move over others, release at the last; what may be dragged falls there."""
        self.move(way[0])
        self.do(lambda: self.page.mouse.down())
        for x, y in way[1:]:
            self.do(lambda x=x, y=y: self.page.mouse.move(x, y, steps=pauses))
        self.do(lambda: self.page.mouse.up())

    def wheel(self, pixels: float, modifiers: str = "") -> None:
        """Turn the wheel where the mouse is."""
        held = modifiers.split("+")[:-1]
        for key in held:
            self.do(lambda key=key: self.page.keyboard.down(key))
        self.do(lambda: self.page.mouse.wheel(0, pixels))
        for key in held:
            self.do(lambda key=key: self.page.keyboard.up(key))

    def key(self, key: str, modifiers: str = "") -> None:
        """One key, down and up."""
        self.do(lambda: self.page.keyboard.press(modifiers + key))

    def type(self, text: str) -> None:
        """Text as if pasted into what has the focus."""
        self.do(lambda: self.page.keyboard.insert_text(text))

    def close(self) -> None:
        """End the browser that was started here."""
        self.do(self._playwright.stop)
        self._thread.shutdown()
