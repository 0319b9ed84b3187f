"""`inline`: an array vanishes, its value is written where it was read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.derive.inlining import inlined, require_substitutable
from workbench.poly.derive.recomputation import Group, readers, writers
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import normal
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.producers import defined_array
from workbench.schedules.transform import Transform


@record
class Inline(Transform):
    """Write the value of an array where it is read, and compute the array no more.

    before → after:  for i: T(i) = f(i);  for o: C(o) = g(T(o))   →   for o: C(o) = g(f(o))

    For arrays that one plain assignment defines.  The value is rounded to the array's type as before.  Legal when what
    the value reads has not been overwritten when its readers come, and they read no cell that was never written.
    """

    name: ClassVar[str] = "inline"
    producer: str

    def apply(self, schedule: Schedule) -> Schedule:
        program = schedule.program
        array = defined_array(program, self.producer)
        if array in program.outputs:
            raise ScheduleError(
                f"{self}: {array} is an output and must be stored; compute_at(..., keep=True) computes it again"
            )
        if not readers(program, array):
            raise ScheduleError(f"{self}: nothing reads {array}")
        try:
            own = require_substitutable(program, array, whole(program, array))
            derived, tree, found = inlined(program, schedule.tree, array, own)
        except ScheduleError as error:
            raise ScheduleError(f"{self}: {error}") from None
        return replace(
            schedule,
            program=derived,
            tree=normal(tree),
            trace=(*schedule.trace, self),
            differences=(*schedule.differences, *found),
        )

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Inline]:
        program = schedule.program
        for name, array in program.arrays.items():
            if array.role == "temporary" and readers(program, name):
                try:
                    require_substitutable(program, name, whole(program, name))
                except ScheduleError:
                    continue
                yield cls(name)

    def __str__(self) -> str:
        return f"inline({self.producer!r})"


def whole(program: Program, array: str) -> Group:
    """An array with every statement that writes it."""
    return Group((array,), tuple(writers(program, array)))


@takes_choices
def inline(producer: str, /) -> Inline:
    """Write the value of the array `producer` where it is read."""
    return Inline(producer)
