"""Blocks, functions and `match` as they are written; a mistake in one statement does not hide the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.nodes import Call, Clause, Function, If, Let, Match, Projection, Term, Variable
from workbench.graph.terms.types import Type
from workbench.graph.terms.walking import Steps
from workbench.graph.text.cursor import Cursor, TooDeep
from workbench.graph.text.names import Declared, Names
from workbench.graph.text.reading_patterns import PatternReader
from workbench.graph.text.reading_types import TypeReader
from workbench.graph.text.tokens import Token
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import Span
from workbench.records import record


@record(slots=True)
class _Bound:
    """A `let` of a block before its body is known; `value` is None where it could not be read."""

    variable: Variable
    value: Term
    span: Span


class BlockReader:
    """The half of a reader that knows blocks; `expression` is the other half."""

    def __init__(self, cursor: Cursor, declared: Declared) -> None:
        self.cursor, self.declared = cursor, declared
        self.names = Names(declared)
        self.kinds: dict[str, str] = {}

    @property
    def datatypes(self) -> Datatypes:
        """The data types that the text knows."""
        return self.declared.datatypes

    def expression(self) -> Steps[Term]:
        """The expression that stands here."""
        raise NotImplementedError

    def types(self) -> TypeReader:
        """A reader of the types that stand here."""
        return TypeReader(self.cursor, self.datatypes.types, self.kinds)

    # --- functions

    def function(self) -> Steps[Term]:
        """`fn<a>(x: type) -> type { ... }`, behind the word `fn` and a name if it has one."""
        start, outer = self.cursor.words[self.cursor.at - 1].span, self.kinds
        self.kinds = dict(outer)
        self.names.enter()
        quantified = self.types().quantified()
        self.cursor.expect("(")
        parameters = tuple(self.cursor.listed(self._parameter, ")")[0])
        result = self.types().type() if self.cursor.accept("->") else None
        body = yield self.block()
        self.names.leave()
        self.kinds = outer
        return Function(parameters, body, result, quantified, self.cursor.span_from(start))

    def _parameter(self) -> Variable:
        name = self.names.new(self.cursor.expect_name("the name of a parameter"), "a parameter")
        if name.text in self.names.scopes[-1]:
            raise Problem(f"two parameters are named {name.text!r}", name.span, "choose another name")
        variable = Variable(name.text, self._annotation(), name.span)
        self.names.give(name, variable)
        return variable

    def _annotation(self) -> Type | None:
        return self.types().type() if self.cursor.accept(":") else None

    # --- blocks

    def block(self) -> Steps[Term]:
        """`{ statements result }`."""
        opening = self.cursor.expect("{")
        self.cursor.deeper()
        self.names.enter()
        bound: list[_Bound] = []
        result: Term | None = None
        while not self.cursor.sees("}"):
            if self.cursor.word.kind == "end":
                raise self.cursor.unexpected("'}'")
            if result is not None:
                bound.append(_Bound(Variable("_"), result, result.span))
            result = yield self._statement(bound)
            self._end_statement()
        if result is None:
            problem = Problem(
                "the block ends without a result", self.cursor.word.span, "write the result as its last line"
            )
            self.declared.diagnostics.add(problem)
            result = Variable("_", span=opening.span)
        self.cursor.take()
        self.cursor.depth -= 1
        self.names.leave()
        for each in reversed(bound):
            result = Let(each.variable, each.value, result, each.span)
        return result

    def _end_statement(self) -> None:
        if not self.cursor.accept(";") and not self.cursor.word.fresh and not self.cursor.sees("}"):
            self.declared.diagnostics.add(self.cursor.unexpected("a new line or ';' behind a statement"))
            self._skip(self.cursor.at)

    def _statement(self, bound: list[_Bound]) -> Steps[Term | None]:
        """The value of an expression; None for what gives a name."""
        first, depth, scopes = self.cursor.at, self.cursor.depth, len(self.names.scopes)
        kinds = self.kinds
        try:
            if self.cursor.sees("let"):
                yield self._let(bound)
                return None
            if self.cursor.word.kind == "node" and self.cursor.next.text == "=":
                yield self._node()
                return None
            return (yield self.expression())
        except TooDeep:
            raise
        except Problem as problem:
            self.declared.diagnostics.add(problem)
            self.cursor.depth, self.kinds = depth, kinds
            del self.names.scopes[scopes:]
            self._skip(first)
            return Variable("_", span=problem.span)

    def _skip(self, first: int) -> None:
        """Go to where the next statement seems to begin; what this one names is known from then on."""
        cursor, depth = self.cursor, 0
        known = cursor.words[first + 1] if cursor.words[first].text == "let" else cursor.words[first]
        if known.kind in ("node", "name") and cursor.words[first].text in ("let", known.text):
            self.names.give(replace(known), Variable(known.text, span=known.span))
            self.names.scopes[-1][known.text].used = True
        cursor.at = first
        curly = 0
        while cursor.word.kind != "end":
            begins = cursor.word.fresh and cursor.at > first and (depth <= 0 or cursor.sees("let"))
            if curly == 0 and (cursor.sees("}") or begins):
                return
            curly += cursor.sees("{") - cursor.sees("}")
            depth += cursor.sees("(", "[") - cursor.sees(")", "]")
            cursor.at += 1

    def _let(self, bound: list[_Bound]) -> Steps[None]:
        start = self.cursor.take().span
        if self.cursor.sees("("):
            yield self._let_items(bound, start)
            return
        name = self.names.new(self.cursor.expect_name("a name, or names in parentheses"), "a value")
        variable = Variable(name.text, self._annotation(), name.span)
        self.cursor.expect("=")
        if self.cursor.sees("fn"):  # a function may call itself
            self.names.give(name, variable)
        value = yield self.expression()
        bound.append(_Bound(variable, value, self.cursor.span_from(start)))
        if name.text != "_":
            self.names.give(name, variable)

    def _let_items(self, bound: list[_Bound], start: Span) -> Steps[None]:
        """`let (a, b) = e`: each name is a projection of the tuple."""
        self.cursor.take()
        names, _ = self.cursor.listed(lambda: self.cursor.expect_name("a name"), ")")
        self.cursor.expect("=")
        value = yield self.expression()
        whole = Variable("_".join(name.text for name in names if name.text != "_") or "_", span=start)
        bound.append(_Bound(whole, value, self.cursor.span_from(start)))
        for index, name in enumerate(names):
            if name.text != "_":
                self.names.give(self.names.new(name, "a value"), Projection(whole, index, name.span))

    def _node(self) -> Steps[None]:
        token = self.cursor.take()
        self.cursor.take()
        value = yield self.expression()
        if token.text in self.names.scopes[-1]:
            raise Problem(f"{token.text} is given twice", token.span, "choose another name")
        if isinstance(value, Call) and not value.label and not token.text[1:].isdigit():
            value = Call(value.function, value.arguments, value.sizes, token.text[1:], value.span)
        self.names.give(token, value)

    # --- control flow

    def condition(self) -> Steps[Term]:
        """`if c { ... } else { ... }`; behind `else` may stand another `if`."""
        start = self.cursor.take().span
        self.cursor.deeper()
        test = yield self.expression()
        then = yield self.block()
        self.cursor.expect("else", " (an `if` is a value: both branches are needed)")
        otherwise = yield (self.condition() if self.cursor.sees("if") else self.block())
        self.cursor.depth -= 1
        return If(test, then, otherwise, self.cursor.span_from(start))

    def match(self) -> Steps[Term]:
        """`match value { pattern => body ... }`."""
        start = self.cursor.take().span
        value = yield self.expression()
        self.cursor.expect("{")
        self.cursor.deeper()
        clauses: list[Clause] = []
        while not self.cursor.accept("}"):
            clauses.append((yield self._clause()))
            self.cursor.accept(",")
        self.cursor.depth -= 1
        return Match(value, tuple(clauses), self.cursor.span_from(start))

    def _clause(self) -> Steps[Any]:
        start: Token = self.cursor.word
        self.names.enter()
        pattern = PatternReader(self.cursor, self.names).pattern()
        self.cursor.expect("=>")
        body = yield (self.block() if self.cursor.sees("{") else self.expression())
        self.names.leave()
        return Clause(pattern, body, self.cursor.span_from(start.span))
