"""A place in the words of a text: what stands there, and what must."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TypeVar

from workbench.errors import shown as cut
from workbench.graph.text.tokens import DEEPEST_TEXT, Token, shown
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import Span

R = TypeVar("R")
_MOST_NAMES = 24


class TooDeep(Problem):
    """The text nests so deep that reading on makes no sense."""


class Cursor:
    """Words up to `after`, the first of them at `at`; `depth` counts the brackets around."""

    def __init__(self, words: list[Token], at: int, after: int) -> None:
        self.words, self.at, self.after = words, at, after
        self.depth = 0

    @property
    def word(self) -> Token:
        """The word here; where the definition ends, one of kind `end`."""
        if self.at < self.after:
            return self.words[self.at]
        last = self.words[max(self.after - 1, 0)]
        return Token("end", "", Span(last.span.end, last.span.end), True)

    @property
    def next(self) -> Token:
        """The word after the one here."""
        return self.words[min(self.at + 1, len(self.words) - 1)]

    def take(self) -> Token:
        """The word here; the place moves on."""
        word = self.word
        self.at += 1
        return word

    def sees(self, *texts: str) -> bool:
        """Whether one of these words stands here."""
        return self.word.kind != "end" and self.word.text in texts

    def accept(self, text: str) -> bool:
        """Whether this word stands here, which then is passed."""
        if self.sees(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str, why: str = "") -> Token:
        """This word, which must stand here."""
        if not self.sees(text):
            raise self.unexpected(f"{text!r}{why}")
        return self.take()

    def expect_name(self, what: str) -> Token:
        """A name, which must stand here."""
        if self.word.kind != "name":
            raise self.unexpected(what)
        return self.take()

    def unexpected(self, wanted: str) -> Problem:
        """The problem that something else stands here."""
        return Problem(f"expected {wanted} but found {shown(self.word)}", self.word.span)

    def span_from(self, start: Span) -> Span:
        """From a place to the end of the word before this one."""
        return start.to(self.words[max(self.at - 1, 0)].span)

    def deeper(self) -> None:
        """Count one more bracket around; if there are too many, reading ends."""
        self.depth += 1
        if self.depth > DEEPEST_TEXT:
            message = f"the text nests more than {DEEPEST_TEXT} levels deep"
            raise TooDeep(message, self.word.span, "give parts of it a name: %x = ...")

    def listed(self, read: Callable[[], R], closing: str) -> tuple[list[R], bool]:
        """What `read` reads between here and the closing word, with commas between; whether a comma stands last."""
        found: list[R] = []
        comma = False
        while not self.sees(closing):
            if found and not comma:
                raise self.unexpected(f"',' or {closing!r}")
            found.append(read())
            comma = self.accept(",")
        self.take()
        return found, comma


def unknown_word(kind: str, name: str, known: Iterable[str]) -> str:
    """Message for a name that is not known: the known ones, the nearest first, of very many only so many.

    >>> unknown_word("name", "matmull", ["conv2d", "matmul"])
    "unknown name 'matmull'; did you mean 'matmul'? known: matmul, conv2d"
    """
    every = list(dict.fromkeys(known))
    near = get_close_matches(name, every, n=3, cutoff=0.6)
    ordered = [*near, *(each for each in every if each not in near)]
    more = len(ordered) - _MOST_NAMES
    rest = f", ... ({more} more)" if more > 0 else ""
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown {kind} {cut(name)}; {hint}known: {', '.join(ordered[:_MOST_NAMES]) or '(none)'}{rest}"
