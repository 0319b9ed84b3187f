"""isl's AST expressions as language expressions (int64, `/` and `%` floor)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from workbench.errors import ScheduleError
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Select, Size, Unary
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.names import from_isl

OP = isl.ast_expr_op
ARITHMETIC = {
    OP.add: "+",
    OP.sub: "-",
    OP.mul: "*",
    OP.div: "/",  # exact, so flooring changes nothing
    OP.fdiv_q: "/",
    OP.pdiv_q: "/",
    OP.pdiv_r: "%",
    OP.zdiv_r: "%",  # only ever compared with 0
}
COMPARISON = {OP.eq: "==", OP.le: "<=", OP.lt: "<", OP.ge: ">=", OP.gt: ">"}
CONNECTIVE = {OP.and_: "&&", OP.and_then: "&&", OP.or_: "||", OP.or_else: "||"}
EXTREMUM = {OP.min: "min", OP.max: "max"}


def language_expression(node: isl.AstExpr, variables: Mapping[str, str]) -> Expr:
    """The expression in normal form; `variables` maps isl's iterators to loop variables, other names are
    sizes.
    """
    result = _convert(node, variables)
    return simplify(result) if result.dtype == INT64 else result


def _convert(node: isl.AstExpr, variables: Mapping[str, str]) -> Expr:
    kind = node.get_type()
    if kind == isl.ast_expr_type.int:
        return Const(unpack.python_int(node.get_val()), INT64)
    if kind == isl.ast_expr_type.id:
        name = node.get_id().get_name()
        return Index(variables[name], INT64) if name in variables else Size(from_isl(name), INT64)
    return _operation(node.get_op_type(), [_convert(a, variables) for a in unpack.operands(node)])


def _operation(op: Any, operands: list[Expr]) -> Expr:
    if op in ARITHMETIC:
        left, right = operands
        return Binary(ARITHMETIC[op], left, right, INT64)
    if op in COMPARISON:
        left, right = map(simplify, operands)
        return Binary(COMPARISON[op], left, right, BOOL)
    if op in CONNECTIVE:
        return reduce(lambda a, b: Binary(CONNECTIVE[op], a, b, BOOL), operands)
    if op in EXTREMUM:
        return Call(EXTREMUM[op], tuple(operands), INT64)
    if op == OP.minus:
        return Unary("-", operands[0], INT64)
    if op in (OP.cond, OP.select):
        condition, then, otherwise = operands
        return Select(condition, then, otherwise, then.dtype)
    raise ScheduleError(f"unexpected operation in the generated loops: {op}")
