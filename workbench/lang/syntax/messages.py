"""Words for syntax errors: what was expected, and what stands there."""

from __future__ import annotations

from lark import Token

from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.fixes import COMMENT, fix_for, misspelt, operator_missing
from workbench.lang.syntax.terms import Span

ASSIGNMENTS = "=, +=, +=!, *=, *=!, min=, min=!, max= or max=!"
WORDS = {
    "ARROW": "'->'",
    "COLON": "':'",
    "COMBINE": "'combine'",
    "COMMA": "','",
    "DEF": "'def'",
    "EQUALS": "'='",
    "IDENTITY": "'identity'",
    "IN": "'in'",
    "LBRACE": "'{'",
    "LESS": "'<'",
    "LPAR": "'('",
    "MORE": "'>'",
    "NAME": "a name",
    "QMARK": "'?'",
    "RBRACE": "'}'",
    "RPAR": "')'",
    "WHERE": "'where'",
}


def syntax_problem(tokens: list[Token], at: int, accepts: set[str]) -> Problem:
    """The message for token `at` (the end of the text if there is none), given what the parser accepts."""
    expected = expected_words(accepts)
    if at >= len(tokens):
        end = (tokens[-1].end_pos or 1) if tokens else 0
        fix = "a '}' is missing" if "RBRACE" in accepts else ""
        return Problem(f"expected {expected} but the text ends here", Span(end, end + 1), fix)
    token = tokens[at]
    before = tokens[at - 1] if at else None
    if before is not None and before.type == "NAME" and (slip := misspelt(tokens, at)):
        return slip
    if str(before) == "/" and str(token) in "/*":
        return Problem(f"expected an expression but found '/{token}'", _span(token), COMMENT)
    fix = fix_for(tokens, at, accepts)
    if "REDUCE" in accepts and not fix and (gap := operator_missing(tokens, at)):
        return gap
    if before is not None and token.type == "RBRACE" and (before.line or 0) < (token.line or 0):
        end = before.end_pos or 0
        return Problem(f"expected {expected} after {_shown(before)}, where the statement ends", Span(end, end + 1), fix)
    return Problem(f"expected {expected} but found {_shown(token)}", _span(token), fix)


def expected_words(accepts: set[str]) -> str:
    """What the parser would accept, in a few words.

    >>> expected_words({"EQUALS", "REDUCE"})
    'a valid assignment operator (=, +=, +=!, *=, *=!, min=, min=!, max= or max=!)'
    """
    if "DEF" in accepts:
        return "'def' or 'monoid'"
    if "NUMBER" in accepts:
        return "an expression or ')'" if "RPAR" in accepts else "an expression"
    if "REDUCE" in accepts:
        return f"a valid assignment operator ({ASSIGNMENTS})"
    words = ["an operator"] if "BINARY" in accepts else []
    if "FOR" in accepts:
        words += ["'where'"] if "WHERE" in accepts else []
        words += ["a statement", "'}'"]
        return _joined(words)
    words += [WORDS[name] for name in sorted(accepts) if name in WORDS and name not in _implied(accepts)]
    return _joined(words)


def _implied(accepts: set[str]) -> set[str]:
    """What goes without saying where an operator may stand."""
    return {"LESS", "MORE", "QMARK", "LPAR"} if "BINARY" in accepts else set()


def _joined(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "the end of the text"


def _shown(token: Token) -> str:
    text = str(token)
    return repr(text if len(text) <= 30 else text[:30] + "…")


def _span(token: Token) -> Span:
    return Span(token.start_pos or 0, token.end_pos or 0)
