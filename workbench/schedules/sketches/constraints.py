"""`where`: what a point of a sketch has to meet, as a text that can be stored or as a function."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from workbench.errors import ScheduleError, shown, unknown_name
from workbench.records import record

LONGEST = 2000
FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "abs": abs}
ARITHMETIC: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.USub: operator.neg, ast.Not: operator.not_,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b, ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}  # fmt: skip


@record
class Constraint:
    """A condition on the decisions `names`: its text, or the function that was given (which cannot be stored)."""

    text: str
    names: frozenset[str]
    function: Callable[..., Any] | None = None

    def holds(self, point: Mapping[str, Any]) -> bool:
        """Whether a point meets it; ScheduleError where that cannot be computed."""
        own = {name: point[name] for name in self.names}
        try:
            return bool(self.function(**own) if self.function else _value(self._tree, own))
        except (TypeError, ValueError, ArithmeticError) as error:
            given = ", ".join(f"{name}={value}" for name, value in sorted(own.items()))
            raise ScheduleError(f"the constraint {self.text} fails for {given}: {error}") from error

    @cached_property
    def _tree(self) -> ast.expr:
        return ast.parse(self.text, mode="eval").body

    def __str__(self) -> str:
        return self.text


def constraint(predicate: str | Callable[..., Any], known: list[str]) -> Constraint:
    """A condition given as text (`"m * n <= 4096"`) or as a function whose parameters are names of decisions."""
    if isinstance(predicate, str):
        return _of_text(predicate, known)
    if not callable(predicate):
        raise ScheduleError(f'where: expected a text such as "m * n <= 4096", or a function, not {shown(predicate)}')
    try:
        parameters = inspect.signature(predicate).parameters.values()
    except (TypeError, ValueError):
        raise ScheduleError(f"where: the parameters of {shown(predicate)} cannot be seen; use a lambda") from None
    names = [p.name for p in parameters if p.default is p.empty]
    if any(p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters) or not names:
        raise ScheduleError("where: the function takes decisions by name: wb.where(sketch, lambda m, n: m * n <= 4096)")
    _require_known(names, known)
    return Constraint(getattr(predicate, "__name__", "a function"), frozenset(names), predicate)


def _of_text(text: str, known: list[str]) -> Constraint:
    try:
        tree = ast.parse(text, mode="eval").body if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ScheduleError(f"where: {shown(text)} is no condition: {error}") from error
    if tree is None:
        raise ScheduleError(f"where: the condition has {len(text)} characters; expected at most {LONGEST}")
    names = _names(tree, text)
    if not names:
        raise ScheduleError(f"where: {shown(text)} names no decision; known: {', '.join(known)}")
    _require_known(sorted(names), known)
    return Constraint(text, frozenset(names))


def _require_known(names: list[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            raise ScheduleError(f"where: {unknown_name('decision', name, known)}")


def _names(tree: ast.expr, text: str) -> set[str]:
    """The decisions that a condition names; ScheduleError for what is no condition on numbers and words."""
    match tree:
        case ast.Name(id=name):
            return {name}
        case ast.Constant(value=None | bool() | int() | float() | str()):
            return set()
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.BoolOp(values=parts):
            pass
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            parts = [left, right]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in ARITHMETIC:
            parts = [operand]
        case ast.Compare(left=left, comparators=others):
            parts = [left, *others]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            parts = [test, body, orelse]
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in FUNCTIONS:
            pass
        case _:
            allowed = "decisions, numbers, + - * / // %, comparisons, and, or, not, in, min, max, abs"
            part = shown(ast.unparse(tree))
            raise ScheduleError(f"where: {part} in {shown(text)} is not allowed; expected {allowed}")
    return set().union(*(_names(part, text) for part in parts))


def _value(tree: ast.expr, point: Mapping[str, Any]) -> Any:
    """What a condition comes to; nothing but the cases of `_names` is computed."""
    match tree:
        case ast.Name(id=name):
            return point[name]
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [_value(part, point) for part in parts]
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, point) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_value(part, point) for part in parts)
        case ast.BinOp(left=left, op=op, right=right):
            return ARITHMETIC[type(op)](_number(_value(left, point)), _number(_value(right, point)))
        case ast.UnaryOp(op=op, operand=operand):
            return ARITHMETIC[type(op)](_value(operand, point))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_value(part, point) for part in (left, *others)]
            return all(ARITHMETIC[type(op)](a, b) for op, a, b in zip(ops, values, values[1:], strict=False))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, point) else orelse, point)
        case ast.Call(func=ast.Name(id=name), args=parts):
            return FUNCTIONS[name](*(_value(part, point) for part in parts))
    raise AssertionError(ast.dump(tree))


def _number(value: Any) -> int | float:
    """Texts and tuples are not added or multiplied: they would grow without end."""
    if not isinstance(value, int | float):
        raise TypeError(f"{shown(value)} is no number")
    return value
