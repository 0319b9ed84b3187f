"""Errors in operator text: each points at its token, says what was expected, and shows a fix if there is one.

A `Problem` is raised where it is found and collected where work can go on (a statement, a parameter), so
that one `OperatorError` reports several.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from workbench.errors import OperatorError, WorkbenchError
from workbench.lang.syntax.terms import Span
from workbench.records import record

MOST_PROBLEMS = 10


class Problem(Exception):
    """One thing that is wrong at one place of the text.

    `notes` are lines of background (what is known so far), `fix` says what to write instead.
    """

    def __init__(self, message: str, span: Span, fix: str = "", notes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message, self.span, self.fix, self.notes = message, span, fix, notes


@record(frozen=False)
class Diagnostics:
    """Problems found so far in one text, and how many statements were resolved; `error` is what they are raised as.

    `failed` are the steps that could not be resolved, each with its problem.
    """

    text: str
    problems: list[Problem] = field(default_factory=list)
    statements: int = 0
    error: type[WorkbenchError] = OperatorError
    failed: list[tuple[Problem, object]] = field(default_factory=list)

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Record a Problem raised inside and go on after the block."""
        try:
            yield
        except Problem as problem:
            self.add(problem)

    def add(self, problem: Problem) -> None:
        """Record a problem that is not known yet; with too many, stop at once."""
        known = [(each.span, each.message) for each in self.problems]
        if (problem.span, problem.message) in known:
            return
        self.problems.append(problem)
        if len(self.problems) >= MOST_PROBLEMS:
            self.check()

    def check(self) -> None:
        """Raise the error if anything was recorded."""
        if self.problems:
            raise self.error(report(self.text, self.problems))


def report(text: str, problems: list[Problem]) -> str:
    """All problems, in the order of the text, each with its line and a caret."""
    ordered = sorted(problems, key=lambda problem: problem.span)
    parts = [_describe(text, problem) for problem in ordered]
    if len(parts) == 1:
        return parts[0]
    more = " (there may be more)" if len(parts) >= MOST_PROBLEMS else ""
    return f"{len(parts)} errors{more}\n\n" + "\n\n".join(parts)


def _describe(text: str, problem: Problem) -> str:
    line, column = position(text, problem.span.start)
    lines = [f"line {line}, column {column}: {problem.message}", excerpt(text, problem.span)]
    lines += [f"  {note}" for note in problem.notes]
    if problem.fix:
        lines.append(f"  fix: {problem.fix}")
    return "\n".join(lines)


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of a character, both counted from 1."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def excerpt(text: str, span: Span, width: int = 96) -> str:
    """The line of `span.start` with a caret under it; long lines are cut around it."""
    begin = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", begin)
    line = text[begin : end if end >= 0 else len(text)].replace("\t", " ").rstrip()
    column = span.start - begin
    length = max(1, min(span.end - span.start, len(line) - column))
    if len(line) > width:
        shift = max(0, min(column - width // 3, len(line) - width))
        line, column = line[shift : shift + width], column - shift
        length = min(length, width - column)
    number = str(position(text, span.start)[0])
    printable = "".join(c if c.isprintable() else "?" for c in line)
    caret = " " * column + "^" + "~" * (length - 1)
    return f"  {number} | {printable}\n  {' ' * len(number)} | {caret}"
