"""`double_buffer`: a buffer for two iterations at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.derive.deriving import derive
from workbench.poly.derive.layouts import own_array
from workbench.poly.derive.multi_buffering import multi_buffered
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.judged_against_now import with_program
from workbench.schedules.transform import Transform


@record
class DoubleBuffer(Transform):
    """Give a buffer two places, used in turn by the iterations of the loop it belongs to.

    before → after:  for k_o: { A_local(…) = …; … A_local(…) }   →   for k_o: { A_local(k_o % 2, …) = …; … }

    Then the next iteration's values may be loaded while this one's are in use (`shift` of the load, or `pipeline`,
    which does both).  Legal unless iterations of that loop run at once: they would meet in the two places.  TVM's
    double_buffer.
    """

    name: ClassVar[str] = "double_buffer"
    buffer: str

    def apply(self, schedule: Schedule) -> Schedule:
        return in_turn(schedule, self, self.buffer, 2)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[DoubleBuffer]:
        for array in schedule.program.arrays.values():
            if array.scope == "local" and array.times:
                yield cls(array.name)

    def __str__(self) -> str:
        return f"double_buffer({self.buffer!r})"


def in_turn(schedule: Schedule, step: Transform, buffer: str, count: int) -> Schedule:
    """The schedule with a buffer for several iterations."""
    made = slotted(schedule.program, schedule.tree, step, buffer, count)
    derived = derive(schedule.program, made.statements, made.arrays, schedule.tree)
    return with_program(schedule, derived, schedule.tree, step)


def slotted(program: Program, tree: Tree, step: Transform, buffer: str, count: int) -> Program:
    """The program, not derived from the one it came from yet, with a buffer for several iterations."""
    array = own_array(program, step.name, buffer)
    if array.scope != "local":
        raise ScheduleError(f"{step}: {buffer} is not a buffer; stage makes one")
    try:
        made, changed = multi_buffered(program, tree, buffer, count)
    except ScheduleError as error:
        raise ScheduleError(f"{step}: {error}") from None
    return replace(program, statements=changed, arrays={**program.arrays, buffer: made})


@takes_choices
def double_buffer(buffer: str, /) -> DoubleBuffer:
    """Give `buffer` two places, used in turn by the iterations of its loop."""
    return DoubleBuffer(buffer)
