"""Shapes of expressions: what two spellings of one computation have in common."""

from __future__ import annotations

import math
import struct

from workbench.lang.dtypes import BOOL, DType
from workbench.lang.expr import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Read,
    Select,
    Size,
    Unary,
    children,
    transform,
    walk,
)
from workbench.lang.normal_form import constant, simplify
from workbench.poly.access import guarded_reads
from workbench.poly.program import Program, ProgramStatement


class Form:
    """The shape of expressions of one statement: reads by their place among the accesses, index arithmetic apart."""

    def __init__(self, own: ProgramStatement, program: Program) -> None:
        found = dict.fromkeys((r.tensor, r.subscripts) for v in own.values for r, _ in guarded_reads(v))
        self.order = {key: n for n, key in enumerate(found)}
        self.arrays, self.sizes = program.arrays, program.sizes
        self.numbers: list[Expr] = []

    def text(self, expr: Expr) -> str:
        """The expression with numbered reads, rounded constants, and without casts that change nothing."""
        match expr:
            case Read(tensor, subscripts, _):
                return f"#{self.order[tensor, subscripts]}"
            case Const(value, dtype) if dtype.is_float:
                return repr(_rounded(value, dtype))
            case Cast(operand, dtype) if operand.dtype == dtype or (dtype.is_integral and self.is_truth(operand)):
                return self.text(operand)
            case Binary("!=", operand, Const(0, _), _) if self.is_truth(operand):
                return self.text(operand)
            case Cast(operand, dtype) if dtype.is_float and (number := self.number(operand)) is not None:
                return repr(_rounded(number, dtype))
        if expr.dtype.is_integral and expr.dtype != BOOL and _indices_only(expr):
            if (number := self.number(expr)) is not None:
                return repr(number)
            self.numbers.append(self.bound(expr))
            return "index"
        return self.inner(expr, ", ".join(map(self.text, children(expr))))

    def inner(self, expr: Expr, parts: str) -> str:
        match expr:
            case Const(value, _):
                return repr(value)
            case Call("select", _, _) | Select():
                return f"select({parts})"
            case Binary("&&" | "||" | "&" | "|" as op, left, right, _) if self.is_truth(left) and self.is_truth(right):
                return f"{op[0]}({parts})"
            case Binary(op, _, _, dtype) | Unary(op, _, dtype):
                return f"{op}{'' if dtype == BOOL else dtype.name}({parts})"
            case Call(function, _, dtype):
                return f"{function}({parts})"
            case Cast(_, dtype):
                return f"{dtype.name}({parts})"
        return type(expr).__name__

    def is_truth(self, expr: Expr) -> bool:
        """Whether it is 0 or 1: truth values are integers in C."""
        match expr:
            case Read(tensor, _, _):
                return self.arrays[tensor].dtype == BOOL
            case Cast(operand, dtype) if dtype.is_integral:
                return self.is_truth(operand)
            case Binary("&" | "|", left, right, _):
                return self.is_truth(left) and self.is_truth(right)
        return expr.dtype == BOOL

    def bound(self, expr: Expr) -> Expr:
        """The expression with the sizes as numbers."""
        return transform(expr, lambda n: Const(self.sizes[n.name], n.dtype) if isinstance(n, Size) else n)

    def number(self, expr: Expr) -> int | None:
        """The value of index arithmetic without indices."""
        bare = transform(self.bound(expr), lambda n: n.operand if isinstance(n, Cast) else n)
        if not expr.dtype.is_integral or not _indices_only(expr) or any(isinstance(n, Index) for n in walk(expr)):
            return None
        found = constant(simplify(bare))
        return None if found is None else int(found)


def _rounded(value: float, dtype: DType) -> float:
    """The constant as it is stored."""
    if dtype.bits > 32 or not math.isfinite(value) or abs(value) > 3e38:
        return float(value)
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _indices_only(expr: Expr) -> bool:
    return not any(isinstance(n, Read) or not (n.dtype.is_integral or n.dtype == BOOL) for n in walk(expr))
