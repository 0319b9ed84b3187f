"""Without a kernel, without trust, without a notebook: a picture stands there, and nothing of a stranger's runs."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache

import pytest

import workbench as wb
from tests.browser.chromium import Browser
from tests.browser.lab import Page, notebook
from tests.viz.panels.values import SCHEDULES, schedule

pytestmark = pytest.mark.slow

BAD = '<img src=x onerror="window.broken = 1"><script>window.broken = 2</script>'
ERRORS = ("Error displaying widget", "model not found", "Loading widget")
PICTURE = ".jp-Notebook .jp-OutputArea-output img[src^='data:image/png']"


@cache
def outputs() -> tuple[tuple[dict, dict], ...]:
    """What four panels leave in a notebook."""
    shown = [wb.panel(schedule(name))._repr_mimebundle_() for name in SCHEDULES]
    return tuple((data, metadata or {}) for data, metadata in shown)


def stored() -> dict:
    """A notebook with the outputs of four panels, as somebody else's JupyterLab would have saved it."""
    made = notebook(*(f"panel  # {name}" for name in SCHEDULES))
    for cell, (data, metadata) in zip(made["cells"], deepcopy(outputs()), strict=True):
        cell["outputs"] = [{"output_type": "execute_result", "execution_count": 1, "data": data, "metadata": metadata}]
    return made


def pictures(browser: Browser) -> None:
    """Wait until every program has a picture that is wider than an icon."""
    seen = f"[...document.querySelectorAll({json.dumps(PICTURE)})].filter((e) => e.naturalWidth > 100).length"
    browser.until(f"{seen} === {len(SCHEDULES)}")


@pytest.fixture
def opened(lab, browser):
    """Open a notebook that is given as it would be in a file."""

    def show(name: str, content: dict) -> Page:
        return lab.open_file(browser, name, json.dumps(content))

    return show


def test_a_strangers_notebook_shows_the_picture_and_runs_nothing(opened, browser, keep_window):
    strange = stored()
    data = strange["cells"][0]["outputs"][0]["data"]
    data["application/vnd.tensor-workbench.panel+json"]["title"] = BAD
    data["text/plain"] = BAD
    page = opened("stranger", strange)
    pictures(browser)
    assert not browser.run("window.notebook.content.widgets[0].model.trusted")
    page.command("tensor-workbench:show")
    browser.until("document.querySelector('#tensor-workbench-side img')")
    assert BAD in browser.run("document.querySelector('.wb-following-head').textContent")
    keep_window("stranger")
    assert browser.run("document.querySelectorAll('.wbp').length") == 0
    assert browser.run("window.broken ?? null") is None
    assert page.ask("[n for n in __import__('sys').modules if n.startswith(('workbench', 'anywidget'))]") == []
    page.command("application:toggle-right-area")


def test_a_trusted_notebook_without_its_kernel_shows_the_picture(lab, browser, keep_window):
    page = lab.open(browser, "mine", *(f"import workbench as wb\nwb.panel({text})" for text in SCHEDULES.values()))
    for cell in range(len(SCHEDULES)):
        page.execute(cell)
    page.panel()
    page.save()
    page = lab.open_file(browser, "mine")
    pictures(browser)
    assert browser.run("window.notebook.content.widgets.every((w) => w.model.trusted)")
    browser.until("!document.querySelector('.wb-live-or-stored .lm-mod-hidden')")  # it looked for the model, in vain
    text = browser.run("document.querySelector('.jp-Notebook').textContent")
    assert not [word for word in ERRORS if word in text]
    keep_window("trusted_without_kernel")


def test_nbconvert_gives_a_page_with_the_pictures(tmp_path, browser, keep_window):
    import nbformat
    from nbconvert import HTMLExporter

    page, _ = HTMLExporter().from_notebook_node(nbformat.from_dict(stored()))
    assert page.count("<img") == len(SCHEDULES)
    assert not [word for word in ERRORS if word in page]
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    browser.go((tmp_path / "page.html").as_uri())
    seen = "[...document.querySelectorAll('img')].filter((e) => e.naturalWidth > 100).length"
    browser.until(f"{seen} === {len(SCHEDULES)}")
    keep_window("nbconvert")


def test_an_operators_text_with_markup_is_shown_as_text(lab, browser):
    page = lab.open(
        browser,
        "markup",
        "import workbench as wb\n"
        f"panel = wb.panel(wb.ops.matmul)\npanel.title = {BAD!r}\npanel.code = {{**panel.code, 'notes': [{BAD!r}]}}\n"
        f"panel.source = {{**panel.source, 'text': {BAD!r}}}\npanel.panes = [*panel.panes, 'operator']\npanel",
    )
    page.execute(0)
    page.panel()
    browser.until(f"document.querySelector('.wbp .title').textContent === {json.dumps(BAD)}")
    browser.until(f"document.querySelector('.wbp .operator .cm-content').textContent.includes({json.dumps(BAD[:30])})")
    assert browser.run("window.broken ?? null") is None
    assert browser.run("document.querySelectorAll('.wbp img:not(.cm-widgetBuffer), .wbp script').length") == 0
