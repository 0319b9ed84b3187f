"""A single type as text, for programs that build models."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import ModelError
from workbench.graph.terms.datatypes import DataDefinition, datatypes
from workbench.graph.terms.types import Type
from workbench.graph.text.cursor import Cursor
from workbench.graph.text.reading_types import TypeReader
from workbench.graph.text.tokens import tokens
from workbench.lang.diagnostics import Diagnostics


def read_type(text: str, definitions: tuple[DataDefinition, ...] = (), kinds: Mapping[str, str] | None = None) -> Type:
    """The type that a text says: `float32[n, 2*k + 1]`, `fn(List<a>) -> a`; ModelError if it says none.

    `kinds` are the type variables in scope, each with its kind, type or element.
    """
    diagnostics = Diagnostics(text, error=ModelError)
    words = tokens(text, diagnostics)
    cursor = Cursor(words, 0, len(words))
    with diagnostics.collect():
        found = TypeReader(cursor, datatypes(definitions).types, dict(kinds or {})).type()
        if cursor.word.kind != "end":
            raise cursor.unexpected("the end of the type")
        return found
    diagnostics.check()
    raise AssertionError("a problem was noted")
