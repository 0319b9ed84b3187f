"""Extrema that results do not depend on: what is subtracted in exponents and divided away again, as in a softmax.

Let every cell of a tensor grow by some d.  A value that reads it grows by a multiple of d, or it grows by a factor
exp(k d), or it stays; where nothing else can be said, nothing is.  If all results stay, the tensor is as good as a
constant: its gradient is 0, and what leads to it, equal places and their shares, need not be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isinf, nan
from typing import Literal

from workbench.lang.derived.building import Building
from workbench.lang.derived.forward.stepping import overwrites, written
from workbench.lang.derived.text.source import walked
from workbench.lang.expr import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Read,
    Select,
    Unary,
    children,
    index_names,
    reads,
)
from workbench.lang.operator import Statement, Step

Multiple = tuple[tuple[tuple[Expr, ...], Fraction], ...]
"""A sum of products of expressions that do not vary, each with a coefficient."""


@dataclass(frozen=True)
class Moved:
    """How a value follows: it is "added" `multiple` times d, or "scaled" by exp of that; `cell` are the subscripts of
    the d it follows.
    """

    how: Literal["added", "scaled"]
    multiple: Multiple
    cell: tuple[Expr, ...]


class Unknown(Exception):
    """How a value follows cannot be said."""


Follows = Moved | None
"""None for a value that stays as it is."""


def shifts(steps: tuple[Step, ...], building: Building, outputs: Iterable[str]) -> set[str]:
    """The minima and maxima on which no output depends."""
    writers: dict[str, list[Step]] = {}
    for step in steps:
        for name in written(step):
            writers.setdefault(name, []).append(step)
    extrema = [
        step.targets[0].tensor for step in steps
        if isinstance(step, Statement) and step.reduction in ("min", "max") and step.values[0].dtype.is_float
    ]  # fmt: skip
    alone = [name for name in extrema if len(writers[name]) == 1 and name not in outputs]
    return {name for name in alone if _Following(name, building, {*writers}).stay(steps, outputs)}


class _Following:
    """What follows one tensor, step by step."""

    def __init__(self, shift: str, building: Building, written: set[str]) -> None:
        self.shift, self.building, self.written = shift, building, written
        self.known: dict[str, Follows] = {n: None for n, t in building.tensors.items() if t.role != "temporary"}

    def stay(self, steps: tuple[Step, ...], outputs: Iterable[str]) -> bool:
        """Whether all outputs stay as they are."""
        try:
            for step in steps:
                if self.shift not in written(step):
                    self._step(step)
        except Unknown:
            return False
        return all(self.known.get(name) is None for name in outputs)

    def _step(self, step: Step) -> None:
        if not isinstance(step, Statement) or len(step.targets) != 1:
            every = [r for s, _ in walked((step,)) for r in reads(*s.values)]
            if any(self._moves(r.tensor) for r in every) or any(map(self._moves, written(step))):
                raise Unknown
            return
        (target,), (value,) = step.targets, step.values
        follows = self._reduced(step, self.of(value))
        if follows is not None:
            follows = _from_the_cell(follows, target.subscripts)
        if not overwrites(step, self.building) and self.known.get(target.tensor, follows) != follows:
            raise Unknown
        self.known[target.tensor] = follows

    def _moves(self, name: str) -> bool:
        return name == self.shift or self.known.get(name) is not None

    def _reduced(self, step: Statement, follows: Follows) -> Follows:
        if step.reduction is None or follows is None:
            return follows
        summed = {r.index for r in step.ranges if r.kind == "reduction"}
        within = {name for each in follows.cell for name in index_names(each)} & summed
        fits = step.reduction in ("min", "max") or (step.reduction == "+" and follows.how == "scaled")
        if within or not fits or not step.initialise:
            raise Unknown
        return follows

    # --- expressions

    def of(self, expr: Expr) -> Follows:
        """How a value follows; Unknown where that cannot be said."""
        match expr:
            case Read(tensor, subscripts, _):
                return self._read(tensor, subscripts)
            case Unary("-", operand, _):
                own = self.of(operand)
                return own if own is None or own.how == "scaled" else _times(own, Fraction(-1))
            case Cast(operand, dtype) if dtype.is_float:
                return self.of(operand)
            case Binary("+" | "-" as op, a, b, _):
                return self._sum(a, b, Fraction(1 if op == "+" else -1))
            case Binary("*" | "/" as op, a, b, _) if expr.dtype.is_float:
                return self._product(a, b, op)
            case Select(condition, a, b, _):
                self._must_stay(condition)
                return self._alike(a, b)
            case Call("min" | "max" | "fmin" | "fmax", (a, b), _):
                return self._alike(a, b)
            case Call(function, (operand,), _) if function in CALLS:
                own = self.of(operand)
                return None if own is None else CALLS[function](own)
            case Binary(op, a, b, _) if op in COMPARISONS and self.of(a) == self.of(b):
                return None
        for each in children(expr):
            self._must_stay(each)
        return None

    def _must_stay(self, expr: Expr) -> None:
        if self.of(expr) is not None:
            raise Unknown

    def _read(self, tensor: str, subscripts: tuple[Expr, ...]) -> Follows:
        for each in subscripts:
            self._must_stay(each)
        if tensor == self.shift:
            return Moved("added", (((), Fraction(1)),), subscripts)
        own = self.known.get(tensor)
        if own is None:
            return None
        places = [each.value for each in own.cell if isinstance(each, Const)]
        return Moved(own.how, own.multiple, tuple(subscripts[int(place)] for place in places))

    def _sum(self, a: Expr, b: Expr, sign: Fraction) -> Follows:
        one, other = self.of(a), self.of(b)
        if one is None and other is None:
            return None
        if one is not None and other is not None and one.cell == other.cell and one.how == other.how:
            if one.how == "added":
                return _added(one, _times(other, sign))
            if one.multiple == other.multiple:
                return one
        if one is not None and other is None and one.how == "added":
            return one
        if one is None and other is not None and other.how == "added":
            return _times(other, sign)
        raise Unknown

    def _product(self, a: Expr, b: Expr, op: str) -> Follows:
        one, other = self.of(a), self.of(b)
        if one is None and other is None:
            return None
        if one is not None and other is None:
            return one if one.how == "scaled" else self._multiplied(one, b, op)
        if one is None and other is not None:
            if other.how == "scaled":
                return _times(other, Fraction(1 if op == "*" else -1))
            if op == "*":
                return self._multiplied(other, a, op)
        elif one is not None and other is not None and one.how == other.how == "scaled" and one.cell == other.cell:
            return _added(one, _times(other, Fraction(1 if op == "*" else -1)))
        raise Unknown

    def _multiplied(self, own: Moved, factor: Expr, op: str) -> Moved:
        """What is added, times an expression that is the same everywhere and at all times."""
        if index_names(factor) or any(r.tensor in self.written for r in reads(factor)):
            raise Unknown
        if isinstance(factor, Const) and factor.value and not isinf(factor.value):
            x = Fraction(factor.value)
            return _times(own, x if op == "*" else 1 / x)
        part = factor if op == "*" else Binary("/", Const(1.0, factor.dtype), factor, factor.dtype)
        products = ((tuple(sorted((*factors, part), key=repr)), x) for factors, x in own.multiple)
        return Moved(own.how, _collected(products), own.cell)

    def _alike(self, a: Expr, b: Expr) -> Follows:
        """One of two values that follow alike; an infinity is not moved by what is added to it, nor 0 by a factor."""
        one, other = self.of(a), self.of(b)
        if one == other:
            return one
        for follows, rest in ((one, b), (other, a)):
            number = _number(rest)
            if follows is not None and (isinf(number) if follows.how == "added" else number == 0):
                return follows
        raise Unknown


def _number(expr: Expr) -> float:
    """The number that an expression is; NaN for what varies."""
    match expr:
        case Const(value, _):
            return float(value)
        case Unary("-", operand, _):
            return -_number(operand)
        case Cast(operand, _):
            return _number(operand)
    return nan


def _from_the_cell(follows: Moved, subscripts: tuple[Expr, ...]) -> Moved:
    """The same, told from the cell that is written: which of its subscripts are those of the d."""
    places = []
    for each in follows.cell:
        if not isinstance(each, Index) or each not in subscripts:
            raise Unknown
        places.append(Const(subscripts.index(each), each.dtype))
    return Moved(follows.how, follows.multiple, tuple(places))


def _collected(terms: Iterable[tuple[tuple[Expr, ...], Fraction]]) -> Multiple:
    total: dict[tuple[Expr, ...], Fraction] = {}
    for factors, x in terms:
        total[factors] = total.get(factors, Fraction(0)) + x
    return tuple(sorted(((f, x) for f, x in total.items() if x), key=repr))


def _added(one: Moved, other: Moved) -> Follows:
    multiple = _collected((*one.multiple, *other.multiple))
    return Moved(one.how, multiple, one.cell) if multiple else None


def _times(own: Moved, x: Fraction) -> Moved:
    return Moved(own.how, tuple((factors, x * y) for factors, y in own.multiple), own.cell)


def _scaled(own: Moved) -> Moved:
    if own.how != "added":
        raise Unknown
    return Moved("scaled", own.multiple, own.cell)


def _logarithm(own: Moved) -> Moved:
    if own.how != "scaled":
        raise Unknown
    return Moved("added", own.multiple, own.cell)


def _power(x: Fraction) -> Callable[[Moved], Moved]:
    def of(own: Moved) -> Moved:
        if own.how != "scaled":
            raise Unknown
        return _times(own, x)

    return of


CALLS: dict[str, Callable[[Moved], Moved]] = {
    "exp": _scaled, "log": _logarithm, "sqrt": _power(Fraction(1, 2)), "rsqrt": _power(Fraction(-1, 2)),
    "fabs": _power(Fraction(1)), "abs": _power(Fraction(1)),
}  # fmt: skip
