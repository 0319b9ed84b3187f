"""One instance at a time: statements in which every loop carries a conflict (Gauss-Seidel, scans).

Expressions become closures over a dictionary of index values; numbers are NumPy scalars of the
working type, so that they wrap, overflow and round as arrays do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang.dtypes import DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary, children
from workbench.lang.operator import Range, Statement, Target
from workbench.lang.oracle.blocks import Interval
from workbench.lang.oracle.builtins import builtin
from workbench.lang.oracle.exact import exact, is_exact
from workbench.lang.oracle.numbers import BINARY, REDUCTIONS, Arithmetic, shift, store
from workbench.lang.oracle.values import Cells, Memory

Environment = dict[str, int]
Closure = Callable[[Environment], Any]
LARGEST_TREE = 5000


def is_small(statement: Statement) -> bool:
    """Whether the closures of its values stay small: nodes that several share are compiled again for each."""
    sizes: dict[int, int] = {}
    return all(tree_size(value, sizes) < LARGEST_TREE for value in statement.values)


def tree_size(expr: Expr, known: dict[int, int]) -> int:
    """Nodes of the expression, shared ones counted as often as they occur."""
    if id(expr) not in known:
        known[id(expr)] = 1 + sum([tree_size(child, known) for child in children(expr)])
    return known[id(expr)]


def run_instances(
    statement: Statement,
    ranges: tuple[Range, ...],
    narrowed: Mapping[str, Interval],
    fixed: Mapping[str, int],
    memory: Memory,
    arithmetic: Arithmetic,
) -> None:
    """Execute a single-target statement one instance after another, in order.

    `narrowed` restricts some indices to an interval.
    """
    run = instance_of(statement, memory, arithmetic)
    for env in _instances(ranges, narrowed, dict(fixed)):
        run(env)


def instance_of(statement: Statement, memory: Memory, arithmetic: Arithmetic) -> Callable[[Environment], None]:
    """What executes a single-target statement for given values of all its indices."""
    compiler = _Compiler(memory, arithmetic, statement.name)
    target, reduction = statement.targets[0], statement.reduction
    cells, position = memory[target.tensor], compiler.position(target)
    value = compiler.value(statement.values[0])
    combine = None if reduction is None else REDUCTIONS[str(reduction)]

    def run(env: Environment) -> None:
        at, new = position(env), value(env)
        if combine is not None:
            new = combine(cells.array[at], new)
        cells.array[at] = np.float32(new) if cells.dtype.is_half else new

    return run


def _instances(ranges: tuple[Range, ...], narrowed: Mapping[str, Interval], env: Environment) -> Iterator[Environment]:
    if not ranges:
        yield env
        return
    first, rest = ranges[0], ranges[1:]
    lower, upper = int(exact(first.lower, env)), int(exact(first.upper, env))
    start, stop = narrowed.get(first.index, (lower, upper))
    for value in range(max(lower, start), min(upper, stop)):
        env[first.index] = value
        yield from _instances(rest, narrowed, env)


class _Compiler:
    """Turns expressions into closures."""

    def __init__(self, memory: Memory, arithmetic: Arithmetic, statement: str) -> None:
        self.memory = memory
        self.arithmetic = arithmetic
        self.statement = statement

    def position(self, target: Target | Read) -> Callable[[Environment], tuple[int, ...]]:
        """The checked array position of a subscripted tensor."""
        cells = self.memory[target.tensor]
        parts = [self.integer(s) for s in target.subscripts]
        dimensions = list(zip(parts, cells.lower, cells.array.shape, strict=True))

        def at(env: Environment) -> tuple[int, ...]:
            found = tuple([part(env) - lower for part, lower, _ in dimensions])
            for place, extent in zip(found, cells.array.shape, strict=True):
                if not 0 <= place < extent:
                    raise CallError(_out_of_range(self.statement, cells, found, env))
            return found

        return at

    def integer(self, expr: Expr) -> Callable[[Environment], int]:
        match expr:
            case Index(name, _) | Size(name, _):
                return operator.itemgetter(name)
            case Const(value, _):
                return lambda env: int(value)
            case Binary("+" | "-" as op, left, right, _) if is_exact(expr):
                a, b, sign = self.integer(left), self.integer(right), 1 if op == "+" else -1
                return lambda env: a(env) + sign * b(env)
            case _ if is_exact(expr):
                return lambda env: int(exact(expr, env))
            case _:
                value = self.value(expr)
                return lambda env: int(value(env))

    def value(self, expr: Expr) -> Closure:
        dtype = self.arithmetic.working(expr.dtype).type
        match expr:
            case Const(number, declared):
                constant = self.arithmetic.constant(number, declared)[()]
                return lambda env: constant
            case Size(name, _) | Index(name, _):
                return lambda env: np.int64(env[name]).astype(dtype)
            case Read():
                cells, at = self.memory[expr.tensor].array, self.position(expr)
                return lambda env: dtype(cells[at(env)])
            case Unary(op, operand, _):
                return _applied(_UNARY[op], self.value(operand), dtype)
            case Cast(operand, declared):
                return self._cast(self.value(operand), operand.dtype, declared)
            case Binary():
                return self._binary(expr)
            case Select(condition, then, otherwise, _):
                test, yes, no = self.value(condition), self.value(then), self.value(otherwise)
                return lambda env: yes(env) if test(env) else no(env)
            case Call(function, arguments, declared):
                return self._call(function, [self.value(a) for a in arguments], declared)

    def _cast(self, operand: Closure, source: DType, target: DType) -> Closure:
        return lambda env: self.arithmetic.cast(np.asarray(operand(env)), source, target)[()]

    def _binary(self, expr: Binary) -> Closure:
        left, right, op, declared = self.value(expr.left), self.value(expr.right), expr.op, expr.dtype
        if op == "&&":
            return lambda env: left(env) and right(env)
        if op == "||":
            return lambda env: left(env) or right(env)
        if op in ("<<", ">>"):
            return lambda env: shift(op, np.asarray(left(env)), np.asarray(right(env)), declared)[()]
        function = _FAST.get(op, BINARY[op])
        return lambda env: function(left(env), right(env))

    def _call(self, function: str, arguments: list[Closure], declared: DType) -> Closure:
        call, dtype = builtin(function), self.arithmetic.working(declared).type
        if function in _EXTREMES:
            return lambda env: reduce(_EXTREMES[function], [a(env) for a in arguments])
        if function == "nextafter":  # the neighbour depends on the declared type
            return lambda env: dtype(call(*(store(np.asarray(a(env)), declared) for a in arguments)))
        return lambda env: dtype(call(*[a(env) for a in arguments]))


def _applied(function: Callable[[Any], Any], operand: Closure, dtype: Callable[[Any], Any]) -> Closure:
    return lambda env: dtype(function(operand(env)))


def _out_of_range(statement: str, cells: Cells, position: tuple[int, ...], env: Environment) -> str:
    where = tuple(p + lower for p, lower in zip(position, cells.lower, strict=True))
    return (
        f"statement {statement!r} reaches {cells.name}{where} out of range: {cells.name} has shape "
        f"{cells.array.shape}; guard the access with a condition, or correct the index values"
    )


# Operators of NumPy scalars are several times faster than the ufuncs on them.
_FAST: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
# NaN propagates: a comparison with it is false.
_EXTREMES: dict[str, Callable[[Any, Any], Any]] = {
    "min": lambda a, b: a if a <= b or a != a else b,
    "max": lambda a, b: a if a >= b or a != a else b,
}
_UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "!": np.logical_not, "~": np.invert}
