"""`skew`, `shift`, `reverse`: the iterations of a loop get other dates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from workbench.errors import OperatorError, ScheduleError, shown
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr
from workbench.lang.printing.index_text import number
from workbench.lang.printing.printer import show
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.tree import Band, Loop
from workbench.records import record
from workbench.schedules.arguments import moderate, whole
from workbench.schedules.edit import Site, find_loop, find_loops, neighbours, put, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.sketches.open_steps import takes_choices
from workbench.schedules.transform import Transform

LARGEST = 1 << 20


@record
class Skew(Transform):
    """Add a multiple of one loop to another loop of its band.

    before → after:  for t: for i: S(t, i)   →   for t: for i' = i + factor · t: S(t, i' - factor · t)

    Dependences that went back along `i` go forward after a large enough factor; then the band may be tiled and
    interchanged (wavefronts: Lamport 1974, Wolfe 1986).  With a qualified name, `"A/i"`, only that statement is skewed.
    """

    name: ClassVar[str] = "skew"
    loop: str
    by: str
    factor: int = 1

    def apply(self, schedule: Schedule) -> Schedule:
        factor = multiple(self, self.factor)
        site, other = find_loops(schedule.program, schedule.tree, (self.loop, self.by))
        if site.path != other.path:
            raise ScheduleError(f"{self}: {site.loop.name} and {other.loop.name} are not directly inside one another")
        if site.position == other.position:
            raise ScheduleError(f"{self}: a loop cannot be skewed by itself")
        added = dict(other.loop.rows)

        def moved(statement: str, row: Expr) -> Expr:
            return Binary("+", row, Binary("*", Const(factor, INT64), added[statement], INT64), INT64)

        return with_rows(schedule, site, self.loop, moved, self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Skew]:
        for outer, inner in neighbours(schedule.program, schedule.tree):
            for factor in (1, 2, -1):
                yield cls(inner, outer, factor)

    def __str__(self) -> str:
        factor = f", factor={self.factor}" if self.factor != 1 else ""
        return f"skew({self.loop!r}, by={self.by!r}{factor})"


@record
class Shift(Transform):
    """Delay a statement (or all statements) of a loop by some iterations.

    before → after:  for i: { A(i); B(i) }   →   for i: { A(i); B(i - by) }      shift("B/i", by)

    A consumer that is shifted far enough may share its producer's loop: `shift`, then `merge`.  `by` is a number, or
    an expression over the sizes, such as "N - 1".
    """

    name: ClassVar[str] = "shift"
    loop: str
    by: int | str

    def apply(self, schedule: Schedule) -> Schedule:
        delay = distance(self, schedule, self.by)
        site = find_loop(schedule.program, schedule.tree, self.loop)
        return with_rows(schedule, site, self.loop, lambda _, row: Binary("+", row, delay, INT64), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Shift]:
        for site in sites(schedule.tree):
            if len(site.loop.rows) > 1:
                for identifier, _ in site.loop.rows:
                    for by in (1, -1):
                        yield cls(f"{schedule.program.statement(identifier).name}/{site.loop.name}", by)

    def __str__(self) -> str:
        return f"shift({self.loop!r}, {self.by!r})"


@record
class Reverse(Transform):
    """Execute the iterations of a loop in the opposite order.

    before → after:  for i < N: S(i)   →   for i' = -i: S(-i')

    Legal when the loop carries no dependence but those of reductions.
    """

    name: ClassVar[str] = "reverse"
    loop: str

    def apply(self, schedule: Schedule) -> Schedule:
        site = find_loop(schedule.program, schedule.tree, self.loop)
        return with_rows(schedule, site, self.loop, lambda _, row: Binary("-", Const(0, INT64), row, INT64), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Reverse]:
        for site in sites(schedule.tree):
            yield cls(spelt(schedule.program, schedule.tree, site))

    def __str__(self) -> str:
        return f"reverse({self.loop!r})"


def with_rows(
    schedule: Schedule, site: Site, name: str, change: Callable[[str, Expr], Expr], step: Transform
) -> Schedule:
    """The schedule with other rows for a loop: those of one statement if the name says so, else all."""
    statement = name.rpartition("/")[0]
    only = statement_id(schedule.program, statement) if statement else None
    rows = tuple(
        (s, moderate(step, site.loop.name, simplify(change(s, row), INT64)) if only in (None, s) else row)
        for s, row in site.loop.rows
    )
    own: list[Loop] = list(site.band.loops)
    own[site.position] = replace(site.loop, rows=rows)
    return schedule.with_tree(put(schedule.tree, site.path, Band(tuple(own), site.band.child)), step)


def multiple(step: Transform, value: Any) -> int:
    """A factor; ScheduleError unless it is a whole number of moderate size, not 0."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < abs(value) <= LARGEST:
        expected = f"a whole number, not 0, up to {LARGEST}"
        raise ScheduleError(f"{step}: factor={shown(value)} does not fit; expected {expected}")
    return value


def distance(step: Transform, schedule: Schedule, by: Any) -> Expr:
    """How far a shift goes: a number, or an expression over the sizes that are symbolic here."""
    if isinstance(by, int) and not isinstance(by, bool):
        if abs(by) > 1 << 31:
            raise ScheduleError(f"{step}: the distance {shown(by)} does not fit; expected at most {1 << 31}")
        return Const(by, INT64)
    if not isinstance(by, str):
        expected = "a number, or a text such as 'N - 1'"
        raise ScheduleError(f"{step}: the distance {shown(by)} does not fit; expected {expected}")
    try:
        return number(by, (*schedule.program.symbols, *schedule.program.sizes))
    except OperatorError as error:
        raise ScheduleError(f"{step}: {error}") from error


@takes_choices
def skew(loop: str, /, by: str, factor: int = 1) -> Skew:
    """Add `factor` times the loop `by` to `loop`; both stand directly inside one another."""
    return Skew(loop, by, whole(factor))


@takes_choices
def shift(loop: str, by: int | str | Expr, /) -> Shift:
    """Delay the iterations of `loop` (of one statement: `"B/i"`) by `by`, a number or an expression over the sizes."""
    return Shift(loop, show(by) if isinstance(by, Expr) else whole(by))


@takes_choices
def reverse(loop: str, /) -> Reverse:
    """Execute the iterations of `loop` in the opposite order."""
    return Reverse(loop)


