"""Words of the text form of models, and how a text falls into its definitions."""

from __future__ import annotations

import re

from workbench.lang.syntax.diagnostics import Diagnostics, Problem
from workbench.lang.syntax.terms import Span
from workbench.records import record

LONGEST_TEXT = 4_000_000
DEEPEST_TEXT = 1000

KEYWORDS = frozenset(
    {"fn", "def", "monoid", "type", "let", "if", "else", "match", "ref", "true", "false", "inf", "nan"}
)

_TOKEN = re.compile(
    r"(?P<blank>[ \t\r\f\n]+|\#[^\n]*)"
    r"|(?P<constant>const\#[0-9]+)"
    r"|(?P<node>%[A-Za-z0-9_]+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?(?![\w.]))"
    r"|(?P<wrong>[0-9][\w.]*)"
    r"|(?P<sign>->|=>|:=|<=|>=|==|!=|&&|\|\||.)",
    re.DOTALL,
)


@record(slots=True)
class Token:
    """A word of the text; `fresh` if it is the first of its line.

    `kind` is constant, node, name, number, wrong (begins like a number and is none), sign or end.
    """

    kind: str
    text: str
    span: Span
    fresh: bool


def tokens(text: str, diagnostics: Diagnostics) -> list[Token]:
    """The words of a text with an `end` behind them; a text that is far too long is refused at once."""
    if len(text) > LONGEST_TEXT:
        size = f"the text has {len(text)} characters, and at most {LONGEST_TEXT} are read"
        diagnostics.add(Problem(size, Span(0, 1), "constants are kept beside the text; what repeats is a function"))
        diagnostics.check()
    found: list[Token] = []
    fresh = True
    for each in _TOKEN.finditer(text):
        kind, word = each.lastgroup or "sign", each[each.lastgroup or 0]
        if kind == "blank":
            fresh = fresh or "\n" in word
            continue
        found.append(Token(kind, word, Span(each.start(), each.end()), fresh))
        fresh = False
    found.append(Token("end", "", Span(len(text), len(text)), True))
    return found


def shown(token: Token) -> str:
    """A word as a message names it."""
    if token.kind == "end":
        return "the end of the text"
    return repr(token.text) if token.text.isprintable() else f"the character {token.text!a}"


@record(slots=True)
class Item:
    """A definition of the text: what its first word says it is, and the words `first <= position < after`.

    One that is not `closed` has no body, or one that never ends.
    """

    kind: str
    first: int
    after: int
    closed: bool = True


_ITEMS = ("fn", "type", "def", "monoid", "const")


def items(words: list[Token], diagnostics: Diagnostics) -> list[Item]:
    """The definitions of a text; what stands between them is reported once and left out."""
    found: list[Item] = []
    at, lost = 0, False
    while words[at].kind != "end":
        kind = _kind(words[at])
        if kind is None:
            if not lost:
                expected = "expected a definition (fn, type, def, monoid or const#0: type)"
                diagnostics.add(Problem(f"{expected} but found {shown(words[at])}", words[at].span))
            at, lost = at + 1, True
            continue
        before = len(diagnostics.problems)
        after = _after(words, at, kind, diagnostics)
        found.append(Item(kind, at, after, len(diagnostics.problems) == before))
        at, lost = after, False
    return found


def _kind(word: Token) -> str | None:
    kind = "const" if word.kind == "constant" else word.text
    return kind if kind in _ITEMS else None


def _after(words: list[Token], first: int, kind: str, diagnostics: Diagnostics) -> int:
    """Where a definition ends: behind its closing brace, or where the next one begins."""
    braces = kind in ("fn", "def", "monoid")
    depth, opening, at = 0, None, first
    for at in range(first + 1, len(words)):
        word = words[at]
        if word.text == "{":
            depth, opening = depth + 1, opening or word
        elif word.text == "}":
            depth -= 1
            if depth <= 0 and braces:
                return at + 1
        elif word.kind == "end" or (depth == 0 and word.fresh and _kind(word) and not _types_function(words, at)):
            break
    if braces:
        message = "this { is never closed" if opening else f"the body of {words[first + 1].text!r} is missing"
        diagnostics.add(Problem(message, (opening or words[first]).span, "" if opening else "write { ... }"))
    return at


def _types_function(words: list[Token], at: int) -> bool:
    """Whether this `fn` is that of a function's type, which has no name."""
    return words[at].text == "fn" and words[at + 1].text == "("
