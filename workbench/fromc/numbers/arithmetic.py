"""C's division in terms of the language's: it truncates."""

from __future__ import annotations

from workbench.fromc.numbers.unwrapped_integers import Spans, cases, fits
from workbench.fromc.numbers.wraparound import NotWhole
from workbench.lang.dtypes import BOOL, INT32, DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Select, Unary, reads
from workbench.lang.unify import limits

MOST = (1 << 31) - 1


def _is_nonnegative(expr: Expr, spans: Spans) -> bool:
    """Whether a value surely is not below 0; `spans` bounds sizes and loop variables."""
    if expr.dtype.kind == "uint":
        return True
    if any(reads(expr)):
        return isinstance(expr, Cast) and expr.operand.dtype.kind == "uint" and _widens(expr)
    try:
        return all(case.low >= 0 for case in cases(expr, spans))
    except NotWhole:
        return False


def _widens(cast: Cast) -> bool:
    return cast.operand.dtype.bits < cast.dtype.bits


def divided(op: str, left: Expr, right: Expr, spans: Spans, *, whole: bool = False) -> Expr:
    """`left / right` or `left % right` as C rounds: towards zero; both have one integer type.

    As `whole` numbers (in subscripts and bounds) nothing signed wraps around; a value does, as with -fwrapv.
    """
    dtype = left.dtype
    if dtype.kind == "uint":
        return Binary(op, left, right, dtype)
    match right:
        case Const(value, _) if value > 0 and not any(reads(left)):
            wraps = not fits(Unary("-", left, dtype), spans)
            if _is_nonnegative(left, spans) and (whole or not wraps):
                return Binary(op, left, right, dtype)
            if not whole and wraps:
                return _divided_by_data(op, Cast(left, dtype), right, dtype)  # a cast makes a value of index arithmetic
            quotient = _truncated(left, Const(value, dtype))
            return quotient if op == "/" else Binary("-", left, Binary("*", right, quotient, dtype), dtype)
        case Const(value, _) if limits(dtype)[0] < value < 0:
            quotient = divided(op, left, Const(-value, dtype), spans, whole=whole)
            return Unary("-", quotient, dtype) if op == "/" else quotient
    return _divided_by_data(op, left, right, dtype)


def _truncated(left: Expr, right: Const) -> Expr:
    """`left / right` towards zero for a positive constant: the floor, or the ceiling where that is below 0."""
    dtype = left.dtype
    # -floor(-left / right) would be wrong for the type's least number, whose opposite wraps around.
    above = Binary("+", left, Const(right.value - 1, dtype), dtype)
    ceiling = Binary("/", above, right, dtype)
    below = Call("min", (ceiling, Const(0, dtype)), dtype)
    return Call("max", (Binary("/", left, right, dtype), below), dtype)


def _divided_by_data(op: str, left: Expr, right: Expr, dtype: DType) -> Expr:
    """Rounded down, then corrected where the signs differ and something remains."""
    rest = Binary("%", left, right, dtype)
    signs = Binary("!=", Cast(_compare("<", left), INT32), Cast(_compare("<", right), INT32), BOOL)
    wrong = Binary("&&", Binary("!=", rest, Const(0, dtype), BOOL), signs, BOOL)
    if op == "/":
        floor = Binary("/", left, right, dtype)
        return Select(wrong, Binary("+", floor, Const(1, dtype), dtype), floor, dtype)
    return Select(wrong, Binary("-", rest, right, dtype), rest, dtype)


def _compare(op: str, expr: Expr) -> Expr:
    return Binary(op, expr, Const(0, expr.dtype), BOOL)


def folded_constant(op: str, left: Expr, right: Expr) -> Expr | None:
    """Sums and products of small integer constants."""
    match left, right:
        case Const(a, dtype), Const(b, _) if dtype.kind == "int" and op in "+-*":
            value = {"+": a + b, "-": a - b, "*": a * b}[op]
            return Const(value, dtype) if abs(value) <= MOST else None
    return None
