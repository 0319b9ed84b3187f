"""Spelling: what C writes differently and means the same, node by node."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

from workbench.lang.dtypes import BFLOAT16, BOOL, FLOAT16, DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Read, Select, Unary, reads, transform, walk
from workbench.lang.normal_form import constant, polynomial
from workbench.lang.polynomial import Polynomial, expression

SIXTEEN = {"to_bf16": BFLOAT16, "to_f16": FLOAT16}


def plain(expr: Expr, stored: Mapping[str, DType]) -> Expr:
    """The expression without what only C needs at its top; `stored` are the operator's types of the text's arrays."""
    match expr:
        case Cast(operand, dtype) if operand.dtype == dtype or (dtype.is_integral and is_truth(operand, stored)):
            return plain(operand, stored)
        case Cast(Read(tensor, _, _) as read, dtype) if stored.get(tensor) == dtype:
            return read
        case Cast(Call("to_bf16" | "to_f16" as name, (operand,), _), _):
            return Cast(operand, SIXTEEN[name])
        case Call("from_bf16" | "from_f16", (Cast(operand, _) | operand,), dtype):
            return Cast(operand, dtype)
        case Cast(operand, dtype) if dtype.is_float and is_number(operand) and (found := constant(operand)) is not None:
            return Const(float(found), dtype)
        case Cast(Const(int() as value, _), dtype) if dtype.is_integral and 0 <= value < 1 << (dtype.bits - 1):
            return Const(value, dtype)
        case Cast(Binary("+" | "-" | "*" as op, left, right, wide), dtype) if _narrows(wide, dtype):
            return Binary(op, Cast(left, dtype), Cast(right, dtype), dtype)
        case Cast(Cast(operand, wide), dtype) if operand.dtype == dtype and _narrows(wide, dtype):
            return plain(operand, stored)
        case Binary("!=", operand, Const(0, _), _) if is_truth(operand, stored):
            return plain(operand, stored)
        case Binary("&" | "|" as op, left, right, _) if is_truth(left, stored) and is_truth(right, stored):
            return Binary(op * 2, left, right, BOOL)
        case Call("select", (condition, then, otherwise), dtype):
            return Select(condition, then, otherwise, dtype)
        case Binary() | Unary() if is_number(expr) and (found := constant(expr)) is not None:
            return Const(int(found), expr.dtype)
    return expr


def _narrows(wide: DType, dtype: DType) -> bool:
    """Whether arithmetic in the wide type, cut off, is that of the narrow one."""
    return wide.is_integral and dtype.is_integral and BOOL not in (wide, dtype) and wide.bits >= dtype.bits


def is_truth(expr: Expr, stored: Mapping[str, DType]) -> bool:
    """Whether it is 0 or 1: truth values are integers in C."""
    match expr:
        case Read(tensor, _, _):
            return stored.get(tensor) == BOOL
        case Cast(operand, dtype) if dtype.is_integral:
            return is_truth(operand, stored)
        case Binary("&" | "|", left, right, _):
            return is_truth(left, stored) and is_truth(right, stored)
    return expr.dtype == BOOL


def head(expr: Expr) -> tuple[str, str]:
    """What a node computes of its operands."""
    match expr:
        case Binary(op, _, _, dtype) | Unary(op, _, dtype):
            return op, "" if dtype == BOOL else dtype.name
        case Call(function, _, _):
            return function, ""
        case Cast(_, dtype):
            return "cast", dtype.name
    return type(expr).__name__, ""


def is_number(expr: Expr) -> bool:
    """Whether it is arithmetic of indices that does not wrap around."""
    integral = expr.dtype.is_integral and expr.dtype != BOOL
    return integral and not any(isinstance(n, Read) or n.dtype.is_float or _wraps(n) for n in walk(expr))


def _wraps(expr: Expr) -> bool:
    return not isinstance(expr, Const) and (
        expr.dtype.kind == "uint" or (expr.dtype.kind == "int" and expr.dtype.bits < 32)
    )


def same_constant(a: Const, b: Const) -> bool:
    """Whether two constants are one number as it is stored."""
    if a.dtype.is_float != b.dtype.is_float:
        return False
    x, y = (_rounded(float(c.value), c.dtype) if c.dtype.is_float else int(c.value) for c in (a, b))
    return repr(x) == repr(y)


def _rounded(value: float, dtype: DType) -> float:
    if dtype.bits > 32 or not math.isfinite(value) or abs(value) > 3e38:
        return value
    return float(struct.unpack("f", struct.pack("f", value))[0])


def data_terms(expr: Expr) -> tuple[list[tuple[int, Expr]], Expr]:
    """Index arithmetic as (factor, part that depends on data) pairs and the rest."""
    whole = polynomial(transform(expr, lambda n: n.operand if isinstance(n, Cast) and not _wraps(n) else n))
    data = {m: x for m, x in whole.terms if any(reads(*m))}
    rest = {m: x for m, x in whole.terms if m not in data}
    return [(x, expression(Polynomial({m: 1}))) for m, x in data.items()], expression(Polynomial(rest))
