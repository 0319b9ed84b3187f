"""A value without words of its own as a title, a sentence and a table of its fields, which are said in few words."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from workbench.lang.expr import Expr
from workbench.lang.printing.printer import show
from workbench.viz.draw.tables import Table

MOST_ITEMS = 8
MOST_LETTERS = 160
NOTHING = "–"


def speaks(value: object) -> bool:
    """Whether a value says by itself how it reads; a record whose `repr` lists its fields does not."""
    kind = type(value)
    if kind.__str__ is not object.__str__:
        return True
    said: Any = kind.__repr__
    listed = getattr(said, "__module__", "") == "workbench.records" or hasattr(said, "__wrapped__")
    return kind.__repr__ is not object.__repr__ and not (is_dataclass(value) and listed)


def described(value: object) -> tuple[str, tuple[str, ...], tuple[Table, ...]]:
    """What kind of value it is and its name, the first sentence of its documentation, its fields."""
    if isinstance(value, Expr):
        return show(value), (), ()
    kind = type(value).__name__
    sentence, *_ = (type(value).__doc__ or "").strip().splitlines() or [""]
    remarks = (sentence,) if sentence and not sentence.startswith(f"{kind}(") else ()
    rows = tuple((name, in_words(own)) for name, own in _fields(value).items())
    return f"{kind} {_name(value)}".rstrip(), remarks, (Table(rows, mono=(1,)),) if rows else ()


def in_words(value: object, depth: int = 1) -> str:
    """A field in one line: expressions as in an operator's text, records by their names, the first of many.

    >>> in_words((1, 2.5, "k")), in_words({"a": None, "b": True}), in_words(range(3)), in_words(())
    ('1, 2.5, k', 'a: –, b: yes', 'range(0, 3)', '–')
    """
    return _cut(_said(value, depth))


def _said(value: object, depth: int) -> str:
    match value:
        case None:
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case Enum():
            return value.name
        case Mapping():
            return _several([f"{in_words(k, depth)}: {in_words(v, depth)}" for k, v in value.items()])
        case list() | tuple() | AbstractSet():
            return _several([_part(each, depth) for each in value])
    if isinstance(value, Expr):
        return show(value)
    if speaks(value):
        return str(value) or NOTHING
    return _name(value) or _inside(value, depth)


def _part(value: object, depth: int) -> str:
    words = in_words(value, depth)
    return f"({words})" if isinstance(value, list | tuple) else words


def _several(words: list[str]) -> str:
    shown = words[:MOST_ITEMS]
    more = f", … ({len(words)} of them)" if len(words) > MOST_ITEMS else ""
    return f"{', '.join(shown)}{more}" or NOTHING


def _inside(value: object, depth: int) -> str:
    """A record within another: its kind, and what it holds unless it is within one already."""
    held = ", ".join(in_words(own, depth - 1) for own in _fields(value).values()) if depth else ""
    return f"{type(value).__name__}({held})" if held else type(value).__name__


def _fields(value: object) -> dict[str, object]:
    """The public fields of a record that can be looked at."""
    names = [each.name for each in fields(value) if each.repr] if is_dataclass(value) else []
    return {name: getattr(value, name) for name in names if not name.startswith("_") and hasattr(value, name)}


def _name(value: object) -> str:
    name = getattr(value, "name", "")
    return name if isinstance(name, str) else ""


def _cut(words: str) -> str:
    """The first line, and not too much of it."""
    first, _, rest = words.partition("\n")
    return f"{first[: MOST_LETTERS - 2]} …" if len(first) > MOST_LETTERS else f"{first} …" if rest.strip() else first
