"""The instances of a statement from the text of its domain, read and enumerated without isl.

Reads what isl writes: `[N] -> { S0[i, j = 2i] : 0 <= i < N and exists (e0 = floor((i)/2): ...); ... }`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any

FAR = 40  # no instance of a small program lies so far out
TOKEN = re.compile(r"\s*(->|<=|>=|!=|//|[A-Za-z_][A-Za-z_0-9'.$]*|\d+|[-+*/%<>=(){}\[\],:;])")
COMPARISONS = {"<=": "<=", ">=": ">=", "<": "<", ">": ">", "=": "==", "!=": "!="}

Point = tuple[int, ...]
Test = tuple[frozenset[str], str]  # the names it needs, Python source


@lru_cache(maxsize=4096)
def points(text: str, sizes: tuple[tuple[str, int], ...]) -> tuple[Point, ...]:
    """Every instance at some sizes, in lexicographic order."""
    return tuple(sorted({point for piece in pieces(text) for point in piece(dict(sizes))}))


@lru_cache(maxsize=4096)
def pieces(text: str) -> tuple[Callable[[Mapping[str, int]], Iterator[Point]], ...]:
    """An enumerator for each basic set of the text."""
    return tuple(_Reader(text).union())


class _Reader:
    """Recursive descent over one text; formulas become Python source."""

    def __init__(self, text: str) -> None:
        self.tokens, at = [], 0
        text = text.strip()
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                raise ValueError(f"cannot read {text[at:]!r}")
            self.tokens.append(found[1])
            at = found.end()
        self.at = 0

    # -- tokens

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

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

    def union(self) -> Iterator[Callable[[Mapping[str, int]], Iterator[Point]]]:
        if self.accept("["):
            while not self.accept("]"):
                self.take()
            self.take("->")
        self.take("{")
        while not self.accept("}"):
            yield self.basic()
            self.accept(";")

    def basic(self) -> Callable[[Mapping[str, int]], Iterator[Point]]:
        if self.peek() != "[":
            self.take()
        names, tests = [], []
        self.take("[")
        while not self.accept("]"):
            name, *more = self.entry(len(names))
            names.append(name)
            tests += more
            self.accept(",")
        tests += self.conjuncts() if self.accept(":") else []
        return _enumerator(names, tests)

    def entry(self, position: int) -> list[Any]:
        """`i`, `i = 2j` or an expression."""
        token = self.peek()
        following = self.tokens[self.at + 1]
        if re.match(r"[A-Za-z_]", token) and token != "floor" and following in (",", "]", "="):
            self.take()
            if not self.accept("="):
                return [token]
            needs, source = self.sum()
            return [token, (needs | {token}, f"({_name(token)} == {source})")]
        needs, source = self.sum()
        name = f"_{position}"
        return [name, (needs | {name}, f"({_name(name)} == {source})")]

    # -- formulas

    def conjuncts(self) -> list[Test]:
        """The parts of a formula that is one conjunction; the whole formula if it is not."""
        start = self.at
        found = [self.unit()]
        while self.accept("and"):
            found.append(self.unit())
        if self.peek() != "or":
            return found
        self.at = start
        return [self.formula()]

    def formula(self) -> Test:
        found = [self.both()]
        while self.accept("or"):
            found.append(self.both())
        return _joined(found, " or ")

    def both(self) -> Test:
        found = [self.unit()]
        while self.accept("and"):
            found.append(self.unit())
        return _joined(found, " and ")

    def unit(self) -> Test:
        if self.accept("not"):
            needs, source = self.unit()
            return needs, f"(not {source})"
        if self.accept("exists"):
            return self.exists()
        if self.peek() in ("true", "false"):
            return frozenset(), self.take().capitalize()
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
        return self.chain()

    def exists(self) -> Test:
        bracket = self.accept("(")
        given: list[tuple[str, frozenset[str], str]] = []
        while not self.accept(":"):
            name = self.take()
            needs, source = self.sum() if self.accept("=") else (frozenset(), "")
            given.append((name, needs, source))
            self.accept(",")
        tests = self.conjuncts()
        if bracket:
            self.take(")")
        for name, own, value in reversed(given):
            inside = _joined([t for t in tests if name in t[0]] or [(frozenset(), "True")], " and ")
            values = f"[{value}]" if value else f"range({-FAR}, {FAR + 1})"
            quantified = (inside[0] - {name}) | own, f"any({inside[1]} for {_name(name)} in {values})"
            tests = [*(t for t in tests if name not in t[0]), quantified]
        return _joined(tests, " and ")

    def chain(self) -> Test:
        """`0 <= i, j < N`."""
        sides, signs = [self.listed()], []
        while self.peek() in COMPARISONS:
            signs.append(COMPARISONS[self.take()])
            sides.append(self.listed())
        if not signs:
            raise ValueError(f"expected a comparison at {' '.join(self.tokens[self.at :])!r}")
        found = [
            (a[0] | b[0], f"{a[1]} {sign} {b[1]}")
            for left, sign, right in zip(sides, signs, sides[1:], strict=False)
            for a, b in product(left, right)
        ]
        return _joined(found, " and ")

    def listed(self) -> list[Test]:
        found = [self.sum()]
        while self.accept(","):
            found.append(self.sum())
        return found

    # -- expressions

    def sum(self) -> Test:
        needs, source = self.term()
        while self.peek() in ("+", "-"):
            sign = self.take()
            more, text = self.term()
            needs, source = needs | more, f"{source} {sign} {text}"
        return needs, f"({source})"

    def term(self) -> Test:
        if self.accept("-"):
            needs, source = self.term()
            return needs, f"(-{source})"
        needs, source = self.factor()
        while True:
            if self.accept("mod") or self.accept("%"):
                more, text = self.factor()
                source = f"({source} % {text})"
            elif self.accept("*") or self.multiplied():
                more, text = self.factor()
                source = f"({source} * {text})"
            else:
                return needs, source
            needs |= more

    def multiplied(self) -> bool:
        """Whether a factor follows without a sign: `2i`."""
        return bool(re.match(r"[A-Za-z_(]", self.peek())) and self.peek() not in ("and", "or", "mod")

    def factor(self) -> Test:
        token = self.take()
        if token.isdigit():
            return frozenset(), token
        if token == "floor":
            self.take("(")
            needs, source = self.sum()
            self.take("/")
            divisor = self.take()
            self.take(")")
            return needs, f"({source} // {divisor})"
        if token == "(":
            inner = self.sum()
            self.take(")")
            return inner
        if re.match(r"[A-Za-z_]", token):
            return frozenset({token}), _name(token)
        raise ValueError(f"unexpected {token!r} before {' '.join(self.tokens[self.at :])!r}")


def _name(name: str) -> str:
    return "v_" + re.sub(r"\W", "_q", name)


def _joined(found: list[Test], word: str) -> Test:
    if len(found) == 1:
        return found[0]
    return frozenset().union(*(needs for needs, _ in found)), f"({word.join(source for _, source in found)})"


def _enumerator(names: list[str], tests: list[Test]) -> Callable[[Mapping[str, int]], Iterator[Point]]:
    """Nested loops, each condition as far outside as its names allow."""
    known: set[str] = set().union(*(needs for needs, _ in tests)) - set(names)
    lines = ["def found(sizes):", *(f"    {_name(n)} = sizes[{n!r}]" for n in sorted(known))]
    waiting, indent = list(tests), "    "
    for name in [None, *names]:
        if name is not None:
            lines.append(f"{indent}for {_name(name)} in range({-FAR}, {FAR + 1}):")
            indent += "    "
            known.add(name)
        ready = [t for t in waiting if t[0] <= known]
        waiting = [t for t in waiting if not t[0] <= known]
        for _, source in ready:
            lines.append(f"{indent}if not ({source}): {'return' if name is None else 'continue'}")
    values = "".join(_name(n) + "," for n in names)
    lines.append(f"{indent}assert all(abs(x) < {FAR} for x in ({values})), 'an instance far out'")
    lines.append(f"{indent}yield ({values})")
    space: dict[str, Any] = {}
    exec("\n".join(lines), space)
    return space["found"]
