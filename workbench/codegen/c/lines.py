"""Lines of C: blocks and their indentation, and for each line what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.codegen.kernel import Origin

INDENT = "    "


class Line(str):
    """A line of text with the statements (ids) that it executes or encloses, and the schedule's loop that it begins."""

    __slots__ = ("origin",)
    origin: Origin

    def __new__(cls, text: str, statements: Iterable[str] = (), loop: str = "") -> Line:
        made = super().__new__(cls, text)
        made.origin = Origin(tuple(statements), loop)
        return made


def origin_of(line: str) -> Origin:
    """What a line is about; nothing if nobody said."""
    return line.origin if isinstance(line, Line) else Origin()


def rewritten_line(line: str, text: str) -> str:
    """Another text about the same."""
    return Line(text, line.origin.statements, line.origin.loop) if isinstance(line, Line) else text


def executed_statements(lines: Iterable[str]) -> tuple[str, ...]:
    """The statements that lines execute, in order."""
    return tuple(dict.fromkeys(s for line in lines for s in origin_of(line).statements))


def owned(lines: Sequence[str], statements: Sequence[str] | None = None) -> list[str]:
    """The lines, those that nobody claimed now of `statements`; by default of the only one that the others execute."""
    own = executed_statements(lines) if statements is None else statements
    if statements is None and len(own) != 1:
        return [*lines]
    return [line if origin_of(line).statements else Line(line, own, origin_of(line).loop) for line in lines]


def block_head(head: str, body: Iterable[str], loop: str = "") -> Line:
    """The first line of a block, which belongs to every statement in it."""
    return Line(head, executed_statements(body), loop)


def indented(lines: Iterable[str]) -> list[str]:
    """Four spaces deeper; preprocessor lines stay at the margin."""
    return [line if line.startswith("#") else rewritten_line(line, INDENT + line) for line in lines]


def unbraced(lines: list[str]) -> list[str]:
    """A body that is one braced block needs no braces of its own."""
    inside = lines[1:-1]
    if len(lines) > 2 and (lines[0], lines[-1]) == ("{", "}") and all(x.startswith((INDENT, "#")) for x in inside):
        return [rewritten_line(x, x.removeprefix(INDENT)) for x in inside]
    return lines


def braced(head: str, body: list[str], loop: str = "", end: str = "}") -> list[str]:
    """A block: its head, the body one step deeper, its end."""
    return [block_head(head, body, loop), *indented(body), end]


def conditional_lines(head: str, then: list[str], otherwise: list[str] | None) -> list[str]:
    """Lines under a condition, and the others."""
    lines = [block_head(head, then), *indented(then)]
    if otherwise is not None:
        lines += [block_head("} else {", otherwise), *indented(otherwise)]
    return [*lines, "}"]
