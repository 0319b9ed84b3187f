"""The text of a set of instances, as isl writes it, read without isl.

`[N] -> { S0[i, j = 2i] : 0 <= i < N and exists (e0 = floor((i)/2): ...); ... }` becomes one `Piece` for each way to
satisfy it: conditions that all hold, and what they quantify.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product

TOKEN = re.compile(r"\s*(->|<=|>=|!=|//|[A-Za-z_][A-Za-z_0-9'.$]*|\d+|[-+*/%<>=(){}\[\],:;])")
COMPARISONS = {"<=": "<=", ">=": ">=", "<": "<", ">": ">", "=": "==", "!=": "!="}


@dataclass(frozen=True)
class Test:
    """A Python expression and the variables it needs; `sides` are those of a comparison (`left sign right`)."""

    needs: frozenset[str]
    source: str
    sides: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class Piece:
    """Conditions that all hold.  `given` are quantified variables with their values, as far as the text says them."""

    tests: tuple[Test, ...] = ()
    given: tuple[tuple[str, Test | None], ...] = ()

    def __add__(self, other: Piece) -> Piece:
        return Piece(self.tests + other.tests, self.given + other.given)


Pieces = list[Piece]


def variable(name: str) -> str:
    """A name as Python writes it."""
    return "v_" + re.sub(r"\W", "_q", name)


def read_set(text: str) -> list[tuple[tuple[str, ...], Piece]]:
    """(variables of the tuple, conditions) for each piece."""
    return list(_Reader(text).union())


class _Reader:
    """Recursive descent over one text."""

    def __init__(self, text: str) -> None:
        self.tokens, at = [], 0
        text = text.strip()
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                raise ValueError(f"cannot read {text[at:]!r}")
            self.tokens.append(found[1])
            at = found.end()
        self.at, self.fresh = 0, count()
        self.scope: dict[str, str] = {}

    # -- tokens

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        token = self.peek()
        if expected and token not in expected:
            raise ValueError(f"expected {expected} at {' '.join(self.tokens[self.at :])!r}")
        self.at += 1
        return token

    def accept(self, token: str) -> bool:
        found = self.peek() == token
        self.at += found
        return found

    # -- sets

    def union(self) -> Iterator[tuple[tuple[str, ...], Piece]]:
        if self.accept("["):
            while not self.accept("]"):
                self.take()
            self.take("->")
        self.take("{")
        while not self.accept("}"):
            yield from self.basic()
            self.accept(";")

    def basic(self) -> Iterator[tuple[tuple[str, ...], Piece]]:
        if self.peek() != "[":
            self.take()
        names: list[str] = []
        tests: list[Test] = []
        self.take("[")
        while not self.accept("]"):
            tests += self.entry(names)
            self.accept(",")
        for piece in self.formula() if self.accept(":") else [Piece()]:
            yield tuple(names), Piece(tuple(tests)) + piece

    def entry(self, names: list[str]) -> list[Test]:
        """`i`, `i = 2j` or an expression."""
        if re.match(r"[A-Za-z_]", self.peek()) and self.peek() != "floor" and self.peek(1) in (",", "]", "="):
            names.append(variable(self.take()))
            return [_compared(Test(frozenset(names[-1:]), names[-1]), "==", self.sum())] if self.accept("=") else []
        names.append(f"v_{len(names)}_")
        return [_compared(Test(frozenset(names[-1:]), names[-1]), "==", self.sum())]

    # -- formulas

    def formula(self) -> Pieces:
        found = self.both()
        while self.accept("or"):
            found = found + self.both()
        return found

    def both(self) -> Pieces:
        found = self.unit()
        while self.accept("and"):
            found = [a + b for a, b in product(found, self.unit())]
        return found

    def unit(self) -> Pieces:
        if self.accept("exists"):
            return self.exists()
        if self.peek() in ("true", "false"):
            return [Piece()] if self.take() == "true" else []
        if self.peek() == "(":
            start = self.at
            try:
                self.take("(")
                inner = self.formula()
                self.take(")")
                if self.peek() in (")", "and", "or", "}", ";", ""):
                    return inner
            except ValueError:
                pass
            self.at = start
        return [Piece(tuple(self.chain()))]

    def exists(self) -> Pieces:
        bracket, outside = self.accept("("), self.scope
        given: list[tuple[str, Test | None]] = []
        while not self.accept(":"):
            name = self.take()
            value = self.sum() if self.accept("=") else None
            self.scope = {**self.scope, name: f"v_e{next(self.fresh)}_"}
            given.append((self.scope[name], value))
            self.accept(",")
        found = self.formula() if bracket else self.both()
        if bracket:
            self.take(")")
        self.scope = outside
        return [Piece((), tuple(given)) + piece for piece in found]

    def chain(self) -> Iterator[Test]:
        """`0 <= i, j < N`."""
        left = self.listed()
        if self.peek() not in COMPARISONS:
            raise ValueError(f"expected a comparison at {' '.join(self.tokens[self.at :])!r}")
        found = []
        while self.peek() in COMPARISONS:
            sign, right = COMPARISONS[self.take()], self.listed()
            found += [_compared(a, sign, b) for a, b in product(left, right)]
            left = right
        return iter(found)

    def listed(self) -> list[Test]:
        found = [self.sum()]
        while self.accept(","):
            found.append(self.sum())
        return found

    # -- expressions

    def sum(self) -> Test:
        found = self.term()
        while self.peek() in ("+", "-"):
            sign, more = self.take(), self.term()
            found = Test(found.needs | more.needs, f"{found.source} {sign} {more.source}")
        return Test(found.needs, f"({found.source})")

    def term(self) -> Test:
        if self.accept("-"):
            found = self.term()
            return Test(found.needs, f"(-{found.source})")
        found = self.factor()
        while True:
            if self.accept("mod") or self.accept("%"):
                sign = "%"
            elif self.accept("*") or self.multiplied():
                sign = "*"
            else:
                return found
            more = self.factor()
            found = Test(found.needs | more.needs, f"({found.source} {sign} {more.source})")

    def multiplied(self) -> bool:
        """Whether a factor follows without a sign: `2i`."""
        return bool(re.match(r"[A-Za-z_(]", self.peek())) and self.peek() not in ("and", "or", "mod")

    def factor(self) -> Test:
        token = self.take()
        if token.isdigit():
            return Test(frozenset(), token)
        if token == "floor":
            self.take("(")
            inner = self.sum()
            self.take("/")
            divisor = self.take()
            self.take(")")
            return Test(inner.needs, f"({inner.source} // {divisor})")
        if token == "(":
            inner = self.sum()
            self.take(")")
            return inner
        if re.match(r"[A-Za-z_]", token):
            name = self.scope.get(token, variable(token))
            return Test(frozenset({name}), name)
        raise ValueError(f"unexpected {token!r} before {' '.join(self.tokens[self.at :])!r}")


def _compared(left: Test, sign: str, right: Test) -> Test:
    source = f"{left.source} {sign} {right.source}"
    return Test(left.needs | right.needs, source, (left.source, sign, right.source))
