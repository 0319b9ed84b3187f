"""The parser's tables, made ahead: building them from the grammar takes a tenth of a second, reading them little.

`tools/grammar_tables.py` writes grammar_tables.json.  Tables of another grammar or of another version of Lark, which
may keep them otherwise, are not used: the parser is built anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

FILE = Path(__file__).with_name("grammar_tables.json")
GRAMMAR = Path(__file__).with_name("grammar.lark")
STARTS = ["start", "expr"]


def built(transformer: Any, postlex: Any) -> Lark:
    """The parser built from grammar.lark."""
    return Lark(
        GRAMMAR.read_text(encoding="utf-8"), start=STARTS, parser="lalr", lexer="basic",
        postlex=postlex, transformer=transformer, maybe_placeholders=False,
    )  # fmt: skip


def loaded_parser(transformer: Any, postlex: Any) -> Lark:
    """The parser from its tables, or built where they are another version's."""
    tables = json.loads(FILE.read_text(encoding="utf-8"))
    if tables["of"] != _origin():
        return built(transformer, postlex)
    data, table = tables["data"], tables["data"]["parser"]["parser"]
    data["options"] |= {"transformer": transformer, "postlex": postlex}
    table["tokens"] = _by_number(table["tokens"])
    table["states"] = {int(state): _by_number(row) for state, row in table["states"].items()}
    return Lark.load({"data": data, "memo": _by_number(tables["memo"])})


def grammar_tables_text(postlex: Any) -> str:
    """What grammar_tables.json has to hold: what the tables are of, and the tables, with numbers as keys in text."""
    data, memo = built(None, postlex).memo_serialize([TerminalDef, Rule])
    data["options"] |= {"transformer": None, "postlex": None}
    return json.dumps({"of": _origin(), "data": data, "memo": memo}, separators=(",", ":")) + "\n"


def _origin() -> list[str]:
    return [lark.__version__, GRAMMAR.read_text(encoding="utf-8")]


def _by_number(table: dict[str, Any]) -> dict[int, Any]:
    return {int(key): value for key, value in table.items()}
