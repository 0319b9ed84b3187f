"""The parser's tables that were made ahead are those of the grammar, and are not used where they are not."""

import json

import pytest

from workbench.lang.syntax import tables
from workbench.lang.syntax.tokens import Retag

TEXT = "def f(float(M,K) A) -> (B) { B(m) +=! A(m,k) where k in 0:K }"


def test_they_are_of_this_grammar_and_the_locked_lark():
    made_of = json.loads(tables.FILE.read_text())["of"]
    assert made_of == tables._origin(), "run tools/grammar_tables.py"


def test_both_parsers_agree():
    assert tables.loaded_parser(None, Retag()).parse(TEXT, start="start") == tables.built(None, Retag()).parse(
        TEXT, start="start"
    )


@pytest.mark.parametrize("changed", [0, 1])
def test_tables_of_something_else_are_not_used(changed, tmp_path, monkeypatch):
    stale = json.loads(tables.FILE.read_text())
    stale["of"][changed] += "?"
    stale["data"] = None
    (tmp_path / "stale.json").write_text(json.dumps(stale))
    monkeypatch.setattr(tables, "FILE", tmp_path / "stale.json")
    assert tables.loaded_parser(None, Retag()).parse(TEXT, start="start")
