"""Large statements in parts: what a choice compares is stored first, so that derivatives do not repeat it."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.derived.building import Building
from workbench.lang.derived.calculus.algebra import ZERO, both, if_then_else, opposite
from workbench.lang.derived.systems import intervals
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Call, Const, Expr, Index, Read, Select, children, rebuild, walk
from workbench.lang.operator import Statement, Target

LARGE, PART = 40, 10  # nodes of a statement that is split, and of a part that is worth a tensor


def split_choices(statement: Statement, building: Building) -> list[Statement]:
    """The statement, after statements that store the arguments of its choices if it is large."""
    if all(_count(value) <= LARGE or not value.dtype.is_float for value in statement.values):
        return [statement]
    parts = _Parts(statement, building)
    values = tuple(parts.shortened(value, Const(True, BOOL)) for value in statement.values)
    return [*parts.statements, replace(statement, values=values)]


def _count(expr: Expr) -> int:
    return sum(1 for _ in walk(expr))


class _Parts:
    def __init__(self, statement: Statement, building: Building) -> None:
        self.building, self.statements = building, list[Statement]()
        self.axes = tuple(r for r in statement.ranges if r.kind == "sequential")
        self.own = tuple(replace(r, kind="free") for r in statement.ranges if r.kind != "sequential")
        self.known: dict[tuple[Expr, Expr], Read] = {}

    def shortened(self, expr: Expr, guard: Expr) -> Expr:
        """The expression with its parts read; `guard` is what must hold for it to be evaluated."""
        if not expr.dtype.is_float or isinstance(expr, Read):
            return expr
        if isinstance(expr, Select):
            then = self.shortened(expr.then, both(guard, expr.condition))
            otherwise = self.shortened(expr.otherwise, both(guard, opposite(expr.condition)))
            return Select(expr.condition, then, otherwise, expr.dtype)
        inner = tuple(self.shortened(child, guard) for child in children(expr))
        if isinstance(expr, Call):
            inner = tuple(self._stored(each, guard) for each in inner)
        return rebuild(expr, inner) if inner else expr

    def _stored(self, expr: Expr, guard: Expr) -> Expr:
        if _count(expr) < PART or not expr.dtype.is_float:
            return expr
        key = (expr, guard)
        if key not in self.known:
            cell = tuple(Index(r.index) for r in self.own)
            name = self.building.make("part", expr.dtype, intervals(self.own))
            value = if_then_else(guard, expr, ZERO)
            ranges = (*self.axes, *self.own)
            self.statements.append(Statement(name, (Target(name, cell),), None, False, (value,), ranges))
            self.known[key] = self.building.read(name, cell)
        return self.known[key]
