"""Spelling: what C writes differently from the operator language and means the same."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from workbench.lang import expr as nodes
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import BFLOAT16, BOOL, FLOAT16, INT32, DType
from workbench.lang.expr import COMPARISONS, Binary, Call, Cast, Const, Expr, Read, Select, Size, Unary, children, walk
from workbench.lang.operator import Monoid
from workbench.lang.unify import limits
from workbench.poly.programs.program import Access, Program, ProgramStatement

SIXTEEN = {"to_bf16": BFLOAT16, "to_f16": FLOAT16}
Types = Mapping[str, DType]
Change = Callable[[Expr], Expr]


def respelled(program: Program, types: Types) -> Program:
    """The program in one spelling: what C writes in several ways, or otherwise than the operator language, once.

    `types` gives the types that arrays have in truth, by name: C keeps truth values and 16-bit floats in integers.  A
    temporary that only ever holds truth values has that type too.  Casts that change nothing go, numbers are folded and
    rounded to their type, bound sizes become numbers, and subscripts lose the casts to wider integers.
    """
    known = _with_truths(program, types)

    @cache
    def value(expr: Expr) -> Expr:
        spelled = _spelled(expr, known, program.sizes)
        if not any(isinstance(n, Read) and n.subscripts for n in walk(spelled)):
            return spelled
        return nodes.transform(spelled, lambda n: _with_subscripts(n, without_casts) if isinstance(n, Read) else n)

    def without_casts(expr: Expr) -> Expr:
        return nodes.transform(expr, lambda n: n.operand if isinstance(n, Cast) and _widens(n) else n)

    @cache
    def subscript(expr: Expr) -> Expr:
        return without_casts(_spelled(expr, known, program.sizes))

    statements = tuple(_changed(s, value, subscript) for s in program.statements)
    digest = hashlib.sha256(repr(statements).encode()).hexdigest()
    return replace(program, statements=statements, digest=digest[:24])


def _changed(s: ProgramStatement, value: Change, subscript: Change) -> ProgramStatement:
    def moved(access: Access) -> Access:
        return replace(access, subscripts=tuple(map(subscript, access.subscripts)))

    def made(of: str | Monoid | None) -> str | Monoid | None:
        if not isinstance(of, Monoid):
            return of
        return replace(of, combine=tuple(map(value, of.combine)), identity=tuple(map(value, of.identity)))

    targets = tuple((name, tuple(map(subscript, subscripts))) for name, subscripts in s.targets)
    values, accesses = tuple(map(value, s.values)), tuple(map(moved, s.accesses))
    return replace(s, targets=targets, values=values, accesses=accesses, reduction=made(s.reduction))


def _with_truths(program: Program, types: Types) -> dict[str, DType]:
    """The types, with those of temporaries that only hold truth values."""
    written: dict[str, list[Expr]] = {n: [] for n, a in program.arrays.items() if a.role == "temporary"}
    for s in program.statements:
        for (name, _), value in zip(s.targets, s.values, strict=True):
            written.get(name, []).append(value)
    known = dict(types)
    for name, values in written.items():  # in the order of the text: what is read was written before
        if values and name not in known and all(is_truth(value, known) for value in values):
            known[name] = BOOL
    return known


def _with_subscripts(read: Read, change: Change) -> Read:
    return Read(read.tensor, tuple(map(change, read.subscripts)), read.dtype)


def _widens(node: Cast) -> bool:
    return node.operand.dtype.is_integral and node.dtype.kind == "int" and node.dtype.bits >= 32


def _spelled(expr: Expr, types: Types, sizes: Mapping[str, int]) -> Expr:
    if isinstance(expr, Size):
        return Const(sizes[expr.name], expr.dtype) if expr.name in sizes else expr
    while (again := _once(expr, types)) is not expr:
        expr = again
    operands = children(expr)
    return nodes.rebuild(expr, tuple(_spelled(child, types, sizes) for child in operands)) if operands else expr


def _once(expr: Expr, types: Types) -> Expr:
    """The expression without one thing that only C needs at its top; the same object if there is none."""
    match expr:
        case Cast(operand, dtype) if operand.dtype == dtype or (dtype.is_integral and is_truth(operand, types)):
            return operand
        case Cast(Read(tensor, _, _) as read, dtype) if types.get(tensor) == dtype:
            return read
        case Cast(Call("to_bf16" | "to_f16" as name, (operand,), _), _):
            return Cast(operand, SIXTEEN[name])
        case Call("from_bf16" | "from_f16", (Cast(operand, _) | operand,), dtype):
            return Cast(operand, dtype)
        case Cast(operand, dtype) if dtype.is_float and is_number(operand) and (found := constant(operand)) is not None:
            return Const(_rounded(float(found), dtype), dtype)
        case Cast(Const(int() as value, _), dtype) if dtype.is_integral and 0 <= value < 1 << (dtype.bits - 1):
            return Const(value, dtype)
        case Cast(Binary("+" | "-" | "*" as op, left, right, wide), dtype) if _narrows(wide, dtype):
            return Binary(op, Cast(left, dtype), Cast(right, dtype), dtype)
        case Cast(Cast(operand, wide), dtype) if operand.dtype == dtype and _narrows(wide, dtype):
            return operand
        case Binary("!=", operand, Const(0, _), _) if is_truth(operand, types):
            return operand
        case Binary("&" | "|" as op, left, right, _) if is_truth(left, types) and is_truth(right, types):
            return Binary(op * 2, left, right, BOOL)
        case Binary(op, left, right, _) if op in COMPARISONS and (small := unpromoted(left, right)) != (left, right):
            return Binary(op, *small, BOOL)
        case Cast(Select(condition, then, otherwise, _), dtype) if _are(small := unpromoted(then, otherwise), dtype):
            return Select(condition, *small, dtype)
        case Call("select", (condition, then, otherwise), dtype):
            return Select(condition, then, otherwise, dtype)
        case Binary() | Unary() if is_number(expr) and (found := constant(expr)) is not None:
            return Const(int(found), expr.dtype)
        case Const(float() as value, dtype) if repr(_rounded(value, dtype)) != repr(value):
            return Const(_rounded(value, dtype), dtype)
    return expr


def _narrows(wide: DType, dtype: DType) -> bool:
    """Whether arithmetic in the wide type, cut off, is that of the narrow one."""
    return wide.is_integral and dtype.is_integral and BOOL not in (wide, dtype) and wide.bits >= dtype.bits


def is_truth(expr: Expr, types: Types) -> bool:
    """Whether it is 0 or 1: truth values are integers in C."""
    match expr:
        case Read(tensor, _, _):
            return types.get(tensor) == BOOL
        case Cast(operand, dtype) if dtype.is_integral:
            return is_truth(operand, types)
        case Binary("&" | "|", left, right, _):
            return is_truth(left, types) and is_truth(right, types)
    return expr.dtype == BOOL


def is_number(expr: Expr) -> bool:
    """Whether it is arithmetic of indices that does not wrap around."""
    integral = expr.dtype.is_integral and expr.dtype != BOOL
    return integral and not any(isinstance(n, Read) or n.dtype.is_float or _wraps(n) for n in walk(expr))


def _wraps(expr: Expr) -> bool:
    return not isinstance(expr, Const) and (
        expr.dtype.kind == "uint" or (expr.dtype.kind == "int" and expr.dtype.bits < 32)
    )


def _rounded(value: float, dtype: DType) -> float:
    """A number as it is stored."""
    if dtype.bits > 32 or not math.isfinite(value) or abs(value) > 3e38:
        return value
    return float(struct.unpack("f", struct.pack("f", value))[0])


def unpromoted(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Two values as before C promoted them, if they are of one smaller type, or numbers of it: they compare alike.

    >>> from workbench.lang.dtypes import INT8
    >>> [str(v.dtype) for v in unpromoted(Cast(Read("A", (), INT8), INT32), Const(3, INT32))]
    ['int8', 'int8']
    """
    small = {v.operand.dtype for v in (left, right) if isinstance(v, Cast) and v.dtype == INT32}
    own = small.pop() if len(small) == 1 else INT32
    if not own.is_integral or own == BOOL or own.bits >= 32:
        return left, right
    first, second = _kept(left, own), _kept(right, own)
    return (left, right) if first is None or second is None else (first, second)


def _are(values: tuple[Expr, Expr], dtype: DType) -> bool:
    return all(v.dtype == dtype for v in values)


def _kept(value: Expr, dtype: DType) -> Expr | None:
    """A promoted value in its own type, a number in it if that holds it."""
    match value:
        case Cast(operand, _) if operand.dtype == dtype:
            return operand
        case Const(int(number), _) if limits(dtype)[0] <= number <= limits(dtype)[1]:
            return Const(number, dtype)
    return None
