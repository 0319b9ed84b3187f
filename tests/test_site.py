"""What the documentation site is made of: the API by task and with its laws, outputs below code, links that hold."""

from __future__ import annotations

import inspect
import re
import sys

import pytest

import workbench as wb
from tests.support import ROOT
from workbench.face import STEPS

sys.path.insert(0, str(ROOT / "tools"))
import api_pages
import docs_source
import run_notebooks
import site_links

DESCRIBED = re.compile(r"^`+\{py:\w+\} (wb\.[\w.]+)", re.MULTILINE)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return api_pages.pages()


def test_every_public_name_is_on_one_page(pages):
    described = [name for text in pages.values() for name in DESCRIBED.findall(text)]
    wanted = {f"wb.{name}" for name in wb.__all__ if name not in {*wb.ROOMS, "errors"}}
    assert sorted(wanted - set(described)) == []
    assert sorted({name for name in described if described.count(name) > 1}) == []


def test_every_name_of_a_room_is_on_a_page(pages):
    described = {name.rpartition(".")[2] for text in pages.values() for name in DESCRIBED.findall(text)}
    rooms = [getattr(wb, room) for room in wb.ROOMS]
    offered = {name for room in rooms for name in room.__all__}
    assert sorted(offered - described) == []


def test_every_operator_of_the_library_stands_with_its_definition(pages):
    missing = [name for name in wb.ops.list() if str(wb.ops.load(name)).strip() not in pages["library"]]
    assert missing == []


def test_every_step_says_its_law(pages):
    entries = re.split(r"^``````\{py:", pages["steps"], flags=re.MULTILINE)[1:]
    assert len(entries) == len(STEPS)
    assert [entry.partition("(")[0] for entry in entries if "before → after" not in entry] == []


@pytest.mark.parametrize("step", STEPS)
def test_help_on_a_step_shows_its_law(step):
    assert "before → after" in inspect.getdoc(getattr(wb.schedules, step))


def test_a_law_stands_out_and_an_example_is_code():
    made = api_pages.prose("What.\n\nbefore → after:  a: S\n                 b: S\n\n>>> 1 + 1\n2\n\nMore.")
    assert ":class: law\n```text\na: S\nb: S\n```" in made
    assert made.endswith("```pycon\n>>> 1 + 1\n2\n```\n\nMore.")


def test_what_a_block_prints_stands_below_it():
    made = docs_source.with_outputs("```python\nx = 3\n```\n\n```python\nprint(x + 1)\n```\nend\n", "a.md")
    assert made == "```python\nx = 3\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n4\n```\nend\n"


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="x"><a href="b.html#y">1</a><a href="#x">2</a><a href="https://c.d">3</a>')
    (tmp_path / "b.html").write_text('<a href="a.html#z">4</a><img src="gone.png"><a href="a.html#x">5</a>')
    assert site_links.broken(tmp_path) == ["a.html: b.html#y", "b.html: a.html#z", "b.html: gone.png"]


def test_kept_outputs_are_of_one_text_and_one_library(tmp_path, monkeypatch):
    monkeypatch.setattr(run_notebooks, "KEPT", tmp_path / "kept")
    path = tmp_path / "small.ipynb"
    path.write_text((ROOT / "notebooks" / "index.ipynb").read_text(encoding="utf-8"), encoding="utf-8")
    made = run_notebooks.nbformat.read(path, as_version=4)
    run_notebooks.keep(path, made)
    assert run_notebooks.executed(path) == made, "it is not run again"
    first = run_notebooks.place(path)
    path.write_text(path.read_text(encoding="utf-8").replace("Where to begin", "Begin"), encoding="utf-8")
    assert run_notebooks.place(path) != first
    run_notebooks.keep(path, made)
    assert [p.name for p in (tmp_path / "kept").iterdir()] == [run_notebooks.place(path).name]
