"""Conditions that the domain decides: a choice between values that is always made alike is no choice."""

from __future__ import annotations

from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Cast, Const, Expr, Select, children, rebuild, walk
from workbench.poly import isl
from workbench.poly.access import Space
from workbench.poly.affine import ALWAYS, guard


def decided(expr: Expr, space: Space) -> Expr:
    """The expression without choices and conjuncts that all instances of the space decide alike.

    `0 <= x && x < N ? A(x) : 0` becomes `A(x)` where x is in 0:N, and loses one comparison where x is in 0:N + 2.
    """
    if not any(isinstance(node, Select) for node in walk(expr)):
        return expr
    return _decided(expr, space, isl.parse_set(space.domain))


def _decided(expr: Expr, space: Space, where: isl.Set) -> Expr:
    """The expression as it is for these instances."""
    match expr:
        case Select(condition, then, otherwise, dtype):
            yes, no = (_part(condition, space, where, holds=h) for h in (True, False))
            if no.is_empty():
                return _typed(_decided(then, space, where), expr)
            if yes.is_empty():
                return _typed(_decided(otherwise, space, where), expr)
            condition = _condition(condition, space, where)
            return Select(condition, _decided(then, space, yes), _decided(otherwise, space, no), dtype)
    return rebuild(expr, tuple(_decided(e, space, where) for e in children(expr)))


def _condition(expr: Expr, space: Space, where: isl.Set) -> Expr:
    """The condition without conjuncts that hold anyway where those before them do."""
    match expr:
        case Binary("&&", left, right, _):
            left = _condition(left, space, where)
            right = _condition(right, space, _part(left, space, where, holds=True))
            if isinstance(left, Const) and left.value:
                return right
            return left if isinstance(right, Const) and right.value else Binary("&&", left, right, BOOL)
    if _part(expr, space, where, holds=False).is_empty():
        return Const(True, BOOL)
    return rebuild(expr, tuple(_decided(e, space, where) for e in children(expr)))


def _part(condition: Expr, space: Space, where: isl.Set, *, holds: bool) -> isl.Set:
    """The instances for which the condition may hold, or may not."""
    text, _ = guard(condition, holds=holds)
    return where.intersect(isl.parse_set(f"{space.prefix}{{ {space.tuple} : {text} }}")) if text != ALWAYS else where


def _typed(chosen: Expr, choice: Expr) -> Expr:
    return chosen if chosen.dtype == choice.dtype else Cast(chosen, choice.dtype)
