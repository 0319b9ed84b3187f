"""The meaning of an operator, one instance at a time, in plain Python: what the oracle is tested against.

Cells live in dictionaries keyed by their subscripts, numbers are Python's, and nothing is clever.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.lang.dtypes import DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary
from workbench.lang.operator import For, Monoid, Operator, Statement

Cells = dict[tuple[int, ...], Any]
FUNCTIONS = {
    "exp": math.exp,
    "sqrt": math.sqrt,
    "tanh": math.tanh,
    "abs": abs,
    "fabs": abs,
    "min": min,
    "max": max,
}
OPERATIONS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": operator.mod,
    "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def brute_force(op: Operator, arrays: dict[str, Any], sizes: dict[str, int]) -> dict[str, Cells]:
    """Every tensor after the operator ran: subscripts → value (cells never written are missing)."""
    memory: dict[str, Cells] = {name: {} for name in op.tensors}
    for name, array in arrays.items():
        lower = [number(e, sizes, memory) for e in op.tensors[name].lower]
        for place, value in np.ndenumerate(np.asarray(array)):
            memory[name][tuple(p + lo for p, lo in zip(place, lower, strict=True))] = value.item()
    steps(op, op.body, dict(sizes), memory)
    return memory


def steps(op: Operator, body: Any, env: dict[str, int], memory: dict[str, Cells]) -> None:
    for step in body:
        if isinstance(step, Statement):
            statement(op, step, env, memory)
        else:
            assert isinstance(step, For)
            for value in range(number(step.axis.lower, env, memory), number(step.axis.upper, env, memory)):
                steps(op, step.body, {**env, step.axis.index: value}, memory)


def instances(ranges: Any, env: dict[str, int], memory: dict[str, Cells]) -> Iterator[dict[str, int]]:
    if not ranges:
        yield env
        return
    for value in range(number(ranges[0].lower, env, memory), number(ranges[0].upper, env, memory)):
        yield from instances(ranges[1:], {**env, ranges[0].index: value}, memory)


def statement(op: Operator, s: Statement, env: dict[str, int], memory: dict[str, Cells]) -> None:
    ranges = [r for r in s.ranges if r.kind != "sequential"]
    if s.initialise:
        initialise(op, s, [r for r in ranges if r.kind == "free"], env, memory)
    touched = set()
    for point in instances(ranges, env, memory):
        values = [number(v, point, memory) for v in s.values]
        places = [tuple(number(e, point, memory) for e in t.subscripts) for t in s.targets]
        cells = [memory[t.tensor] for t in s.targets]
        if s.reduction is not None:
            old = [c.get(p, 0) for c, p in zip(cells, places, strict=True)]
            values = combined(s.reduction, old, values)
        for t, c, p, v in zip(s.targets, cells, places, values, strict=True):
            c[p] = v if s.reduction else stored(v, op.tensors[t.tensor].dtype)
            touched.add((t.tensor, p))
    for name, place in touched:
        memory[name][place] = stored(memory[name][place], op.tensors[name].dtype)


def initialise(op: Operator, s: Statement, free: Any, env: dict[str, int], memory: dict[str, Cells]) -> None:
    axes = {r.index for r in s.ranges if r.kind == "sequential"}
    whole = False
    for target in s.targets:
        names = [e.name if isinstance(e, Index) else None for e in target.subscripts]
        twice = {n for n in names if names.count(n) > 1} - axes
        whole = whole or None in names or bool(twice)
    for f, t in enumerate(s.targets):
        tensor = op.tensors[t.tensor]
        bounds = [
            (number(lo, env, memory), number(ext, env, memory))
            for lo, ext in zip(tensor.lower, tensor.extent, strict=True)
        ]
        everything = itertools.product(*(range(lo, lo + extent) for lo, extent in bounds))
        some = (tuple(number(e, p, memory) for e in t.subscripts) for p in instances(free, env, memory))
        for place in list(everything if whole else some):
            memory[t.tensor][place] = neutral(s.reduction, f, tensor.dtype)


def neutral(reduction: str | Monoid | None, field: int, dtype: DType) -> Any:
    if isinstance(reduction, Monoid):
        return number(reduction.identity[field], {}, {})
    if reduction in ("+", "*"):
        return {"+": 0, "*": 1}[reduction]
    if dtype.is_float:
        return math.inf if reduction == "min" else -math.inf
    info = np.iinfo(dtype.numpy)
    return int(info.max if reduction == "min" else info.min)


def combined(reduction: str | Monoid, old: list[Any], new: list[Any]) -> list[Any]:
    if isinstance(reduction, Monoid):
        fields = {n: {(): v} for n, v in zip((*reduction.left, *reduction.right), old + new, strict=True)}
        return [number(e, {}, fields) for e in reduction.combine]
    a, b = old[0], new[0]
    return [{"+": a + b, "*": a * b, "min": min(a, b), "max": max(a, b)}[reduction]]


def stored(value: Any, dtype: DType) -> Any:
    if dtype.is_float and dtype.bits < 64:
        return float(np.asarray(value, np.float64).astype(np.float32).astype(dtype.numpy))
    return value if dtype.is_float else bool(value) if dtype.kind == "bool" else wrapped(int(value), dtype)


def wrapped(value: int, dtype: DType) -> int:
    value &= (1 << dtype.bits) - 1
    return value - (1 << dtype.bits) if dtype.kind == "int" and value >> (dtype.bits - 1) else value


def number(e: Expr, env: dict[str, int], memory: dict[str, Cells]) -> Any:
    """The value of an expression; only the branch that is chosen is looked at."""
    match e:
        case Const(value, dtype):
            return float(np.float32(value)) if dtype.name == "float32" else value
        case Size(name, _) | Index(name, _):
            return env[name]
        case Read(tensor, subscripts, _):
            return memory[tensor][tuple(number(s, env, memory) for s in subscripts)]
        case Unary(op, operand, dtype):
            a = number(operand, env, memory)
            return (not a) if op == "!" else settled(-a if op == "-" else ~a, dtype)
        case Cast(operand, dtype):
            a = number(operand, env, memory)
            return float(a) if dtype.is_float and dtype.bits > 16 else stored(a, dtype)
        case Select(condition, then, otherwise, _):
            return number(then if number(condition, env, memory) else otherwise, env, memory)
        case Binary("&&" | "||" as op, left, right, _):
            a = number(left, env, memory)
            return number(right, env, memory) if bool(a) == (op == "&&") else a
        case Binary(op, left, right, dtype):
            return settled(binary(op, number(left, env, memory), number(right, env, memory), left.dtype), dtype)
        case Call(function, arguments, _):
            return FUNCTIONS[function](*(number(a, env, memory) for a in arguments))


def settled(value: Any, dtype: DType) -> Any:
    return wrapped(value, dtype) if dtype.is_integral else value


def binary(op: str, a: Any, b: Any, dtype: DType) -> Any:
    if op in ("/", "%") and not dtype.is_float:
        return 0 if b == 0 else a // b if op == "/" else a % b
    if op in ("<<", ">>") and not 0 <= b < dtype.bits:
        return -1 if op == ">>" and a < 0 else 0
    return OPERATIONS[op](a, b)
