"""Arithmetic on expressions that drops what it can: nothing times one, nothing plus zero."""

from __future__ import annotations

from workbench.lang.dtypes import BOOL, DType
from workbench.lang.expr import Binary, Call, Const, Expr, Select, Unary
from workbench.lang.unify import WEAK, computed, unify

ZERO = Const(0.0, WEAK)
ONE = Const(1.0, WEAK)


def float_literal(value: float) -> Const:
    """A float of the precision of its context."""
    return Const(float(value), WEAK)


def is_zero(expr: Expr) -> bool:
    """Whether it is written as 0."""
    return isinstance(expr, Const) and not isinstance(expr.value, bool) and expr.value == 0


def is_one(expr: Expr) -> bool:
    """Whether it is written as 1."""
    return isinstance(expr, Const) and not isinstance(expr.value, bool) and expr.value == 1


def _joined(a: Expr, b: Expr) -> DType:
    return computed(unify(a.dtype, b.dtype))


def negative(a: Expr) -> Expr:
    """`-a`."""
    match a:
        case Const(value, dtype):
            return a if value == 0 else Const(-value, dtype)
        case Unary("-", operand, _):
            return operand
        case Binary("*" | "/" as op, Const(value, dtype), right, whole):
            return Binary(op, Const(-value, dtype), right, whole)
    return Unary("-", a, computed(a.dtype))


def plus(a: Expr, b: Expr) -> Expr:
    """`a + b`."""
    if is_zero(a):
        return b
    if is_zero(b):
        return a
    if a == b:
        return times(float_literal(2), a)
    if isinstance(b, Unary) and b.op == "-":
        return minus(a, b.operand)
    return Binary("+", a, b, _joined(a, b))


def minus(a: Expr, b: Expr) -> Expr:
    """`a - b`."""
    if is_zero(b):
        return a
    if is_zero(a):
        return negative(b)
    return Binary("-", a, b, _joined(a, b))


def times(a: Expr, b: Expr) -> Expr:
    """`a * b`."""
    if is_zero(a) or is_zero(b):
        return ZERO
    if is_one(a):
        return b
    if is_one(b):
        return a
    match a, b:
        case Const(x, _), Const(y, _):
            return Const(float(x) * y, _joined(a, b))
        case _, Const():
            return times(b, a)
        case Const(x, _), Binary("*", Const(y, _), rest, _):
            return times(float_literal(x * y), rest)
        case Const(-1.0, _), _:
            return negative(b)
        case Unary("-", x, _), Unary("-", y, _):
            return times(x, y)
        case (Unary("-", x, _), y) | (y, Unary("-", x, _)):
            return negative(times(x, y))
        case (Binary("/", Const() as c, below, _), other) | (other, Binary("/", Const() as c, below, _)):
            return over(times(c, other), below)
    return Binary("*", a, b, _joined(a, b))


def over(a: Expr, b: Expr) -> Expr:
    """`a / b`."""
    if is_zero(a):
        return ZERO
    if is_one(b):
        return a
    if isinstance(a, Unary) and a.op == "-":
        return negative(over(a.operand, b))
    return Binary("/", a, b, _joined(a, b))


def applying(function: str, *arguments: Expr) -> Expr:
    """A builtin of floats."""
    dtype = arguments[0].dtype
    for each in arguments[1:]:
        dtype = unify(dtype, each.dtype)
    return Call(function, arguments, computed(dtype))


def compared_by(op: str, a: Expr, b: Expr) -> Expr:
    """A truth value."""
    return Binary(op, a, b, BOOL)


def if_then_else(condition: Expr, then: Expr, otherwise: Expr = ZERO) -> Expr:
    """`condition ? then : otherwise`."""
    match condition:
        case Const(True, _):
            return then
        case Const(False, _):
            return otherwise
    if then == otherwise:
        return then
    return Select(condition, then, otherwise, _joined(then, otherwise))


def both(a: Expr, b: Expr) -> Expr:
    """`a && b`."""
    match a, b:
        case (Const(True, _), other) | (other, Const(True, _)):
            return other
        case (Const(False, _) as no, _) | (_, Const(False, _) as no):
            return no
    return a if a == b else Binary("&&", a, b, BOOL)


def opposite(condition: Expr) -> Expr:
    """`!condition`."""
    match condition:
        case Unary("!", operand, _):
            return operand
        case Const(bool() as value, _):
            return Const(not value, BOOL)
    return Unary("!", condition, BOOL)
