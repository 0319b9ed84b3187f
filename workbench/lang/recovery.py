"""After a syntax error: the tokens without its statement, so that the rest is checked too."""

from __future__ import annotations

from lark import Token

from workbench.lang.tokens import STATEMENT_MAY_START_AFTER, closing

_MAY_PRECEDE = STATEMENT_MAY_START_AFTER | {"UNKNOWN"}


def without_statement(tokens: list[Token], at: int) -> list[Token]:
    """The tokens without the statement (outside a body: the definition) that token `at` stands in."""
    start = _statement_start(tokens, at)
    stop = _next_statement(tokens, at if start < at else at + 1)
    return tokens[:start] + tokens[stop:]


def _statement_start(tokens: list[Token], at: int) -> int:
    for start in range(at, -1, -1):
        if tokens[start].type in ("DEF", "MONOID") and start < at:
            return start
        if start < at and tokens[start].type in ("LBRACE", "RBRACE"):
            return start + 1
        if _starts_statement(tokens, start) and start < at:
            return start
    return 0


def _next_statement(tokens: list[Token], at: int) -> int:
    braces = [token.type for token in tokens[:at]]
    in_body = braces.count("LBRACE") > braces.count("RBRACE")
    for stop in range(at, len(tokens)):
        kind = tokens[stop].type
        if kind in ("DEF", "MONOID") or (in_body and (kind == "RBRACE" or _starts_statement(tokens, stop))):
            return stop
    return len(tokens)


def _starts_statement(tokens: list[Token], at: int) -> bool:
    kind = tokens[at].type
    if kind in ("FOR", "TUPLE"):
        return True
    if kind != "NAME" or at == 0 or tokens[at - 1].type not in _MAY_PRECEDE:
        return False
    after = at + 1
    if after < len(tokens) and tokens[after].type == "LPAR":
        after = closing(tokens, after) + 1
    return after < len(tokens) and tokens[after].type in ("EQUALS", "REDUCE")
