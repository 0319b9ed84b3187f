"""When a panel is at rest: it waits for no answer, and two looks at it see the same."""

from __future__ import annotations

import time

from tests.browser.chromium import PATIENCE, Browser, BrowserError

APART = 0.35  # seconds between two looks
# What the panel waits for, in its own words, which end in a space and an ellipsis; empty where it waits no longer.
WAITING = """(() => {
    const panel = document.querySelector('.wbp');
    if (!panel) return 'no panel';
    if (panel.matches('.busy')) return 'busy';
    const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const { data, parentElement: around } = texts.currentNode;
        const words = /\\s…\\s*$/.test(data) && !around.closest('.cm-editor, .status, code');
        if (words && around.checkVisibility()) return data;
    }
    return '' })()"""


def seen_at_rest(browser: Browser, seconds: float = PATIENCE) -> bytes:
    """The window as a PNG, as soon as the panel is at rest; BrowserError says what it was waiting for."""
    end, before = time.monotonic() + seconds, b""
    while time.monotonic() < end:
        browser.pump()
        now = b"" if browser.run(WAITING) else browser.do(browser.page.screenshot)
        if now and now == before:
            return now
        before = now
        time.sleep(APART)
    raise BrowserError(f"not at rest within {seconds:g} s: {browser.run(WAITING) or 'what is seen goes on changing'}")
