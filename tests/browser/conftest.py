"""One JupyterLab and one browser for all tests of this folder; screenshots are kept in `out/`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.browser.bench import Bench
from tests.browser.chromium import Browser, chromium
from tests.browser.lab import Page, Server, missing
from tests.viz.panels.values import SCHEDULES, schedule

OUT = Path(os.environ.get("WB_SCREENSHOTS", Path(__file__).parent / "out"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """JupyterLab's start alone takes longer than a quick look may."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless browser with one page."""
    program = chromium()
    if program is None:
        pytest.skip("install chromium or Google Chrome: no browser was found")
    made = Browser(program)
    yield made
    made.close()


@pytest.fixture(scope="module")
def what_is_said_from_now_on(browser: Browser) -> list[str]:
    """The console from now on: other pages in this browser, JupyterLab's own among them, may have said something."""
    browser.console.clear()
    return browser.console


@pytest.fixture(scope="session")
def opened(browser: Browser) -> Callable[[str], Bench]:
    """Open a panel of one of the four programs."""
    return lambda name: Bench(browser, wb.panel(schedule(name)))


@pytest.fixture(scope="session")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab on loopback."""
    if reason := missing("jupyterlab"):
        pytest.skip(reason)
    server = Server(tmp_path_factory.mktemp("lab"))
    yield server
    server.close()


@pytest.fixture(scope="session")
def notebook7(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Notebook 7 on loopback."""
    if reason := missing("notebook"):
        pytest.skip(reason)
    server = Server(tmp_path_factory.mktemp("notebook"), "notebook")
    yield server
    server.close()


@pytest.fixture(scope="session")
def in_lab(lab: Server, browser: Browser) -> Callable[[str], Page]:
    """Open a notebook with a panel of one of the four programs, alone in the window."""

    def opened(name: str) -> Page:
        page = lab.again(browser, f"import workbench as wb\npanel = wb.panel({SCHEDULES[name]})\npanel")
        page.execute(0)
        page.panel()
        return page

    return opened


@pytest.fixture
def keep(browser: Browser) -> Callable[[str], Path]:
    """Keep a screenshot of the panel under a name."""

    def kept(name: str) -> Path:
        browser.size(1500, 1500)
        browser.run("document.querySelector('.wbp').scrollIntoView()")
        browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => 0)")
        made = browser.screenshot(OUT / f"{name}.png", ".wbp")
        browser.size(1500, 1100)
        return made

    return kept


@pytest.fixture
def keep_window(browser: Browser) -> Callable[[str], Path]:
    """Keep a screenshot of the whole window under a name."""
    return lambda name: browser.screenshot(OUT / f"{name}.png")


@pytest.fixture(scope="session")
def measured() -> Iterator[dict[str, Any]]:
    """Times that were measured on the way, written beside the screenshots; nothing is asserted about them."""
    found: dict[str, Any] = {}
    yield found
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "measured.json").write_text(json.dumps(found, indent=1) + "\n")
