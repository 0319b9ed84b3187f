"""`fold_storage`: a dimension of an array modulo a size (rolling buffer)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import BudgetExceeded, ScheduleError
from workbench.poly.dependence.lifetimes import smallest_fold
from workbench.poly.derive.layouts import own_array, with_folded_storage
from workbench.records import record
from workbench.schedules.arguments import block_size, whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.storage.transform_layout import with_layout
from workbench.schedules.steps.support.judged_against_now import with_program
from workbench.schedules.transform import Transform


@record
class FoldStorage(Transform):
    """Keep only `size` values of one dimension of a buffer or temporary: cell x lives at x % size.

    before → after:  h(t, i) = f(h(t - 1, i))   →   h(t % 2, i) = f(h((t - 1) % 2, i))      fold_storage("h", 0, 2)

    Legal when no value is overwritten before its last read.  Two of T states of a recurrence, the rows of a sliding
    window: Halide's fold_storage, TVM's rolling_buffer.
    """

    name: ClassVar[str] = "fold_storage"
    array: str
    dimension: int
    size: int

    def apply(self, schedule: Schedule) -> Schedule:
        array = own_array(schedule.program, "fold_storage", self.array)
        rank = array.rank - array.times
        if not isinstance(self.dimension, int) or not 0 <= self.dimension < rank:
            raise ScheduleError(f"{self}: {array.name} has the dimensions 0 to {rank - 1}")
        block_size(f"{array.name}, dimension {self.dimension}", self.size)
        derived = with_layout(schedule, array, with_folded_storage(array, self.dimension, self.size), schedule.tree)
        return with_program(schedule, derived, schedule.tree, self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[FoldStorage]:
        """The smallest size that keeps every value until its last read, where there is one."""
        for array in schedule.program.arrays.values():
            if array.role == "temporary":
                for dimension in range(array.rank - array.times):
                    try:
                        size = smallest_fold(schedule.program, schedule.tree, array.name, dimension)
                    except BudgetExceeded:
                        continue
                    if size is not None:
                        yield cls(array.name, dimension, size)

    def __str__(self) -> str:
        return f"fold_storage({self.array!r}, {self.dimension}, {self.size})"


@takes_choices
def fold_storage(array: str, dimension: int, size: int, /) -> FoldStorage:
    """Keep `size` values of a dimension of a buffer or temporary: coordinate x stands at `x % size`."""
    return FoldStorage(array, whole(dimension), whole(size))
