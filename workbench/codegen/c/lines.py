"""Lines of C: blocks and their indentation."""

from __future__ import annotations

INDENT = "    "


def indented(lines: list[str]) -> list[str]:
    """Four spaces deeper; preprocessor lines stay at the margin."""
    return [line if line.startswith("#") else INDENT + line for line in lines]


def unbraced(lines: list[str]) -> list[str]:
    """A body that is one braced block needs no braces of its own."""
    inside = lines[1:-1]
    if len(lines) > 2 and (lines[0], lines[-1]) == ("{", "}") and all(x.startswith((INDENT, "#")) for x in inside):
        return [x.removeprefix(INDENT) for x in inside]
    return lines
