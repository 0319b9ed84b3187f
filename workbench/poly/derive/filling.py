"""Which element, read everywhere, makes a contribution to a reduction neutral."""

from __future__ import annotations

import math
from collections.abc import Callable

from workbench.errors import ScheduleError
from workbench.lang.algebra.identities import neutral
from workbench.lang.dtypes import DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Read, Unary
from workbench.poly.programs.program import ProgramStatement

Number = int | float

BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
CALLS: dict[str, Callable[..., Number]] = {
    "min": lambda *a: min(a),
    "max": lambda *a: max(a),
    "abs": lambda a: abs(a),
}


def neutral_filling(updates: list[ProgramStatement]) -> Number:
    """A number for which every contribution is the identity of its reduction; 0 if there are none.

    On both operands of a product: 0 * inf is not 0.  ScheduleError if no number is known to do it.
    """
    wanted = [(s, _identity(s)) for s in updates]
    for candidate in dict.fromkeys((*(i for _, i in wanted), 0, 1, math.inf, -math.inf)):
        if all(_same(_value(s.values[0], candidate), i) for s, i in wanted):
            return candidate
    names = ", ".join(s.name for s in updates)
    advice = "isolate the full tiles instead"
    raise ScheduleError(f"no element is known that makes the contributions of {names} neutral; {advice}")


def _identity(own: ProgramStatement) -> Number:
    if not isinstance(own.reduction, str):
        raise ScheduleError(f"{own.name} reduces a tuple; its tiles stay as they are")
    return neutral(own.reduction, own.values[0].dtype)


def _same(value: Number | None, wanted: Number) -> bool:
    return value is not None and value == wanted


def _value(expr: Expr, filling: Number) -> Number | None:
    """The value where every read gives the filling; None if that is not known."""
    match expr:
        case Const(value, _):
            return value
        case Read(_, _, dtype):
            return filling if fits(filling, dtype) else None
        case Cast(operand, dtype):
            inside = _value(operand, filling)
            return inside if inside is not None and fits(inside, dtype) else None
        case Unary("-", operand, _):
            inside = _value(operand, filling)
            return None if inside is None else -inside
        case Binary(op, left, right, dtype) if op in BINARY and dtype.kind != "bool":
            return _applied(BINARY[op], dtype, _value(left, filling), _value(right, filling))
        case Call(name, arguments, dtype) if name in CALLS:
            return _applied(CALLS[name], dtype, *(_value(a, filling) for a in arguments))
    return None


def _applied(function: Callable[..., Number], dtype: DType, *arguments: Number | None) -> Number | None:
    if any(a is None for a in arguments):
        return None
    value = function(*arguments)
    return value if fits(value, dtype) else None


def fits(value: Number, dtype: DType) -> bool:
    """Whether a type holds the number as it is."""
    if dtype.is_float:
        return math.isinf(value) or (not math.isnan(value) and abs(value) <= 1 << 10)
    if dtype.kind == "bool" or math.isinf(value) or math.isnan(value) or value != int(value):
        return False
    low = 0 if dtype.kind == "uint" else -(1 << (dtype.bits - 1))
    return low <= value < low + (1 << dtype.bits)
