"""Patterns of a `match` as they are written."""

from __future__ import annotations

from workbench.graph.terms.nodes import Binder, Construction, Items, Pattern, Variable, Wildcard
from workbench.graph.text.cursor import Cursor, unknown_word
from workbench.graph.text.names import Names
from workbench.lang.syntax.diagnostics import Problem

DEEPEST_PATTERN = 60


class PatternReader:
    """Reads a pattern at a cursor; what it names is given to the innermost scope."""

    def __init__(self, cursor: Cursor, names: Names) -> None:
        self.cursor, self.names, self.depth = cursor, names, 0
        self.seen: set[str] = set()

    def pattern(self) -> Pattern:
        """The pattern that stands here."""
        self.depth += 1
        if self.depth > DEEPEST_PATTERN:
            raise Problem(f"the pattern nests more than {DEEPEST_PATTERN} levels deep", self.cursor.word.span)
        found = self._pattern()
        self.depth -= 1
        return found

    def _pattern(self) -> Pattern:
        cursor, start = self.cursor, self.cursor.word.span
        if cursor.accept("("):
            items, comma = cursor.listed(self.pattern, ")")
            return items[0] if len(items) == 1 and not comma else Items(tuple(items), cursor.span_from(start))
        name = cursor.expect_name("a pattern (_, a name, a constructor, or a tuple of patterns)")
        if name.text == "_":
            return Wildcard(name.span)
        known = self.names.declared.datatypes.constructors
        if name.text in known:
            fields: list[Pattern] = []
            if cursor.sees("(") and not cursor.word.fresh:
                cursor.take()
                fields, _ = cursor.listed(self.pattern, ")")
            return Construction(name.text, tuple(fields), cursor.span_from(start))
        if name.text[0].isupper() or cursor.sees("("):
            raise Problem(unknown_word("constructor", name.text, known), name.span)
        if name.text in self.seen:
            raise Problem(f"{name.text!r} stands twice in the pattern", name.span, "choose another name")
        self.seen.add(name.text)
        variable = Variable(self.names.new(name, "a part of a value").text, span=name.span)
        self.names.give(name, variable)
        return Binder(variable, name.span)
