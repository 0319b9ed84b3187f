"""The operator of absolute values: what the rounding errors of a polynomial operator are measured against.

In a polynomial of the inputs each product of the expanded sum meets at most `depth` roundings, whatever the
order of evaluation, so a computed cell differs from the exact one by at most gamma(depth) times the same
polynomial of absolute values (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3).
"""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.dtypes import DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Read, Select, Unary, reads
from workbench.lang.operator import For, Operator, Step

# Calls whose value is one of the arguments, or its absolute value.
SELECTING = frozenset({"min", "max", "fmin", "fmax", "abs", "fabs", "relu"})


class NotPolynomial(Exception):
    """The operator has a node that no bound is derived for."""


def magnitude(op: Operator) -> Operator:
    """The operator whose cells bound those of `op` term by term, given absolute values of its float inputs.

    Maximum and minimum do not enlarge errors and become sums.  Raises NotPolynomial for divisions, roots and
    other functions, for declared monoids, and where float data decide a condition or a subscript.
    """
    text = f"{op.text}\n# magnitudes"
    return replace(op, body=tuple(_step(step) for step in op.body), text=text)


def _step(step: Step) -> Step:
    if isinstance(step, For):
        return replace(step, body=tuple(_step(s) for s in step.body))
    if step.reduction not in (None, "+", "*", "min", "max"):
        raise NotPolynomial
    reduction = "+" if step.reduction in ("min", "max") else step.reduction
    return replace(step, values=tuple(_value(v) for v in step.values), reduction=reduction)


def _value(expr: Expr) -> Expr:
    """The expression with every term made positive."""
    if not expr.dtype.is_float:
        return _exact(expr)
    match expr:
        case Const(value, dtype):
            return Const(abs(float(value)), dtype)
        case Read():
            return expr
        case Unary("-", operand, _):
            return _value(operand)
        case Binary("+" | "-", left, right, dtype):
            return Binary("+", _value(left), _value(right), dtype)
        case Binary("*", left, right, dtype):
            return Binary("*", _value(left), _value(right), dtype)
        case Call("fma", (a, b, c), dtype):
            return Binary("+", Binary("*", _value(a), _value(b), dtype), _value(c), dtype)
        case Call(name, arguments, dtype) if name in SELECTING:
            return _sum([_value(a) for a in arguments], dtype)
        case Select(condition, then, otherwise, dtype):
            return Select(_exact(condition), _value(then), _value(otherwise), dtype)
        case Cast(operand, dtype) if operand.dtype.is_float:
            return Cast(_value(operand), dtype)
        case Cast(operand, dtype):
            return Call("abs", (Cast(_exact(operand), dtype),), dtype)
    raise NotPolynomial


def _sum(terms: list[Expr], dtype: DType) -> Expr:
    total = terms[0]
    for term in terms[1:]:
        total = Binary("+", total, term, dtype)
    return total


def _exact(expr: Expr) -> Expr:
    """An expression that has no rounding: no float is read in it."""
    if any(read.dtype.is_float for read in reads(expr)):
        raise NotPolynomial
    return expr
