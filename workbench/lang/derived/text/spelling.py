"""Typed expressions as a person would write them: casts that the language inserts by itself are left out.

`natural` is the type that an expression has once its text is read again; a literal float has WEAK until its
context decides.  Where the natural type of a spelling is not the one that is meant, a cast is written.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import BOOL, FLOAT32, INT32, DType
from workbench.lang.expr import COMPARISONS, Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary
from workbench.lang.unify import WEAK, computed, integer_type, unify

Build = Callable[[tuple[Expr, ...]], Expr]


def natural(expr: Expr) -> DType:
    """The type of an expression in which nothing is left out, once its text is read again."""
    match expr:
        case Const(bool(), _):
            return BOOL
        case Const(int() as value, _):
            return integer_type(value) or expr.dtype
        case Const():
            return WEAK
        case Size() | Index() | Read() | Cast():
            return expr.dtype
        case Unary("-", operand, _):
            return computed(natural(operand))
        case Unary():
            return expr.dtype
        case Binary(op, left, right, _):
            return _of_binary(op, natural(left), natural(right))
        case Select(_, then, otherwise, _):
            return computed(unify(natural(then), natural(otherwise)))
        case Call(function, arguments, _):
            return _of_call(function, tuple(map(natural, arguments)))


def _of_binary(op: str, left: DType, right: DType) -> DType:
    if op in COMPARISONS or op in ("&&", "||"):
        return BOOL
    if op in ("<<", ">>"):
        return left
    return computed(unify(left, right))


def _of_call(function: str, arguments: tuple[DType, ...]) -> DType:
    dtype = arguments[0]
    for each in arguments[1:]:
        dtype = unify(dtype, each)
    dtype = computed(dtype)
    builtin = BUILTINS.get(function)
    if builtin is None:
        return dtype
    if builtin.is_test:
        return BOOL
    return dtype if dtype.is_float or (builtin.keeps_integers and dtype != BOOL) else FLOAT32


def with_casts(expr: Expr) -> Expr:
    """The same value with the casts that its text needs and no others.

    >>> from workbench.lang.dtypes import FLOAT64
    >>> from workbench.lang.printing.printer import show
    >>> x = Read("x", (), FLOAT64)
    >>> show(with_casts(Binary("/", x, Cast(Size("N"), FLOAT64), FLOAT64)))
    'x / N'
    """
    match expr:
        case Size() | Index():
            return expr
        case Const():
            return _as(expr, expr.dtype)
        case Read(tensor, subscripts, dtype):
            return Read(tensor, tuple(map(with_casts, subscripts)), dtype)
        case Cast(operand, dtype):
            inner = with_casts(operand)
            return inner if natural(inner) == dtype else Cast(inner, dtype)
        case Unary(op, operand, dtype):
            return _as(Unary(op, with_casts(operand), dtype), dtype)
        case Select(condition, then, otherwise, dtype):
            chosen = with_casts(condition)
            return _shortest((then, otherwise), dtype, lambda a: Select(chosen, a[0], a[1], dtype))
        case Call(function, arguments, dtype):
            wanted = arguments[0].dtype if dtype == BOOL else dtype
            return _shortest(arguments, wanted, lambda a: Call(function, a, dtype), of_operands=dtype == BOOL)
        case Binary(op, left, right, dtype):
            if op in ("&&", "||", "<<", ">>", "&", "|", "^"):
                return Binary(op, with_casts(left), with_casts(right), dtype)
            compares = op in COMPARISONS
            wanted = left.dtype if compares else dtype
            return _shortest((left, right), wanted, lambda a: Binary(op, a[0], a[1], dtype), of_operands=compares)


def _shortest(operands: tuple[Expr, ...], wanted: DType, build: Build, *, of_operands: bool = False) -> Expr:
    """The node with as few widening casts as its type allows; `of_operands`: the type they agree on counts."""
    choices = [_forms(operand) for operand in operands]
    for forms in product(*choices):
        found = _agreed(forms) if of_operands else natural(build(forms))
        if _is(found, wanted, settles=of_operands):
            return build(forms)
    full = tuple(each[-1] for each in choices)
    if of_operands:
        return build((_as(full[0], wanted), *full[1:]))
    return _as(build(full), wanted)


def _agreed(forms: tuple[Expr, ...]) -> DType:
    dtype = natural(forms[0])
    for form in forms[1:]:
        dtype = unify(dtype, natural(form))
    dtype = computed(dtype)
    return FLOAT32 if dtype == WEAK else dtype


def _is(found: DType, wanted: DType, *, settles: bool) -> bool:
    return found == wanted or wanted == WEAK or (not settles and found == WEAK and wanted.is_float)


def _forms(operand: Expr) -> tuple[Expr, ...]:
    """Without its widening cast, and with it."""
    full = with_casts(operand)
    match full:
        case Cast(inner, dtype) if natural(inner) not in (BOOL, WEAK) and unify(natural(inner), dtype) == dtype:
            return inner, full
    return (full,)


def _as(expr: Expr, dtype: DType) -> Expr:
    found = natural(expr)
    if found == dtype or (WEAK in (found, dtype) and dtype.is_float):
        return expr
    if isinstance(expr, Const) and isinstance(expr.value, int) and dtype.is_float:
        return Const(float(expr.value), dtype)
    if dtype == WEAK or (found == INT32 and dtype.is_integral and isinstance(expr, Const) and _fits(expr, dtype)):
        return expr
    return Cast(expr, dtype)


def _fits(expr: Const, dtype: DType) -> bool:
    """An index or a size is an int32 whatever the arithmetic around it is done in."""
    return dtype.kind == "int" and dtype.bits >= 32 and expr.dtype.bits >= 32
