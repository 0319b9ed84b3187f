"""Conditions: the part isl can say, and the part that data decide."""

from __future__ import annotations

from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Expr, Unary
from workbench.poly.programs.affine import guard

NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def affine_part(condition: Expr) -> tuple[list[Expr], Expr | None]:
    """The conjuncts before the first that is not affine, and the rest (None when there is none).

    Only those before it: in C the rest is not evaluated where they are false.
    """
    found = _conjuncts(condition)
    count = next((n for n, e in enumerate(found) if not guard(e)[1]), len(found))
    rest = None
    for conjunct in found[count:]:
        rest = conjunct if rest is None else Binary("&&", rest, conjunct, BOOL)
    return found[:count], rest


def _conjuncts(expr: Expr) -> list[Expr]:
    match expr:
        case Binary("&&", left, right, _):
            return _conjuncts(left) + _conjuncts(right)
    return [expr]


def negated(expr: Expr) -> Expr:
    """The opposite; comparisons of integers are turned around."""
    match expr:
        case Binary(op, left, right, _) if op in NEGATED and left.dtype.is_integral:
            return Binary(NEGATED[op], left, right, BOOL)
        case Unary("!", operand, _):
            return operand
    return Unary("!", expr, BOOL)
