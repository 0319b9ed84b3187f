"""`skew`: a multiple of one loop is added to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from workbench.errors import ScheduleError, shown
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr
from workbench.records import record
from workbench.schedules.arguments import whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loops, neighbours
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.rows import with_rows
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
        factor = _multiple(self, self.factor)
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


def _multiple(step: Transform, value: Any) -> int:
    """A factor; ScheduleError unless it is a whole number of moderate size, not 0."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < abs(value) <= LARGEST:
        expected = f"a whole number, not 0, up to {LARGEST}"
        raise ScheduleError(f"{step}: factor={shown(value)} does not fit; expected {expected}")
    return value


@takes_choices
def skew(loop: str, /, by: str, factor: int = 1) -> Skew:
    """Add `factor` times the loop `by` to `loop`; both stand directly inside one another."""
    return Skew(loop, by, whole(factor))
