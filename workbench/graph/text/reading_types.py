"""Types and dimensions as they are written."""

from __future__ import annotations

from workbench.graph.terms.datatypes import DataDefinition
from workbench.graph.terms.dimensions import Dimension, dimension
from workbench.graph.terms.types import (
    DataType,
    ElementVariable,
    FunctionType,
    Quantified,
    ReferenceType,
    TensorType,
    TupleType,
    Type,
    TypeVariable,
)
from workbench.graph.text.cursor import Cursor, unknown_word
from workbench.graph.text.tokens import KEYWORDS, Token
from workbench.lang.algebra.normal_form import divide, extreme, remainder
from workbench.lang.dtypes import ALIASES, DTYPES
from workbench.lang.scopes.type_variables import CLASSES
from workbench.lang.syntax.diagnostics import Problem

DEEPEST_TYPE = 60
ANY = "any"


class TypeReader:
    """Reads types at a cursor; `kinds` says of each declared variable whether it is a type or an element."""

    def __init__(self, cursor: Cursor, types: dict[str, DataDefinition], kinds: dict[str, str]) -> None:
        self.cursor, self.types, self.kinds = cursor, types, kinds
        self.depth = 0

    # --- types

    def type(self) -> Type:
        """The type that stands here."""
        self._deeper()
        found = self._type()
        self.depth -= 1
        return found

    def _type(self) -> Type:
        cursor = self.cursor
        if cursor.accept("("):
            items, comma = cursor.listed(self.type, ")")
            return items[0] if len(items) == 1 and not comma else TupleType(tuple(items))
        if cursor.sees("fn"):
            cursor.take()
            cursor.expect("(")
            parameters, _ = cursor.listed(self.type, ")")
            cursor.expect("->", " and the type of the result")
            return FunctionType(tuple(parameters), self.type())
        if cursor.sees("ref"):
            cursor.take()
            cursor.expect("(")
            of = self.type()
            cursor.expect(")")
            return ReferenceType(of)
        return self._named(cursor.expect_name("a type"))

    def _named(self, name: Token) -> Type:
        word = ALIASES.get(name.text, name.text)
        if word in DTYPES:
            return TensorType(DTYPES[word], self._dims())
        kind = self.kinds.get(name.text)
        if kind == "element":
            return TensorType(ElementVariable(name.text), self._dims())
        if kind == "type":
            if self.cursor.sees("["):
                fix = f"declare it as one: <{name.text}: {ANY}>, or of a class: <{name.text}: floats>"
                raise Problem(f"{name.text} is no element type", name.span, fix)
            return TypeVariable(name.text)
        if name.text in self.types:
            return self._applied(name, self.types[name.text])
        known = (*self.kinds, *self.types, *DTYPES)
        raise Problem(unknown_word("type", name.text, known), name.span)

    def _applied(self, name: Token, definition: DataDefinition) -> Type:
        arguments: list[Type] = []
        if self.cursor.accept("<"):
            arguments, _ = self.cursor.listed(self.type, ">")
        if len(arguments) != len(definition.parameters):
            wanted = f"<{', '.join(definition.parameters)}>" if definition.parameters else "no arguments"
            message = f"the type {name.text} takes {wanted}: expected {len(definition.parameters)}"
            raise Problem(f"{message} but found {len(arguments)}", self.cursor.span_from(name.span))
        return DataType(name.text, tuple(arguments))

    def _dims(self) -> tuple[Dimension, ...]:
        if not self.cursor.sees("["):
            return ()
        self.cursor.take()
        return tuple(self.cursor.listed(self.dimension, "]")[0])

    # --- dimensions

    def dimension(self) -> Dimension:
        """The sum that stands here."""
        self._deeper()
        found = self._product()
        while self.cursor.sees("+", "-"):
            sign = self.cursor.take().text
            other = self._product()
            found = found + other if sign == "+" else found - other
        self.depth -= 1
        return found

    def _product(self) -> Dimension:
        found = self._factor()
        while self.cursor.sees("*", "/", "%"):
            sign = self.cursor.take().text
            other = self._factor()
            found = found * other if sign == "*" else divide(found, other) if sign == "/" else remainder(found, other)
        return found

    def _factor(self) -> Dimension:
        cursor = self.cursor
        if cursor.accept("("):
            found = self.dimension()
            cursor.expect(")")
            return found
        if cursor.sees("-"):
            cursor.take()
            self._deeper()
            found = -self._factor()
            self.depth -= 1
            return found
        if cursor.word.kind == "number":
            return dimension(_whole(cursor.take()))
        name = cursor.expect_name("a dimension (a number, a name, or arithmetic of them)")
        if name.text in ("min", "max"):
            cursor.expect("(")
            return extreme(name.text, cursor.listed(self.dimension, ")")[0])
        if name.text in KEYWORDS or name.text in self.kinds:
            raise Problem(f"{name.text!r} is no dimension", name.span, "choose another name")
        return dimension(name.text)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST_TYPE:
            raise Problem(f"the type nests more than {DEEPEST_TYPE} levels deep", self.cursor.word.span)

    # --- declared variables

    def quantified(self) -> tuple[Quantified, ...]:
        """`<a, t: floats>`, if it stands here; its names are known from then on."""
        if not self.cursor.accept("<"):
            return ()
        return tuple(self.cursor.listed(self._quantified, ">")[0])

    def _quantified(self) -> Quantified:
        name = self.cursor.expect_name("the name of a type variable")
        if name.text in (*KEYWORDS, *DTYPES, *ALIASES, *self.types):
            raise Problem(f"{name.text!r} is a word of the language and cannot name a variable", name.span)
        if name.text in self.kinds:
            raise Problem(f"the type variable {name.text!r} is declared twice", name.span, "choose another name")
        if not self.cursor.accept(":"):
            self.kinds[name.text] = "type"
            return Quantified(name.text)
        of = self.cursor.expect_name("a class of element types")
        if of.text != ANY and of.text not in CLASSES:
            raise Problem(unknown_word("class of element types", of.text, (ANY, *CLASSES)), of.span)
        self.kinds[name.text] = "element"
        return Quantified(name.text, "element", "" if of.text == ANY else of.text)


def _whole(number: Token) -> int:
    if not number.text.isdigit() or len(number.text) > 18:
        raise Problem("expected a whole number of at most 18 digits", number.span)
    return int(number.text)
