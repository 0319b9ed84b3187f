"""Operators and functions on resolved operands: types unified, casts inserted, misuse reported."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import isinf
from typing import NamedTuple

from workbench.lang.builtins import Builtin
from workbench.lang.dtypes import BOOL, FLOAT32, DType
from workbench.lang.expr import COMPARISONS, Binary, Call, Const, Expr, Select, Unary
from workbench.lang.printing.printer import print_term
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import Apply, Infix, Literal, Prefix, Span, Term, Ternary
from workbench.lang.unify import WEAK, computed, convert, integer_type, settled, unify

BITWISE = frozenset({"&", "|", "^", "<<", ">>"})
_POWER = {
    "^": "^ is exclusive or; powers are written pow(x, y), squares x * x",
    "&": "& joins bits; truth values are joined by &&",
    "|": "| joins bits; truth values are joined by ||",
}


class Operand(NamedTuple):
    """An operand as written and as resolved."""

    term: Term
    expr: Expr

    @property
    def dtype(self) -> DType:
        """Its type."""
        return self.expr.dtype


def typed_literal(value: float, span: Span) -> Const:
    """A number: an int32 or int64, or a float whose context decides."""
    if isinstance(value, float):
        if isinf(value):
            raise Problem("the number does not fit into double", span, "infinity is written inf")
        return Const(value, WEAK)
    dtype = integer_type(value)
    if dtype is None:
        raise Problem("the number does not fit into int64", span)
    return Const(value, dtype)


def cast(operand: Expr, to: DType) -> Expr:
    """`to(operand)`."""
    return convert(operand if operand.dtype == WEAK and to.is_float else settled(operand), to)


def prefix_operation(term: Prefix, operand: Operand) -> Expr:
    """`-x`, `!x`, `~x`."""
    if term.op == "!":
        return Unary("!", _boolean(operand, "! negates a truth value"), BOOL)
    if term.op == "-" and isinstance(term.operand, Literal):
        return typed_literal(-term.operand.value, term.span)
    expr = _number(operand, f"the operand of {term.op}")
    if term.op == "~" and not expr.dtype.is_integral:
        raise Problem(f"expected integral type but found {type_words(expr.dtype)}", term.operand.span)
    if isinstance(expr, Const) and expr.dtype == WEAK:
        return Const(-expr.value, WEAK)
    dtype = computed(expr.dtype)
    return Unary(term.op, convert(expr, dtype), dtype)


def infix_operation(term: Infix, left: Operand, right: Operand) -> Expr:
    """`left op right`."""
    op = term.op
    if op in ("&&", "||"):
        words = f"{op} joins truth values"
        return Binary(op, _boolean(left, words), _boolean(right, words), BOOL)
    if op in COMPARISONS:
        return _comparison(term, left, right)
    if op in BITWISE:
        return _bitwise(term, left, right)
    return _arithmetic(term, left, right)


def ternary(term: Ternary, condition: Operand, then: Expr, otherwise: Expr) -> Expr:
    """`condition ? then : otherwise`."""
    decision = _boolean(condition, "what stands before ? decides")
    dtype = computed(unify(then.dtype, otherwise.dtype))
    return Select(decision, convert(then, dtype), convert(otherwise, dtype), dtype)


def min_or_max(which: str, arguments: list[Operand]) -> Expr:
    """`min(...)` or `max(...)`; of truth values whether all are true, or any."""
    values = [argument.expr for argument in arguments]
    dtype = computed(_unified(values))
    if dtype == BOOL:
        return reduce(lambda a, b: Binary("&" if which == "min" else "|", a, b, BOOL), values)
    return Call(which, tuple(convert(value, dtype) for value in values), dtype)


def builtin_call(builtin: Builtin, arguments: list[Operand]) -> Expr:
    """A mathematical function; its arguments are float32 or wider unless it keeps integers."""
    values = [argument.expr for argument in arguments]
    dtype = computed(_unified(values))
    keeps = dtype.is_float or (builtin.keeps_integers and dtype != BOOL)
    if not keeps or (builtin.is_test and dtype == WEAK):
        dtype = FLOAT32
    converted = tuple(convert(value, dtype) for value in values)
    return Call(builtin.name, converted, BOOL if builtin.is_test else dtype)


def check_no_truths(term: Term, operands: Sequence[Operand]) -> None:
    """Problem for a truth value where a number stands beside it or is needed."""
    if isinstance(term, Infix) and term.op in ("&&", "||", *BITWISE):
        return
    same = len({operand.dtype == BOOL for operand in operands}) == 1
    if same and (isinstance(term, Ternary) or (isinstance(term, Infix) and term.op in COMPARISONS)):
        return
    name = term.op if isinstance(term, Infix) else term.name.name if isinstance(term, Apply) else "?:"
    for operand in operands:
        _number(operand, f"an operand of {name}")


def type_words(dtype: DType) -> str:
    """A type in a message; a literal's is not decided yet."""
    return "a float" if dtype == WEAK else dtype.name


