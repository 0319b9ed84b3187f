"""Expressions as they are written: words to terms, names resolved."""

from __future__ import annotations

from dataclasses import replace

from workbench.graph.terms.dimensions import Dimension
from workbench.graph.terms.nodes import (
    Call,
    Constant,
    Constructor,
    NewReference,
    Primitive,
    Projection,
    ReadReference,
    Term,
    Tuple,
    WriteReference,
)
from workbench.graph.terms.scalars import INFIX, infix
from workbench.graph.terms.walking import Steps
from workbench.graph.text.cursor import unknown_word
from workbench.graph.text.literals import scalar_array
from workbench.graph.text.reading_blocks import BlockReader
from workbench.graph.text.tokens import KEYWORDS, Token
from workbench.lang.dtypes import ALIASES, DTYPES, DType
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import PRECEDENCE, Span

WORDS_OF_NUMBERS = ("true", "false", "inf", "nan")


class Reader(BlockReader):
    """Reads terms at a cursor."""

    def expression(self) -> Steps[Term]:
        """The expression that stands here: `r := v`, or what an infix chain gives."""
        self.cursor.deeper()
        start = self.cursor.word.span
        found = yield self._operation(0)
        if self.cursor.sees(":="):
            self.cursor.take()
            value = yield self.expression()
            found = WriteReference(found, value, self.cursor.span_from(start))
        self.cursor.depth -= 1
        return found

    def _operation(self, level: int) -> Steps[Term]:
        """A chain of infix signs that bind at least so strongly."""
        start = self.cursor.word.span
        left = yield self._prefix()
        while (sign := self._sign()) is not None and PRECEDENCE[sign] >= level:
            at = self.cursor.take().span
            right = yield self._operation(PRECEDENCE[sign] + 1)
            left = Call(Primitive(infix(sign), at), (left, right), span=self.cursor.span_from(start))
        return left

    def _sign(self) -> str | None:
        """The infix sign here; a minus that begins a line begins a statement."""
        word = self.cursor.word
        return (
            word.text if word.kind == "sign" and word.text in INFIX and not (word.fresh and word.text == "-") else None
        )

    def _prefix(self) -> Steps[Term]:
        if self.cursor.sees("!"):
            start = self.cursor.take().span
            self.cursor.deeper()
            of = yield self._prefix()
            self.cursor.depth -= 1
            return ReadReference(of, self.cursor.span_from(start))
        return (yield self._applied())

    def _applied(self) -> Steps[Term]:
        """A primary with what is applied to it: arguments on the same line, projections."""
        start = self.cursor.word.span
        found = yield self._primary()
        while True:
            if self.cursor.sees("(") and not self.cursor.word.fresh:
                found = yield self._call(found, start)
            elif self.cursor.sees(".") and not self.cursor.word.fresh:
                self.cursor.take()
                for index in self._index():
                    found = Projection(found, index, self.cursor.span_from(start))
            else:
                return found

    def _index(self) -> list[int]:
        """`0`, or `0.1` of `t.0.1`."""
        token = self.cursor.take()
        digits = token.text.split(".")
        if token.kind != "number" or not all(each.isdigit() and len(each) < 6 for each in digits):
            raise Problem("expected the number of an item: t.0", token.span)
        return [int(each) for each in digits]

    def _call(self, function: Term, start: Span) -> Steps[Term]:
        self.cursor.expect("(")
        arguments: list[Term] = []
        sizes: dict[str, Dimension] = {}
        while not self.cursor.accept(")"):
            if arguments or sizes:
                self.cursor.expect(",", " or ')'")
                if self.cursor.accept(")"):
                    break
            if self.cursor.word.kind == "name" and self.cursor.next.text == "=":
                self._size(sizes)
            elif sizes:
                raise self.cursor.unexpected("name=size, as those before it")
            else:
                arguments.append((yield self.expression()))
        return Call(function, tuple(arguments), tuple(sizes.items()), span=self.cursor.span_from(start))

    def _size(self, sizes: dict[str, Dimension]) -> None:
        name = self.cursor.take()
        self.cursor.take()
        if name.text in sizes:
            raise Problem(f"{name.text} is given twice", name.span)
        sizes[name.text] = self.types().dimension()

    # --- primaries

    def _primary(self) -> Steps[Term]:
        word = self.cursor.word
        match word.text:
            case "(":
                return (yield self._parentheses())
            case "{":
                return (yield self.block())
            case "fn":
                self.cursor.take()
                return (yield self.function())
            case "if":
                return (yield self.condition())
            case "match":
                return (yield self.match())
            case "ref":
                return (yield self._new_reference())
        if word.kind == "number" or word.text == "-" or word.text in WORDS_OF_NUMBERS:
            return self._number(None)
        if word.kind == "constant":
            return self._constant(self.cursor.take())
        if word.kind not in ("name", "node") or word.text in KEYWORDS:
            raise self.cursor.unexpected("an expression")
        return self._name(self.cursor.take())

    def _name(self, word: Token) -> Term:
        of = DTYPES.get(ALIASES.get(word.text, word.text))
        if of is not None:
            return self._typed_number(word, of)
        found = self.names.meaning(word)
        if isinstance(found, Constructor) and not (self.cursor.sees("(") and not self.cursor.word.fresh):
            _, variant = self.datatypes.constructors[found.name]
            return Call(found, (), span=word.span) if not variant.fields else found
        return found

    def _new_reference(self) -> Steps[Term]:
        start = self.cursor.take().span
        self.cursor.expect("(")
        value = yield self.expression()
        self.cursor.expect(")")
        return NewReference(value, self.cursor.span_from(start))

    def _parentheses(self) -> Steps[Term]:
        start = self.cursor.take().span
        self.cursor.deeper()
        items: list[Term] = []
        comma = False
        while not self.cursor.accept(")"):
            if items and not comma:
                raise self.cursor.unexpected("',' or ')'")
            items.append((yield self.expression()))
            comma = self.cursor.accept(",")
        self.cursor.depth -= 1
        return items[0] if len(items) == 1 and not comma else Tuple(tuple(items), self.cursor.span_from(start))

    # --- constants

    def _typed_number(self, word: Token, of: DType) -> Term:
        self.cursor.expect("(", f" and a number: {word.text} names a type")
        found = self._number(of)
        self.cursor.expect(")")
        return replace(found, span=self.cursor.span_from(word.span))

    def _number(self, of: DType | None) -> Constant:
        start = self.cursor.word.span
        negative = self.cursor.accept("-")
        word = self.cursor.take()
        if (word.kind != "number" and word.text not in WORDS_OF_NUMBERS) or (
            negative and word.text in ("true", "false")
        ):
            raise Problem("expected a number", word.span, "a minus stands before numbers only; write 0.0 - x")
        span = self.cursor.span_from(start)
        return Constant(scalar_array(word.text, negative, of, span), span)

    def _constant(self, word: Token) -> Constant:
        number = int(word.text.partition("#")[2][:9])
        if number not in self.declared.constants:
            known = [f"const#{each}" for each in self.declared.constants]
            raise Problem(
                unknown_word("constant", word.text, known), word.span, "give arrays: wb.model(text, constants=[...])"
            )
        return Constant(self.declared.constants[number], word.span)
