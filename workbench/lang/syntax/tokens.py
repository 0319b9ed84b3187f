"""What the basic lexer cannot see: which "(" opens a tuple statement, and where `monoid` is a word.

Newlines are free, so `S = x` followed by `(V(m), I(m)) argmax=! ...` reads like the access `x(V(m), I(m))`.
A "(" opens a tuple statement if it stands where a statement may start and what follows its ")" is `=` or
`name =`; after a name it must also be on a new line.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from lark import Token

STATEMENT_MAY_START_AFTER = frozenset({"LBRACE", "RBRACE", "RPAR", "NUMBER", "NAME"})


class Retag:
    """Lark's post-lexer: the same tokens, some with another type."""

    always_accept = ("UNKNOWN",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Yield the tokens of the text with TUPLE, MONOID, IDENTITY and COMBINE marked."""
        tokens = list(stream)
        _mark_monoids(tokens)
        _mark_tuples(tokens)
        return iter(tokens)


def closing(tokens: list[Token], opening: int) -> int:
    """Position of the ")" that closes the "(" at `opening`; the end if there is none."""
    depth = 0
    for at in range(opening, len(tokens)):
        kind = tokens[at].type
        if kind in ("LPAR", "TUPLE"):
            depth += 1
        elif kind == "RPAR":
            depth -= 1
            if depth == 0:
                return at
        elif kind in ("LBRACE", "RBRACE"):
            break
    return len(tokens)


def _mark_tuples(tokens: list[Token]) -> None:
    depth = 0
    for before, at in pairwise(range(len(tokens))):
        kind = tokens[at].type
        if kind == "LPAR":
            if depth == 0 and _opens_tuple(tokens, before, at):
                tokens[at].type = "TUPLE"
            depth += 1
        elif kind == "RPAR":
            depth = max(0, depth - 1)
        elif kind in ("LBRACE", "RBRACE"):
            depth = 0


def _opens_tuple(tokens: list[Token], before: int, at: int) -> bool:
    previous = tokens[before]
    if previous.type not in STATEMENT_MAY_START_AFTER:
        return False
    if previous.type == "NAME":
        is_target = before == 0 or tokens[before - 1].type in STATEMENT_MAY_START_AFTER
        if is_target or previous.line == tokens[at].line:
            return False
    after = closing(tokens, at) + 1
    following = [token.type for token in tokens[after : after + 2]]
    return following[:1] == ["EQUALS"] or following == ["NAME", "EQUALS"]


def _mark_monoids(tokens: list[Token]) -> None:
    depth, inside, previous = 0, False, "RBRACE"
    for token in tokens:
        if token.type == "LBRACE":
            depth += 1
        elif token.type == "RBRACE":
            depth -= 1
            inside = inside and depth > 0
        elif token.type == "NAME" and depth <= 0 and previous == "RBRACE" and token == "monoid":
            token.type, inside, depth = "MONOID", True, 0
        elif token.type == "NAME" and inside and depth == 1 and token in ("identity", "combine"):
            token.type = token.upper()
        previous = token.type