def _arithmetic(term: Infix, left: Operand, right: Operand) -> Expr:
    a, b = left.expr, right.expr
    dtype = computed(unify(a.dtype, b.dtype))
    if dtype == BOOL:
        raise _two_truths(term)
    if term.op == "%" and dtype.is_float:
        fix = f"write fmod({print_term(term.left)}, {print_term(term.right)})"
        raise Problem("expected integral type but found float: % is for integers", term.op_span, fix)
    return Binary(term.op, convert(a, dtype), convert(b, dtype), dtype)


def _comparison(term: Infix, left: Operand, right: Operand) -> Expr:
    if isinstance(term.left, Infix) and term.left.op in COMPARISONS:
        middle = print_term(term.left.right)
        fix = f"write {print_term(term.left)} && {middle} {term.op} {print_term(term.right)}"
        raise Problem("comparisons do not chain: the left side is already a truth value", term.op_span, fix)
    dtype = computed(unify(left.dtype, right.dtype))
    dtype = FLOAT32 if dtype == WEAK else dtype
    return Binary(term.op, convert(left.expr, dtype), convert(right.expr, dtype), BOOL)


def _bitwise(term: Infix, left: Operand, right: Operand) -> Expr:
    is_shift = term.op in ("<<", ">>")
    for side in (left, right):
        mixed = side.dtype == BOOL and (is_shift or left.dtype != right.dtype)
        if side.dtype.is_float or mixed:
            fix = "comparisons bind tighter than & | ^: use && or parentheses" if mixed else _POWER.get(term.op, "")
            message = f"expected integral type but found {type_words(side.dtype)}: operand of {term.op}"
            raise Problem(message, side.term.span, fix)
    if is_shift:
        return Binary(term.op, left.expr, right.expr, left.dtype)
    dtype = unify(left.dtype, right.dtype)
    return Binary(term.op, convert(left.expr, dtype), convert(right.expr, dtype), dtype)


def _two_truths(term: Infix) -> Problem:
    left, right = print_term(term.left, 7), print_term(term.right, 7)
    said = {"+": "||", "*": "&&", "-": "!="}.get(term.op)
    logical = f"write {left} {said} {right}, or for a number " if said else "write "
    fix = f"{logical}int32({print_term(term.left)}) {term.op} {right}"
    return Problem(f"both operands of {term.op} are bool: expected a number", term.op_span, fix)


def _number(operand: Operand, what: str) -> Expr:
    if operand.dtype == BOOL:
        text = print_term(operand.term)
        raise Problem(f"{what} must be a number but is bool", operand.term.span, f"write int32({text})")
    return operand.expr


def _boolean(operand: Operand, what: str) -> Expr:
    if operand.dtype != BOOL:
        fix = f"write {print_term(operand.term, 7)} != 0"
        raise Problem(f"expected boolean but found {type_words(operand.dtype)}: {what}", operand.term.span, fix)
    return operand.expr


def _unified(numbers: list[Expr]) -> DType:
    dtype = numbers[0].dtype
    for number in numbers[1:]:
        dtype = unify(dtype, number.dtype)
    return dtype
