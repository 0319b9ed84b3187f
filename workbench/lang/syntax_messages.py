"""Words for syntax errors: what was expected, what stands there, and a fix for the slips people make."""

from __future__ import annotations

from lark import Token

from workbench.lang.diagnostics import Problem
from workbench.lang.terms import Span

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
KEYWORDS = frozenset({"DEF", "EXISTS", "FOR", "IN", "WHERE"})
BY_TOKEN = {
    "[": "subscripts are written with parentheses: A(i, j)",
    "]": "subscripts are written with parentheses: A(i, j)",
    ";": "statements need no ';': leave it out",
    ".": "tensors have no members; write A(i, j)",
}
BY_WORD = {"and": "write &&", "or": "write ||", "not": "write !", "if": "write condition ? value : other"}


def syntax_problem(tokens: list[Token], at: int, accepts: set[str]) -> Problem:
    """The message for token `at` (the end of the text if there is none), given what the parser accepts."""
    expected = expected_words(accepts)
    if at >= len(tokens):
        end = (tokens[-1].end_pos or 1) if tokens else 0
        fix = "a '}' is missing" if "RBRACE" in accepts else ""
        return Problem(f"expected {expected} but the text ends here", Span(end, end + 1), fix)
    token = tokens[at]
    before = tokens[at - 1] if at else None
    if before is not None and before.type == "NAME" and str(before) in BY_WORD:
        return Problem(f"expected an operator but found {str(before)!r}", _span(before), BY_WORD[before])
    return Problem(f"expected {expected} but found {_shown(token)}", _span(token), _fix(tokens, at, accepts))


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


def _fix(tokens: list[Token], at: int, accepts: set[str]) -> str:
    token, before = tokens[at], tokens[at - 1] if at else None
    after = str(tokens[at + 1]) if at + 1 < len(tokens) else ""
    text, previous = str(token), str(before) if before is not None else ""
    if token.type == "UNKNOWN":
        return _fix_unknown(text)
    if token.type in KEYWORDS and "NAME" in accepts and "FOR" not in accepts:
        return f"{text!r} is a reserved word; choose another name"
    if previous == "for" and text == "(":
        return "'for' is a reserved word; a loop is written: for t in 1:T { ... }"
    return _fix_operator(text, previous, after) or _fix_structure(token, previous, accepts)


def _fix_unknown(text: str) -> str:
    if text in BY_TOKEN:
        return BY_TOKEN[text]
    if ".." in text:
        return "a range is written lo:hi, without the last value: 0:4"
    if text[0] in "0123456789":
        return "a number has no suffix; its precision is that of its context"
    if not text.isascii():
        return "names are made of the letters a to z, digits and _"
    return ""


def _fix_operator(text: str, previous: str, after: str) -> str:
    match previous, text, after:
        case _, "-", "=":
            return "there is no -=; write += -(...)"
        case _, "=", "<" | ">":
            return f"write {after}="
        case "*", "*", _:
            return "powers are written pow(x, y), squares x * x"
        case _, "/", "/":
            return "a comment starts with #"
        case "=", "=", _:
            return "== compares; an assignment has one ="
    return ""


def _fix_structure(token: Token, previous: str, accepts: set[str]) -> str:
    if previous == "->" and token.type == "NAME":
        return f"outputs stand in parentheses: -> ({token})"
    if "DEF" in accepts:
        return "statements stand in a definition: def name(float(N) A) -> (B) { B(i) = A(i) }"
    if token.type == "COLON":
        return "a range is written with in: k in 0:4"
    if accepts == {"LPAR", "NAME"} and token.type in ("RPAR", "COMMA"):
        return f"an input needs a type: float(N) {previous}"
    if "WHERE" not in accepts and "FOR" in accepts and token.type == "DEF":
        return "a '}' is missing before this def"
    return ""
