"""`shift`: the iterations of a loop come later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from workbench.errors import OperatorError, ScheduleError, shown
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr
from workbench.lang.printing.index_text import number
from workbench.lang.printing.printer import show
from workbench.poly.programs.loop_names import loop_of
from workbench.records import record
from workbench.schedules.arguments import whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loop, sites
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.rows import with_rows
from workbench.schedules.transform import Transform


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
        delay = _distance(self, schedule, self.by)
        site = find_loop(schedule.program, schedule.tree, self.loop)
        return with_rows(schedule, site, self.loop, lambda _, row: Binary("+", row, delay, INT64), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Shift]:
        for site in sites(schedule.tree):
            if len(site.loop.rows) > 1:
                for identifier, _ in site.loop.rows:
                    for by in (1, -1):
                        yield cls(loop_of(schedule.program.statement(identifier).name, site.loop.name), by)

    def __str__(self) -> str:
        return f"shift({self.loop!r}, {self.by!r})"


def _distance(step: Transform, schedule: Schedule, by: Any) -> Expr:
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
def shift(loop: str, by: int | str | Expr, /) -> Shift:
    """Delay the iterations of `loop` (of one statement: `"B/i"`) by `by`, a number or an expression over the sizes."""
    return Shift(loop, show(by) if isinstance(by, Expr) else whole(by))
