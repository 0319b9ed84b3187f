"""Conditions that, true in the first and the last lane, are true in all of them."""

from __future__ import annotations

from workbench.lang.algebra.normal_form import is_index_arithmetic
from workbench.lang.expr import Binary, Expr, index_names, walk


def conjuncts(condition: Expr) -> list[Expr]:
    """`a`, `b`, ... of `a && b && ...`."""
    match condition:
        case Binary("&&", a, b, _):
            return conjuncts(a) + conjuncts(b)
    return [condition]


def convex(condition: Expr) -> bool:
    """Whether it is a conjunction of comparisons that, true at two points, are true between them."""
    return all(
        isinstance(c, Binary) and c.op in ("<", "<=", ">", ">=", "==") and _monotone(c.left, c.right)
        for c in conjuncts(condition)
    )


def _monotone(left: Expr, right: Expr) -> bool:
    """Whether two sides of a comparison differ by something linear, or by one floor of it: no remainders."""
    if not (is_index_arithmetic(left) and is_index_arithmetic(right)):
        return False
    match (left, right):
        case (Binary("/", varying, _, _), fixed) | (fixed, Binary("/", varying, _, _)) if not index_names(fixed):
            return _linear(varying)
    return _linear(left) and _linear(right)


def _linear(expr: Expr) -> bool:
    return not any(isinstance(node, Binary) and node.op in "/%" and index_names(node) for node in walk(expr))
