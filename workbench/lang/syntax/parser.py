"""Text to surface syntax: the Lark parser of grammar.lark, built once, and its tree of `syntax` nodes."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedInput, v_args
from lark.parsers.lalr_interactive_parser import InteractiveParser

from workbench.errors import OperatorError
from workbench.lang.syntax.diagnostics import Diagnostics, Problem
from workbench.lang.syntax.limits import DEEPEST_BRACKETS, LONGEST_NAME, LONGEST_TEXT, check_chains
from workbench.lang.syntax.syntax import (
    Assign,
    CallStep,
    Define,
    ExistsClause,
    ForStep,
    GenericNode,
    LetClause,
    MonoidNode,
    Parameter,
    PromiseNode,
    RangeClause,
    TargetNode,
    TypeNode,
    Unit,
)
from workbench.lang.syntax.tables import loaded_parser
from workbench.lang.syntax.terms import PRECEDENCE, Apply, Infix, Literal, Name, Prefix, Span, Term, Ternary
from workbench.lang.syntax.tokens import STATEMENT_MAY_START_AFTER, Retag, closing


@lru_cache(maxsize=256)
def parse(text: str) -> Unit:
    """The definitions of a text; OperatorError lists what is wrong with its syntax."""
    if len(text) > LONGEST_TEXT:
        raise OperatorError(f"the operator text has {len(text)} characters; at most {LONGEST_TEXT} are read")
    diagnostics = Diagnostics(text)
    tokens = list(_lark().lex(text))
    _check_limits(tokens, diagnostics)
    unit = _feed(tokens, diagnostics)
    diagnostics.check()
    assert unit is not None
    return unit


def parse_expression(text: str) -> Term:
    """The one expression of a text, names not resolved; OperatorError points at what is wrong."""
    if len(text) > LONGEST_TEXT:
        raise OperatorError(f"the expression has {len(text)} characters; at most {LONGEST_TEXT} are read")
    diagnostics = Diagnostics(text)
    tokens = list(_lark().lex(text))
    _check_limits(tokens, diagnostics)
    parser = _lark().parse_interactive(start="expr")
    at = _first_error(parser, tokens)
    if at == len(tokens) and "$END" in parser.accepts():
        return parser.feed_eof(tokens[-1] if tokens else None)
    _add_problem(diagnostics, tokens, at, parser)
    diagnostics.check()
    raise AssertionError("a syntax problem is an error")


@cache
def _lark() -> Lark:
    return loaded_parser(_Build(), Retag())


def _check_limits(tokens: list[Token], diagnostics: Diagnostics) -> None:
    depth = 0
    for token in tokens:
        if token.type in ("LPAR", "TUPLE", "LBRACE"):
            depth += 1
        elif token.type in ("RPAR", "RBRACE"):
            depth -= 1
        elif token.type == "NAME" and len(token) > LONGEST_NAME:
            message = f"this name has {len(token)} characters; at most {LONGEST_NAME} are allowed"
            diagnostics.add(Problem(message, _span(token)))
        if depth > DEEPEST_BRACKETS:
            diagnostics.add(Problem(f"brackets are nested more than {DEEPEST_BRACKETS} deep", _span(token)))
            break
    check_chains(((str(token), _span(token)) for token in tokens), diagnostics)
    diagnostics.check()


def _feed(tokens: list[Token], diagnostics: Diagnostics) -> Unit | None:
    """Parse; after a syntax error drop its statement and parse the rest, to find further errors."""
    while True:
        parser = _lark().parse_interactive(start="start")
        at = _first_error(parser, tokens)
        if at == len(tokens) and "$END" in parser.accepts():
            return parser.feed_eof(tokens[-1] if tokens else None)
        if _add_problem(diagnostics, tokens, at, parser) or at == len(tokens):
            return None
        tokens = without_statement(tokens, at)


def _add_problem(diagnostics: Diagnostics, tokens: list[Token], at: int, parser: InteractiveParser) -> bool:
    """Say what is wrong with the token `at`; whether the text is one of another language."""
    from workbench.lang.syntax.fixes import is_foreign  # both for the few texts in which something is wrong
    from workbench.lang.syntax.messages import syntax_problem

    diagnostics.add(syntax_problem(tokens, at, parser.accepts()))
    return at < len(tokens) and is_foreign(tokens, at)


def _first_error(parser: InteractiveParser, tokens: list[Token]) -> int:
    """Position of the token that the parser refuses; the end if there is none."""
    for at, token in enumerate(tokens):
        try:
            parser.feed_token(token)
        except UnexpectedInput:
            return at
    return len(tokens)


def _span(token: Token) -> Span:
    """Where a token stands."""
    return Span(token.start_pos or 0, token.end_pos or 0)


def name(token: Token) -> Name:
    """A token as a Name."""
    return Name(str(token), _span(token))


def number(token: Token) -> Literal:
    """The value of a number token; hexadecimal, decimal, or a float."""
    text = token.lower()
    if text.startswith("0x"):
        return Literal(int(text, 16), _span(token))
    if any(mark in text for mark in ".e"):
        return Literal(float(text), _span(token))
    return Literal(int(text) if len(text) < 40 else 10**40, _span(token))


def group(parts: list[Any]) -> Term:
    """Group a flat `term op term op term ...` by PRECEDENCE; all operators associate to the left."""
    terms: list[Term] = [parts[0]]
    ops: list[Token] = []
    for op, term in zip(parts[1::2], parts[2::2], strict=True):
        while ops and PRECEDENCE[ops[-1]] >= PRECEDENCE[op]:
            _join(terms, ops.pop())
        ops.append(op)
        terms.append(term)
    while ops:
        _join(terms, ops.pop())
    return terms[0]


def _join(terms: list[Term], op: Token) -> None:
    right, left = terms.pop(), terms.pop()
    terms.append(Infix(str(op), left, right, _span(op), left.span.to(right.span)))


@v_args(inline=True)
class _Build(Transformer[Token, Any]):
    """One method a grammar rule; each returns the node or tuple of the rule."""

    def start(self, *items: Any) -> Unit:
        return Unit(items)

    def define(self, word: Token, generics: Any, params: Any, results: Any, promises: Any, steps: Any) -> Define:
        return Define(name(word), generics, params, results, promises, steps)

    def generics(self, *parts: Any) -> tuple[GenericNode, ...]:
        return tuple(part for part in parts if isinstance(part, GenericNode))

    def generic(self, word: Token, kind: Token | None = None) -> GenericNode:
        return GenericNode(str(word), name(kind) if kind else None, _span(word).to(_span(kind or word)))

    def params(self, *params: Parameter) -> tuple[Parameter, ...]:
        return params

    results = steps = exprs = arguments = targets = where = promises = params

    def param(self, type_node: TypeNode, word: Token) -> Parameter:
        return Parameter(type_node, name(word))

    result = param

    def plain_result(self, word: Token) -> Parameter:
        return Parameter(None, name(word))

    def element(self, word: Token, *dims: Term) -> TypeNode:
        return TypeNode(name(word), dims, _span(word).to(dims[-1].span if dims else _span(word)))

    def promise(self, word: Token, *arguments: Term) -> PromiseNode:
        return PromiseNode(name(word), arguments, _span(word).to(arguments[-1].span))

    def monoid(self, *parts: Any) -> MonoidNode:
        _, word, generics, fields, _, identity, _, left, right, combine, clauses = parts
        return MonoidNode(name(word), generics, fields, identity, left, right, combine, clauses)

    def names(self, *words: Token) -> tuple[Name, ...]:
        return tuple(name(word) for word in words)

    def assign(self, target: TargetNode, op: Token, value: Term, _: Any, clauses: Any) -> Assign:
        return Assign((target,), name(op), (value,), clauses, span=target.span.to(value.span))

    def tuple_assign(self, opening: Token, targets: Any, monoid: Token, *rest: Any) -> Assign:
        values, clauses = rest[-2:]
        op = Name(f"{monoid}={'!' if len(rest) == 4 else ''}", _span(monoid))
        return Assign(targets, op, values, clauses, True, _span(opening).to(values[-1].span))

    def calls(self, opening: Token, results: Any, _: Token, callee: Token, arguments: Any) -> CallStep:
        return CallStep(results, name(callee), arguments, _span(opening).to(_span(callee)))

    def target(self, word: Token, subscripts: tuple[Term, ...] = ()) -> TargetNode:
        end = subscripts[-1].span if subscripts else _span(word)
        return TargetNode(name(word), subscripts, _span(word).to(end))

    def loop(self, word: Token, lower: Term, upper: Term, body: Any) -> ForStep:
        return ForStep(RangeClause(name(word), lower, upper, _span(word).to(upper.span)), body, _span(word))

    def equivalent(self, *_: Any) -> None:
        return None

    def bounds(self, word: Token, lower: Term, upper: Term) -> RangeClause:
        return RangeClause(name(word), lower, upper, _span(word).to(upper.span))

    def let(self, word: Token, _: Token, value: Term) -> LetClause:
        return LetClause(name(word), value)

    def exists(self, value: Term) -> ExistsClause:
        return ExistsClause(value)

    def ternary(self, condition: Term, then: Term, otherwise: Term) -> Ternary:
        return Ternary(condition, then, otherwise, condition.span.to(otherwise.span))

    def operation(self, *parts: Any) -> Term:
        return group(list(parts))

    def prefix(self, op: Token, operand: Term) -> Prefix:
        return Prefix(str(op), operand, _span(op).to(operand.span))

    def literal(self, token: Token) -> Literal:
        return number(token)

    def name(self, word: Token) -> Name:
        return name(word)

    def apply(self, word: Token, arguments: tuple[Term, ...]) -> Apply:
        end = arguments[-1].span if arguments else _span(word)
        return Apply(name(word), arguments, _span(word).to(end))


# -- After a syntax error: the tokens without its statement, so that the rest is checked too --

_MAY_PRECEDE = STATEMENT_MAY_START_AFTER | {"UNKNOWN"}


def without_statement(tokens: list[Token], at: int) -> list[Token]:
    """The tokens without the statement (outside a body: the definition) that token `at` stands in."""
    start = _statement_start(tokens, at)
    stop = _next_statement(tokens, at if start < at else at + 1)
    return tokens[:start] + tokens[stop:]


def _statement_start(tokens: list[Token], at: int) -> int:
    for start in range(at, -1, -1):
        if tokens[start].type in ("DEF", "MONOID") and start < at:
            return start
        if start < at and tokens[start].type in ("LBRACE", "RBRACE"):
            return start + 1
        if _starts_statement(tokens, start) and start < at:
            return start
    return 0


def _next_statement(tokens: list[Token], at: int) -> int:
    braces = [token.type for token in tokens[:at]]
    in_body = braces.count("LBRACE") > braces.count("RBRACE")
    for stop in range(at, len(tokens)):
        kind = tokens[stop].type
        if kind in ("DEF", "MONOID") or (in_body and (kind == "RBRACE" or _starts_statement(tokens, stop))):
            return stop
    return len(tokens)


def _starts_statement(tokens: list[Token], at: int) -> bool:
    kind = tokens[at].type
    if kind in ("FOR", "TUPLE"):
        return True
    if kind != "NAME" or at == 0 or tokens[at - 1].type not in _MAY_PRECEDE:
        return False
    after = at + 1
    if after < len(tokens) and tokens[after].type == "LPAR":
        after = closing(tokens, after) + 1
    return after < len(tokens) and tokens[after].type in ("EQUALS", "REDUCE")
