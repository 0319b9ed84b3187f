"""The documents are right: code blocks run, links lead somewhere, named files exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import ROOT

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def code_blocks(path: Path) -> str:
    """The Python of a document, one block after the other, at the line numbers of the document."""
    text = path.read_text(encoding="utf-8")
    kept = [""] * text.count("\n")
    for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1))
        lines = block[1].splitlines()
        kept[first : first + len(lines)] = lines
    return "\n".join(kept)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_the_code_runs(path, capsys):
    program = compile(code_blocks(path), str(path), "exec")
    exec(program, {"__name__": "document"})


def test_the_readme_shows_what_it_promises(capsys):
    """The comment `# {...}` behind a printed value of the README is that value."""
    text = code_blocks(ROOT / "README.md")
    exec(compile(text, "README.md", "exec"), {"__name__": "document"})
    promised = re.findall(r"^print\(.*\) +# (\{.*\})$", text, re.MULTILINE)
    printed = capsys.readouterr().out
    assert promised
    assert [line for line in promised if line not in printed] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_a_link_leads_to_a_file(path):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_make_target_a_document_names_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for path in DOCUMENTS for name in re.findall(r"`make ([a-z]+)", path.read_text("utf-8"))}
    assert named <= targets
