"""C's integer arithmetic in terms of the language's: division truncates, subscripts are whole numbers."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.lang.dtypes import BOOL, INT32, DType
from workbench.lang.expr import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Select,
    Size,
    Unary,
    children,
    reads,
    rebuild,
    walk,
)
from workbench.lang.normal_form import polynomial
from workbench.lang.reaches import reach
from workbench.lang.unify import limits

MOST = (1 << 31) - 1
ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "<<", ">>"})


def as_index(expr: Expr) -> Expr:
    """The expression as whole numbers, which do not overflow (in C that would be undefined); reads are left alone."""
    if any(reads(expr)):
        return expr
    return _index(expr)


def _index(expr: Expr) -> Expr:
    match expr:
        case Const(value, dtype) if dtype.is_integral:
            return Const(int(value), INT32)
        case Size(name, _) | Index(name, _):
            return type(expr)(name, INT32)
        case Cast(operand, dtype) if dtype.is_integral and dtype.bits >= 32 and operand.dtype.is_integral:
            return _index(operand)
        case Unary("-", operand, dtype) if dtype.is_integral:
            return Unary("-", _index(operand), INT32)
        case Binary(op, left, right, dtype) if op in ARITHMETIC and dtype.is_integral:
            return Binary(op, _index(left), _index(right), INT32)
        case Binary(op, left, right, _) if op in COMPARISONS and left.dtype.is_integral:
            return Binary(op, _index(left), _index(right), BOOL)
        case Select(condition, then, otherwise, dtype) if dtype.is_integral:
            return Select(_index(condition), _index(then), _index(otherwise), INT32)
        case Call("min" | "max" | "abs" as name, arguments, dtype) if dtype.is_integral:
            return Call(name, tuple(map(_index, arguments)), INT32)
    parts = tuple(map(_index, children(expr)))
    return rebuild(expr, parts) if parts else expr


def may_wrap(expr: Expr) -> bool:
    """Whether unsigned arithmetic may go below 0 in it, and so around."""
    return any(isinstance(n, Binary | Unary) and n.op == "-" and n.dtype.kind == "uint" for n in walk(expr))


def is_nonnegative(expr: Expr, known: Iterable[str]) -> bool:
    """Whether whole-number arithmetic surely gives no negative value; `known` are sizes and indices that do not."""
    if any(reads(expr)):
        return expr.dtype.kind == "uint"
    names = set(known)
    form = polynomial(as_index(expr))
    return all(factor > 0 for _, factor in form.terms) and all(_known(part, names) for part in form.atoms)


def _known(part: Expr, names: set[str]) -> bool:
    match part:
        case Size(name, _) | Index(name, _):
            return name in names
        case Binary("%", _, Const(), _):
            return True
        case Binary("/", inner, Const(), _):
            return is_nonnegative(inner, names)
        case Call("min", arguments, _):
            return all(is_nonnegative(a, names) for a in arguments)
        case Call("max", arguments, _):
            return any(is_nonnegative(a, names) for a in arguments)
        case Select(_, then, otherwise, _):
            return is_nonnegative(then, names) and is_nonnegative(otherwise, names)
    return False


def divided(op: str, left: Expr, right: Expr, known: Iterable[str], *, whole: bool = False) -> Expr:
    """`left / right` or `left % right` as C rounds: towards zero; both have one integer type.

    As `whole` numbers (in subscripts and bounds) nothing wraps around; a value does, as with -fwrapv.
    """
    dtype = left.dtype
    if dtype.kind == "uint":
        return Binary(op, left, right, dtype)
    match right:
        case Const(value, _) if value > 0 and not any(reads(left)):
            wraps = reach(Unary("-", left, dtype), frozenset(known)) is None
            if is_nonnegative(left, known) and (whole or not wraps):
                return Binary(op, left, right, dtype)
            if not whole and wraps:
                return _divided_by_data(op, Cast(left, dtype), right, dtype)  # a cast makes a value of index arithmetic
            quotient = _truncated(left, right)
            return quotient if op == "/" else Binary("-", left, Binary("*", right, quotient, dtype), dtype)
        case Const(value, _) if limits(dtype)[0] < value < 0:
            quotient = divided(op, left, Const(-value, dtype), known, whole=whole)
            return Unary("-", quotient, dtype) if op == "/" else quotient
    return _divided_by_data(op, left, right, dtype)


def _truncated(left: Expr, right: Expr) -> Expr:
    """`left / right` towards zero for a positive constant: the floor, or the ceiling where that is below 0."""
    dtype = left.dtype
    ceiling = Unary("-", Binary("/", Unary("-", left, dtype), right, dtype), dtype)
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


def folded(op: str, left: Expr, right: Expr) -> Expr | None:
    """Sums and products of small integer constants."""
    match left, right:
        case Const(a, dtype), Const(b, _) if dtype.kind == "int" and op in "+-*":
            value = {"+": a + b, "-": a - b, "*": a * b}[op]
            return Const(value, dtype) if abs(value) <= MOST else None
    return None
