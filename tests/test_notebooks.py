"""Notebooks are in order: readable, with small outputs that name no machine, without a hidden set-up.

`make notebooks` executes them, and compares what is stored with what comes of them.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from typing import Any

import pytest

import workbench
from tests.support import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
LONGEST_CELL = 30
LONGEST_PARAGRAPH = 90
LARGEST_OUTPUT = 310_000


def cells(path, kind: str) -> list[dict[str, Any]]:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def code(path) -> list[ast.Module]:
    """The cells of Python; those of operators have a language of their own."""
    texts = [source(cell) for cell in cells(path, "code")]
    return [ast.parse(text) for text in texts if not text.startswith("%%operator")]


def names_of_the_face(tree: ast.AST) -> list[list[str]]:
    """`wb.viz.domain` as ["viz", "domain"], for each chain that begins with `wb`."""
    chains = []
    for node in ast.walk(tree):
        chain: list[str] = []
        while isinstance(node, ast.Attribute):
            chain, node = [node.attr, *chain], node.value
        if chain and isinstance(node, ast.Name) and node.id == "wb":
            chains.append(chain)
    return chains


def resolves(value: Any, chain: list[str]) -> bool:
    for name in chain:
        if not hasattr(value, name):
            return False
        value = getattr(value, name)
    return True


def test_there_is_a_first_notebook():
    assert (ROOT / "notebooks" / "01_first_operator.ipynb") in NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_run_from_top_to_bottom_is_stored_and_nothing_else_of_it(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["metadata"]["kernelspec"]["name"]) == (4, "python3")
    counts = [c["execution_count"] for c in cells(path, "code")]
    assert counts == list(range(1, len(counts) + 1)), "make outputs"
    assert any(c["outputs"] for c in cells(path, "code"))
    known = [{}, *({"workbench": {"compared": level}} for level in ("words", "kinds"))]
    assert [c["id"] for c in notebook["cells"] if c["metadata"] not in known] == []
    assert "widgets" not in notebook["metadata"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_stored_outputs_are_small_and_shown_by_whoever_does_not_trust_them(path):
    outputs = [output for cell in cells(path, "code") for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"stream", "execute_result", "display_data"}
    kinds = {kind for output in outputs for kind in output.get("data", ())}
    assert kinds <= {"text/plain", "text/html", "text/latex", "image/png"}, "what needs a kernel or scripts is left out"
    assert max(len(json.dumps(output)) for output in outputs) < LARGEST_OUTPUT


def test_notebooks_are_small_all_together():
    assert sum(path.stat().st_size for path in NOTEBOOKS) < 6_000_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_cells_have_names_that_are_words(path):
    ids = [c["id"] for c in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    assert len(ids) == len(set(ids))
    assert [i for i in ids if not re.fullmatch(r"[a-z][a-z0-9-]*", i)] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_nothing_happens_out_of_sight(path):
    """A plain import is the whole set-up: no path, no installation, no magic but `%%operator`; words come first."""
    text = "\n".join(source(c) for c in cells(path, "code"))
    hidden = r"^\s*[%!](?!%operator$)|sys\.path|\bos\.environ|\bsubprocess\b|\bpip install"
    assert not re.search(hidden, text, re.MULTILINE)
    assert "import workbench as wb" in source(cells(path, "code")[0])
    assert json.loads(path.read_text(encoding="utf-8"))["cells"][0]["cell_type"] == "markdown"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_cell_is_one_idea(path):
    assert [c["id"] for c in cells(path, "code") if len(source(c).splitlines()) > LONGEST_CELL] == []
    paragraphs = [(c["id"], p) for c in cells(path, "markdown") for p in re.split(r"\n\n|\n- ", source(c))]
    assert [name for name, paragraph in paragraphs if len(paragraph.split()) > LONGEST_PARAGRAPH] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_names_that_are_used_exist(path):
    chains = [chain for tree in code(path) for chain in names_of_the_face(tree)]
    assert len(chains) > (10 if path.stem != "index" else 3)
    assert sorted({".".join(chain) for chain in chains if not resolves(workbench, chain)}) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_optional_packages_are_asked_for_first(path):
    """At the top of a cell stands only what Python and `pip install tensor-workbench` bring, and what the notebook says
    that it needs: it is skipped without.
    """
    needs = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("workbench", {}).get("needs", [])
    brought = {"numpy", "workbench", "matplotlib", "scipy", "ipywidgets", *needs, *sys.stdlib_module_names}
    top = [node for tree in code(path) for node in tree.body]
    imported = {a.name for node in top if isinstance(node, ast.Import) for a in node.names}
    imported |= {node.module or "" for node in top if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= brought


def test_the_index_leads_to_every_notebook():
    index = ROOT / "notebooks" / "index.ipynb"
    text = "\n".join(source(c) for c in cells(index, "markdown"))
    others = {path.relative_to(index.parent).as_posix() for path in NOTEBOOKS} - {"index.ipynb"}
    assert set(re.findall(r"\]\((?:\./)?([^)#]+\.ipynb)", text)) == others


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_links_lead_somewhere(path):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", "\n".join(source(c) for c in cells(path, "markdown")))
    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []
