"""Index arithmetic as text: `n < 64 && m != k`, `(m, k) -> (m / 6, k, m % 6)`, in the operator language's words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from workbench.errors import OperatorError, unknown_name
from workbench.lang.dtypes import BOOL, INT32
from workbench.lang.expr import COMPARISONS, Binary, Call, Const, Expr, Index, Select, Size, Unary
from workbench.lang.syntax.diagnostics import Problem, report
from workbench.lang.syntax.parser import parse_expression
from workbench.lang.syntax.terms import Apply, Infix, Literal, Name, Prefix, Term, Ternary

NAMES = re.compile(r"\s*\(?\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*\)?\s*", re.ASCII)
FUNCTIONS = ("min", "max", "abs")


def condition(text: str, indices: Iterable[str], sizes: Iterable[str]) -> Expr:
    """The condition that a text states about indices and sizes; OperatorError points at what is wrong."""
    return _condition(text, tuple(indices), tuple(sizes))


@lru_cache(maxsize=1024)
def _condition(text: str, indices: tuple[str, ...], sizes: tuple[str, ...]) -> Expr:
    """The same; remembered, because a tuner asks for the same conditions at every point."""
    found = _resolved(text, text, parse_expression(text), indices, sizes)
    if found.dtype != BOOL:
        raise OperatorError(f"{text!r} is a number, not a condition; compare it with something: {text} < 64")
    return found


def number(text: str, sizes: Iterable[str]) -> Expr:
    """The number that a text states in terms of sizes, such as `N - 1`; OperatorError points at what is wrong."""
    return _number(text, _resolved(text, text, parse_expression(text), (), tuple(sizes)))


def index_map(text: str, sizes: Iterable[str]) -> tuple[tuple[str, ...], tuple[Expr, ...]]:
    """The names on the left of `(m, k) -> (m / 6, k, m % 6)` and the coordinates on its right."""
    left, arrow, right = text.partition("->")
    match = NAMES.fullmatch(left)
    if not arrow or match is None:
        raise OperatorError(f"expected a map such as (m, k) -> (m / 6, k, m % 6), not {text!r}")
    names = tuple(n.strip() for n in match.group(1).split(","))
    if len(set(names)) < len(names):
        raise OperatorError(f"{text!r} names an index twice")
    shift = " " * len(left + arrow)
    term = parse_expression(f"{shift[:-1]}_{right}" if _bracketed(right) else shift + right)
    parts = term.arguments if isinstance(term, Apply) and term.name.name == "_" else (term,)
    return names, tuple(_number(text, _resolved(text, text, p, names, tuple(sizes))) for p in parts)


def _bracketed(text: str) -> bool:
    """Whether one pair of parentheses holds all of it."""
    text, depth = text.strip(), 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return text.startswith("(") and at == len(text) - 1
    return False


def _number(text: str, expr: Expr) -> Expr:
    if expr.dtype != INT32:
        raise OperatorError(f"{text!r}: a coordinate is a number, not a condition")
    return expr


def _resolved(text: str, whole: str, term: Term, indices: tuple[str, ...], sizes: tuple[str, ...]) -> Expr:
    try:
        return _expr(term, indices, sizes)
    except Problem as problem:
        raise OperatorError(report(whole, [problem])) from None


def _expr(term: Term, indices: tuple[str, ...], sizes: tuple[str, ...]) -> Expr:
    def inside(part: Term) -> Expr:
        return _expr(part, indices, sizes)

    match term:
        case Literal(int() as value, _):
            return Const(value, INT32)
        case Name(name, span):
            if name in indices:
                return Index(name)
            if name in sizes:
                return Size(name)
            raise Problem(unknown_name("index or size", name, [*indices, *sizes]), span)
        case Prefix("-", operand, _):
            return Unary("-", _typed(operand, inside(operand), number=True), INT32)
        case Prefix("!", operand, _):
            return Unary("!", _typed(operand, inside(operand), number=False), BOOL)
        case Infix(op, left, right, _, _) if op in ("&&", "||"):
            a, b = (_typed(p, inside(p), number=False) for p in (left, right))
            return Binary(op, a, b, BOOL)
        case Infix(op, left, right, _, _) if op in COMPARISONS or op in ("+", "-", "*", "/", "%"):
            a, b = (_typed(p, inside(p), number=True) for p in (left, right))
            return Binary(op, a, b, BOOL if op in COMPARISONS else INT32)
        case Ternary(condition, then, otherwise, _):
            test = _typed(condition, inside(condition), number=False)
            return Select(test, inside(then), inside(otherwise), inside(then).dtype)
        case Apply(Name(name, _), arguments, _) if name in FUNCTIONS and arguments:
            return Call(name, tuple(_typed(a, inside(a), number=True) for a in arguments), INT32)
    known = f"whole numbers, + - * / %, comparisons, && || !, ?:, {', '.join(FUNCTIONS)}"
    raise Problem(f"expected {known}", term.span)


def _typed(term: Term, expr: Expr, *, number: bool) -> Expr:
    if (expr.dtype == INT32) != number:
        raise Problem(f"expected a {'number' if number else 'condition'} here", term.span)
    return expr
