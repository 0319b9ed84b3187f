"""After a syntax error: what to say, and where the next statement starts."""

from __future__ import annotations

from lark import Token
from lark.parsers.lalr_interactive_parser import InteractiveParser

from workbench.lang.diagnostics import Problem
from workbench.lang.syntax import Span
from workbench.lang.tokens import STATEMENT_MAY_START_AFTER, closing

FIXES = {
    "[": "subscripts are written with parentheses: A(i, j)",
    "]": "subscripts are written with parentheses: A(i, j)",
    ";": "statements need no ';': leave it out",
    "++": "write += 1",
    ".": "tensors have no members; write A(i, j)",
}


def statement_start(tokens: list[Token], at: int) -> int:
    """Where the statement (or, outside a body, the definition) of token `at` starts."""
    for start in range(min(at, len(tokens) - 1), -1, -1):
        if _starts_statement(tokens, start) or tokens[start].type in ("DEF", "MONOID"):
            return start
        if tokens[start].type in ("LBRACE", "RBRACE") and start < at:
            return start + 1
    return 0


def next_statement(tokens: list[Token], at: int) -> int:
    """Where the first statement, closing brace or definition after token `at` starts."""
    in_body = any(token.type == "LBRACE" for token in tokens[:at])
    for stop in range(at + 1, len(tokens)):
        kind = tokens[stop].type
        if kind in ("DEF", "MONOID"):
            return stop
        if in_body and (kind == "RBRACE" or _starts_statement(tokens, stop)):
            return stop
    return len(tokens)


def _starts_statement(tokens: list[Token], at: int) -> bool:
    kind = tokens[at].type
    if kind in ("FOR", "TUPLE"):
        return True
    if kind != "NAME" or at == 0 or tokens[at - 1].type not in STATEMENT_MAY_START_AFTER:
        return False
    after = at + 1
    if after < len(tokens) and tokens[after].type == "LPAR":
        after = closing(tokens, after) + 1
    return after < len(tokens) and tokens[after].type in ("EQUALS", "REDUCE")


def syntax_problem(tokens: list[Token], at: int, parser: InteractiveParser) -> Problem:
    """What was expected at token `at`, what stands there, and a fix for well-known slips."""
    expected = _expected(parser.accepts())
    if at >= len(tokens):
        end = tokens[-1].end_pos if tokens else 0
        return Problem(f"expected {expected} but the text ends here", Span(end or 0, (end or 0) + 1))
    token = tokens[at]
    place = Span(token.start_pos or 0, token.end_pos or 0)
    return Problem(f"expected {expected} but found {str(token)[:40]!r}", place, FIXES.get(str(token), ""))


def _expected(accepts: set[str]) -> str:
    return " or ".join(sorted(accepts))
