"""One statement's nest: the named steps from its own dims to the rows an optimiser gave it."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index, index_names
from workbench.lang.normal_form import constant, growth, simplify
from workbench.poly.program import ProgramStatement
from workbench.schedules.steps import add_unit_loop, interchange, reverse, shift, skew
from workbench.schedules.transform import Transform


@dataclass(frozen=True)
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


def row_of(expr: Expr, dims: tuple[str, ...]) -> Row | None:
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
    found = [row_of(r, s.dims) for r in rows]
    wanted = [(i, r) for i, r in enumerate(found) if r is not None]
    if len(wanted) < len(rows):
        return None
    shape = _Shape(s)
    while len(shape.assigned) < len(s.dims):
        if not any(shape.take(i, r) for i, r in wanted if i not in shape.assigned):
            return None
    order = [shape.assigned[i] for i, _ in wanted if i in shape.assigned]
    if order != list(s.dims):
        shape.steps.append(interchange(*(f"{s.name}/{d}" for d in order)))
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

    def take(self, position: int, row: Row) -> bool:
        """Turn a loop not used yet into the row, by adding multiples of loops that are rows already."""
        free = [d for d, _ in row.factors if d not in self.assigned.values()]
        if len(free) != 1 or row.factor(free[0]) not in (1, -1):
            return False
        dim, sign = free[0], row.factor(free[0])
        used, left = self._reduced(row.minus(sign, self.own[dim]))
        if left.factors:
            return False
        loop = f"{self.statement.name}/{dim}"
        self.steps += [reverse(loop)] if sign < 0 else []
        self._moved(loop, used, left.rest)
        self.assigned[position], self.own[dim] = dim, row
        return True

    def unit(self, position: int, row: Row) -> bool:
        """A loop of one iteration for a row that depends on the other loops only."""
        used, left = self._reduced(row)
        if left.factors:
            return False
        name = f"{self.statement.name.replace('.', '_')}_{position}"
        value = constant(left.rest)
        self.steps.append(add_unit_loop(self.statement.name, position, value=value or 0, name=name))
        rest = left.rest if value is None else Const(0, INT64)
        self._moved(f"{self.statement.name}/{name}", used, rest)
        return True

    def _moved(self, loop: str, used: list[tuple[str, int]], rest: Expr) -> None:
        self.steps += [skew(loop, by=f"{self.statement.name}/{known}", factor=factor) for known, factor in used]
        if constant(rest) != 0:
            number = constant(rest)
            self.steps.append(shift(loop, rest if number is None else number))

    def _reduced(self, row: Row) -> tuple[list[tuple[str, int]], Row]:
        """Which multiples of the rows so far are in a row, and what is left of it.

        Each row brought in one dim of its own: that dim tells how often the row is contained.
        """
        used = []
        for known in reversed(self.assigned.values()):
            factor = row.factor(known) * self.own[known].factor(known)
            if factor:
                used.append((known, factor))
                row = row.minus(factor, self.own[known])
        return used, row
