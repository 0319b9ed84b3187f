"""Typeset mathematics as plain data: nine kinds of nodes, printed as MathML, LaTeX and text elsewhere."""

from __future__ import annotations

from workbench.records import record


@record(slots=True)
class Name:
    """A variable, a tensor, a size; `upright` for functions and words."""

    text: str
    upright: bool = False


@record(slots=True)
class Number:
    """A literal as it is to be read."""

    text: str


@record(slots=True)
class Sign:
    """An operator or relation between two things; `tight` for one that belongs to what follows (a minus)."""

    text: str
    tight: bool = False


@record(slots=True)
class Row:
    """Things one after another."""

    parts: tuple[Math, ...]


@record(slots=True)
class Script:
    """Subscripts of a tensor (`sub`), or a power (`sup`)."""

    base: Math
    sub: tuple[Math, ...] = ()
    sup: Math | None = None


@record(slots=True)
class Fraction:
    """One thing over another."""

    above: Math
    below: Math


@record(slots=True)
class Root:
    """A square root."""

    inside: Math


@record(slots=True)
class Big:
    """A sum, product, maximum, ... over indices."""

    symbol: str
    under: tuple[Math, ...]
    body: Math


@record(slots=True)
class Cases:
    """Values with their conditions; the last condition is None (otherwise)."""

    rows: tuple[tuple[Math, Math | None], ...]


@record(slots=True)
class Fence:
    """Something between brackets that grow with it."""

    left: str
    inside: Math
    right: str


Math = Name | Number | Sign | Row | Script | Fraction | Root | Big | Cases | Fence


def math_row(*parts: Math) -> Math:
    """Parts in a row, rows inside it opened."""
    flat = [p for part in parts for p in (part.parts if isinstance(part, Row) else (part,))]
    return flat[0] if len(flat) == 1 else Row(tuple(flat))


def listed(parts: list[Math]) -> Math:
    """Parts with commas between them."""
    found: list[Math] = []
    for i, part in enumerate(parts):
        found += [Sign(",", tight=True), part] if i else [part]
    return math_row(*found)
