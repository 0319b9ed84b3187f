"""One statement's nest: the named steps from its own dims to the rows an optimiser gave it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from workbench.lang.algebra.normal_form import constant, growth, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index, index_names
from workbench.poly.programs.loop_names import LoopName, loop_of, loops_of
from workbench.poly.programs.program import ProgramStatement
from workbench.records import record
from workbench.schedules.steps import add_unit_loop, reorder, reverse, shift, skew
from workbench.schedules.transform import Transform


@record
class Row:
    """A row: integer factors of the statement's dims, and the rest (sizes and a constant)."""

    factors: tuple[tuple[str, int], ...]
    rest: Expr

    def factor(self, dim: str) -> int:
        return dict(self.factors).get(dim, 0)

    def minus(self, times: int, other: Row) -> Row:
        """This row without so many times another."""
        dims = dict.fromkeys(d for d, _ in (*self.factors, *other.factors))
        factors = {d: self.factor(d) - times * other.factor(d) for d in dims}
        rest = Binary("-", self.rest, Binary("*", Const(times, INT64), other.rest, INT64), INT64)
        return Row(tuple((d, f) for d, f in factors.items() if f), simplify(rest))


def _row_of(expr: Expr, dims: tuple[str, ...]) -> Row | None:
    """The row of an expression; None if it is not linear in the dims."""
    factors, rest = [], expr
    for dim in dims:
        factor = growth(expr, dim)
        if factor is None:
            return None
        if factor:
            factors.append((dim, factor))
            term = Binary("*", Const(factor, INT64), Index(dim, INT64), INT64)
            rest = Binary("-", rest, term, INT64)
    rest = simplify(rest)
    return None if index_names(rest) else Row(tuple(factors), rest)


def single_steps(s: ProgramStatement, rows: list[Expr]) -> list[Transform] | None:
    """Steps that give the nest of `s`, alone over its own dims, these rows; None if no named ones do."""
    found = [_row_of(r, s.dims) for r in rows]
    wanted = [(i, r) for i, r in enumerate(found) if r is not None]
    if len(wanted) < len(rows):
        return None
    shape = _Shape(s)
    while len(shape.assigned) < len(s.dims):
        left = [(i, r) for i, r in wanted if i not in shape.assigned]
        if not any(shape.take(i, r) for i, r in left) and not any(shape.take(i, r, several=True) for i, r in left):
            return None
    order = [shape.assigned[i] for i, _ in wanted if i in shape.assigned]
    if order != list(s.dims):
        shape.steps.append(reorder(*loops_of(s.name, order)))
    for i, r in wanted:
        if i not in shape.assigned and not shape.unit(i, r):
            return None
    return shape.steps


@dataclass
class _Shape:
    """A nest on its way: what row each loop has by now, which loop is to stand at which position, the steps so far."""

    statement: ProgramStatement
    assigned: dict[int, str] = field(default_factory=dict)
    steps: list[Transform] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.own = {d: Row(((d, 1),), Const(0, INT64)) for d in self.statement.dims}

    def take(self, position: int, row: Row, *, several: bool = False) -> bool:
        """Turn a loop not used yet into the row, by adding multiples of loops that are rows already.

        `several`: or of loops that have not been used either.
        """
        free = [d for d in self.statement.dims if row.factor(d) and d not in self.assigned.values()]
        if len(free) > 1 and not several:
            return False
        for dim in free:
            used, rest = self._reduced(row, [*self.assigned.values(), *(d for d in free if d != dim), dim])
            if used and used[0][0] == dim and used[0][1] in (1, -1):
                loop = loop_of(self.statement.name, dim)
                self.steps += [reverse(loop)] if used[0][1] < 0 else []
                self._moved(loop, used[1:], rest)
                self.assigned[position], self.own[dim] = dim, row
                return True
        return False

    def unit(self, position: int, row: Row) -> bool:
        """A loop of one iteration for a row that depends on the other loops only."""
        used, rest = self._reduced(row, [*self.assigned.values()])
        if index_names(rest):
            return False
        name = f"{self.statement.name.replace('.', '_')}_{position}"
        value = constant(rest)
        self.steps.append(add_unit_loop(self.statement.name, position, value=value or 0, name=name))
        left = rest if value is None else Const(0, INT64)
        self._moved(loop_of(self.statement.name, name), used, left)
        return True

    def _moved(self, loop: LoopName, used: list[tuple[str, int]], rest: Expr) -> None:
        self.steps += [skew(loop, by=loop.beside(known), factor=factor) for known, factor in used]
        if constant(rest) != 0:
            number = constant(rest)
            self.steps.append(shift(loop, rest if number is None else number))

    def _reduced(self, row: Row, dims: list[str]) -> tuple[list[tuple[str, int]], Expr]:
        """Which multiples of the rows of these loops, last one first, make up a row, and what remains.

        Nothing and the row's own indices, if they do not.
        """
        factors = _solved([self.own[d] for d in dims], row, self.statement.dims)
        if factors is None:
            return [], Index(dims[-1] if dims else "")
        used = [(d, f) for d, f in zip(dims, factors, strict=True) if f][::-1]
        for known, factor in used:
            row = row.minus(factor, self.own[known])
        return used, row.rest


def _solved(rows: list[Row], wanted: Row, dims: tuple[str, ...]) -> list[int] | None:
    """Whole factors with which independent rows add up to the wanted one in these dims, by elimination."""
    table = [[*(Fraction(r.factor(d)) for r in rows), Fraction(wanted.factor(d))] for d in dims]
    for column in range(len(rows)):
        pivot = next((line for line in range(column, len(table)) if table[line][column]), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        table[column] = [x / table[column][column] for x in table[column]]
        for line, own in enumerate(table):
            if line != column and own[column]:
                table[line] = [x - own[column] * y for x, y in zip(own, table[column], strict=True)]
    values = [line[-1] for line in table]
    if any(values[len(rows) :]) or any(v.denominator != 1 for v in values):
        return None
    return [int(v) for v in values[: len(rows)]]
