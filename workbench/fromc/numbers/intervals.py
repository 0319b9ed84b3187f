"""Between which sums of sizes an index expression of C lies, without a solver: enough to say how large an array is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycparser import c_ast

from workbench.fromc.text.literals import c_literal
from workbench.records import record

# Sums of names with whole factors; the constant stands under "".
Sum = dict[str, int]


@record
class Interval:
    """Bounds of a value, both included; None where nothing is known."""

    low: Sum | None
    high: Sum | None


Bounds = dict[str, "Interval | None"]


def c_bounds(node: Any, bounds: Bounds) -> Interval | None:
    """The bounds of an expression of C; names that are no loop variables are sizes."""
    match node:
        case c_ast.Constant(value=text):
            found = c_literal(text)
            whole = found is not None and found.dtype.is_integral
            return _exactly({"": int(found.value)}) if whole and found is not None else None
        case c_ast.ID(name=name):
            return bounds[name] if name in bounds else _exactly({name: 1})
        case c_ast.UnaryOp(op="-", expr=operand):
            return _lifted(lambda a: _scaled(a, -1), c_bounds(operand, bounds))
        case c_ast.Cast(expr=operand):
            return c_bounds(operand, bounds)
        case c_ast.TernaryOp(iftrue=then, iffalse=otherwise):
            return _either(c_bounds(then, bounds), c_bounds(otherwise, bounds))
        case c_ast.FuncCall(name=c_ast.ID(name="min" | "max" | "MIN" | "MAX"), args=c_ast.ExprList(exprs=[a, b])):
            return _either(c_bounds(a, bounds), c_bounds(b, bounds))
        case c_ast.BinaryOp():
            return _combined(node, c_bounds(node.left, bounds), c_bounds(node.right, bounds))
    return None


def _exactly(value: Sum) -> Interval:
    return Interval(value, value)


def _lifted(change: Callable[[Interval], Interval], a: Interval | None) -> Interval | None:
    return None if a is None else change(a)


def _either(a: Interval | None, b: Interval | None) -> Interval | None:
    if a is None or b is None:
        return None
    return Interval(interval_hull([a.low, b.low], upper=False), interval_hull([a.high, b.high], upper=True))


def _combined(node: Any, a: Interval | None, b: Interval | None) -> Interval | None:
    if node.op == "%" and b is not None and (by := _constant(b)) and by > 0:
        never_negative = a is not None and a.low is not None and set(a.low) <= {""} and a.low.get("", 0) >= 0
        return Interval({"": 0 if never_negative else 1 - by}, {"": by - 1})
    if a is None or b is None:
        return None
    match node.op:
        case "+":
            return Interval(_sum(a.low, b.low), _sum(a.high, b.high))
        case "-":
            negative = _scaled(b, -1)
            return Interval(_sum(a.low, negative.low), _sum(a.high, negative.high))
        case "*":
            left, right = _constant(a), _constant(b)
            if right is not None:
                return _scaled(a, right)
            return None if left is None else _scaled(b, left)
        case "/" if (by := _constant(b)) and by > 0:
            return Interval(_quotient(a.low, by), _quotient(a.high, by))
    return None


def _constant(a: Interval) -> int | None:
    if a.low is None or a.low != a.high or set(a.low) - {""}:
        return None
    return a.low.get("", 0)


def _sum(a: Sum | None, b: Sum | None) -> Sum | None:
    if a is None or b is None:
        return None
    total = {name: a.get(name, 0) + b.get(name, 0) for name in {**a, **b}}
    return {name: factor for name, factor in total.items() if factor or not name}


def _scaled(a: Interval, by: int) -> Interval:
    low, high = (None if side is None else {n: f * by for n, f in side.items()} for side in (a.low, a.high))
    return Interval(low, high) if by >= 0 else Interval(high, low)


def _quotient(a: Sum | None, by: int) -> Sum | None:
    if a is None or any(factor % by for name, factor in a.items() if name):
        return None
    return {name: factor // by for name, factor in a.items()}


def interval_hull(sums: list[Sum | None], *, upper: bool) -> Sum | None:
    """The largest (or smallest) of some sums, if they differ by numbers only."""
    if not sums or None in sums:
        return None
    known = [{n: f for n, f in s.items() if n} for s in sums if s is not None]
    if any(s != known[0] for s in known):
        return None
    constants = [s.get("", 0) for s in sums if s is not None]
    return {**known[0], "": max(constants) if upper else min(constants)}


def written(value: Sum, more: int = 0) -> str:
    """A sum as C writes it.

    >>> written({"n": 2, "": -1}, 1), written({"": 3}), written({"m": -1, "n": 1})
    ('2 * n', '3', '-m + n')
    """
    text = ""
    for name, factor in value.items():
        if name and factor:
            size = name if abs(factor) == 1 else f"{abs(factor)} * {name}"
            text += (" - " if factor < 0 else " + ") + size if text else ("-" if factor < 0 else "") + size
    constant = value.get("", 0) + more
    if not text:
        return str(constant)
    return f"{text} {'-' if constant < 0 else '+'} {abs(constant)}" if constant else text
