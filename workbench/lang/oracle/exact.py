"""Integer expressions over sizes and indices for the NumPy oracle, exactly.

Subscripts and bounds are exact integers, whatever their declared width: a cell's address does not wrap
around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary, children


def exact(expr: Expr, env: Mapping[str, Any]) -> Any:
    """Value of an integer expression without reads, as exact integers: an int or an int64 array."""
    match expr:
        case Const(value, _):
            return int(value)
        case Size(name, _) | Index(name, _):
            return env[name]
        case Cast(operand, _):
            return exact(operand, env)
        case Unary("-", operand, _):
            return -exact(operand, env)
        case Unary("~", operand, _):
            return ~exact(operand, env)
        case Unary(_, operand, _):
            return np.logical_not(exact(operand, env))
        case Binary(op, left, right, _):
            return ARITHMETIC[op](exact(left, env), exact(right, env))
        case Select(condition, then, otherwise, _):
            c, a, b = (exact(e, env) for e in (condition, then, otherwise))
            return np.where(c, a, b)
        case Call(function, arguments, _) if function in CALLS:
            return CALLS[function](*(exact(a, env) for a in arguments))
        case Call() | Read():
            raise AssertionError(f"not an integer expression over sizes and indices: {expr}")


def is_exact(expr: Expr) -> bool:
    """Whether `exact` can evaluate it: integers and truth values only, no reads."""
    match expr:
        case Read():
            return False
        case Call(function, _, _) if function not in CALLS:
            return False
        case Size() | Index():
            return True
        case _:
            return not expr.dtype.is_float and all(is_exact(child) for child in children(expr))


def _divide(a: Any, b: Any) -> Any:
    zero = np.equal(b, 0)
    return np.where(zero, 0, np.floor_divide(a, np.where(zero, 1, b)))


def _modulo(a: Any, b: Any) -> Any:
    zero = np.equal(b, 0)
    return np.where(zero, 0, np.remainder(a, np.where(zero, 1, b)))


def _fold_calls(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def fold(first: Any, *rest: Any) -> Any:
        for value in rest:
            first = function(first, value)
        return first

    return fold


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": _modulo,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&&": np.logical_and,
    "||": np.logical_or,
}
CALLS: dict[str, Callable[..., Any]] = {
    "min": _fold_calls(np.minimum),
    "max": _fold_calls(np.maximum),
    "abs": np.abs,
    "sign": np.sign,
    "relu": lambda a: np.maximum(a, 0),
}
