"""A single type or dimension as text, for programs that build models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from workbench.errors import ModelError
from workbench.graph.terms.datatypes import DataDefinition, datatypes
from workbench.graph.terms.dimensions import Dimension
from workbench.graph.terms.types import Type
from workbench.graph.text.cursor import Cursor
from workbench.graph.text.reading_types import TypeReader
from workbench.graph.text.tokens import tokens
from workbench.lang.syntax.diagnostics import Diagnostics

R = TypeVar("R")


def read_type(text: str, definitions: tuple[DataDefinition, ...] = (), kinds: Mapping[str, str] | None = None) -> Type:
    """The type that a text says: `float32[n, 2*k + 1]`, `fn(List<a>) -> a`; ModelError if it says none.

    `kinds` are the type variables in scope, each with its kind, type or element.
    """
    return _whole(text, lambda cursor: TypeReader(cursor, datatypes(definitions).types, dict(kinds or {})).type())


def read_dimension(text: str) -> Dimension:
    """The dimension that a text says: `2*k + 1`; ModelError if it says none."""
    return _whole(text, lambda cursor: TypeReader(cursor, {}, {}).dimension())


def _whole(text: str, read: Callable[[Cursor], R]) -> R:
    diagnostics = Diagnostics(text, error=ModelError)
    words = tokens(text, diagnostics)
    cursor = Cursor(words, 0, len(words))
    with diagnostics.collect():
        found = read(cursor)
        if cursor.word.kind != "end":
            raise cursor.unexpected("the end")
        return found
    diagnostics.check()
    raise AssertionError("a problem was noted")
