"""What one sees and does in a panel, wherever it is shown: in the bench's page or in a JupyterLab."""

from __future__ import annotations

import json
from typing import Any, Protocol

from tests.browser.chromium import PATIENCE, Browser

POINTS = ".wbp .plot [data-point]"
CHANGED = "document.querySelector('.wbp .undo').disabled === false || !document.querySelector('.wbp .refusal').hidden"
APPLIED = "!document.querySelector('.wbp .undo').disabled && !document.querySelector('.wbp').matches('.busy')"


UNDONE = "document.querySelector('.wbp .undo').disabled"
# Milliseconds from a click to the first moment in which a condition holds.
TIMED = """new Promise((done, failed) => {
    const began = performance.now(), end = began + 180000;
    const look = () => (%s) ? done(performance.now() - began)
        : performance.now() > end ? failed(new Error('not within 180 s')) : setTimeout(look, 4);
    %s; look() })"""


class Page(Protocol):
    """A page with a panel, and the Python that holds it."""

    browser: Browser

    def ask(self, expression: str) -> Any:
        """The value of a Python expression over `panel`, through JSON."""

    def becomes(self, expression: str, seconds: float = PATIENCE) -> Any:
        """The value of a Python expression as soon as it is true."""


def texts(browser: Browser, selector: str) -> list[str]:
    """The texts of all elements of a selector."""
    return browser.do(lambda: browser.page.locator(selector).all_text_contents())


def attributes(browser: Browser, selector: str, name: str) -> list[str]:
    """One attribute of all elements of a selector."""
    script = f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.getAttribute({json.dumps(name)}))"
    return browser.run(script)


def steps(page: Page) -> list[str]:
    """The trace, asked from the kernel."""
    return page.ask("[str(s) for s in panel.schedule.trace]")


def fresh(page: Page) -> None:
    """Back to the schedule the panel began with, nothing selected, no filter, the next steps known."""
    page.ask("panel._go(panel.history.at(0))")
    page.ask("setattr(panel, 'selection', {})")
    page.browser.until('document.querySelector(\'.wbp[data-place="0"]:not([data-offers="0"]):not(.busy)\')')
    filtered(page.browser, "")


def filtered(browser: Browser, text: str) -> None:
    """Write into the filter of the next steps."""
    browser.run(
        "(() => { const f = document.querySelector('.wbp .steps input');"
        f" f.value = {json.dumps(text)}; f.dispatchEvent(new Event('input')); }})()"
    )


def offered(browser: Browser, *starts: str, legal: bool) -> list[str]:
    """The offers that begin with one of some words, legal or refused."""
    found = texts(browser, f".wbp .offer button[data-legal={json.dumps(legal)}]")
    return [text for text in found if text.startswith(starts)]


def some_offer(browser: Browser, *starts: str, legal: bool) -> str:
    """The first such offer; all kinds of steps are looked at where a slow machine did not get to it."""
    while not (found := offered(browser, *starts, legal=legal)):
        known = len(texts(browser, ".wbp .offer"))
        browser.click(".wbp .offers .more")
        browser.until(f"document.querySelectorAll('.wbp .offer').length !== {known}")
    return found[0]


def choose(browser: Browser, text: str) -> None:
    """Click the offer with exactly this text."""
    filtered(browser, text)
    offers = "[...document.querySelectorAll('.wbp .offer button[data-legal]')]"
    browser.run(f"{offers}.find((b) => b.textContent === {json.dumps(text)}).click()")


def click_step(text: str) -> str:
    """A script that clicks the offer with a text."""
    offers = "[...document.querySelectorAll('.wbp .offer button')]"
    return f"{offers}.find((b) => b.textContent === {json.dumps(text)}).click()"


def answers(browser: Browser, step: str) -> list[float]:
    """Milliseconds that a step and its undo take."""
    taken = browser.run(TIMED % (f"!{UNDONE}", click_step(step)))
    undone = browser.run(TIMED % (UNDONE, "document.querySelector('.wbp .undo').click()"))
    browser.until("document.querySelector('.wbp').matches('[data-place=\"0\"]:not([data-offers=\"0\"]):not(.busy)')")
    return [taken, undone]


def mode(browser: Browser, name: str) -> None:
    """What dragging does from now on: select, tile or skew."""
    browser.run(f"[...document.querySelectorAll('.wbp .mode')].find((b) => b.textContent === '{name}').click()")


def drag_on_plot(browser: Browser, what: str, size: tuple[int, int]) -> None:
    """Choose a mode and drag over width × height points of the last plot, from a corner of its domain."""
    mode(browser, what)
    x, y, unit = browser.run("""(() => {
        const svg = [...document.querySelectorAll('.wbp svg.plot')].at(-1);
        svg.scrollIntoView({block: 'center'});
        const f = svg.querySelector('.frame').getBoundingClientRect();
        const unit = [...svg.querySelectorAll('line.grid')].slice(0, 2).map((l) => l.getBoundingClientRect().x);
        return [f.x, f.y + f.height, unit[1] - unit[0]] })()""")
    start = (x + unit * 1.5, y - unit * 1.5)
    end = (start[0] + unit * (size[0] - 1), start[1] - unit * (size[1] - 1))
    browser.drag(start, end)


def point(name: str) -> tuple[str, tuple[int, ...]]:
    """`C(0, 1)` as a statement and an instance."""
    statement, _, rest = name.partition("(")
    return statement, tuple(int(v) for v in rest.rstrip(")").split(",") if v.strip())
