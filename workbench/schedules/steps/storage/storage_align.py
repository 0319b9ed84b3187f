"""`storage_align`: room between the rows of an array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError, shown
from workbench.poly.derive.deriving import derive
from workbench.poly.derive.layouts import own_array
from workbench.poly.programs.program import Padding
from workbench.poly.regions.storage import padded_strides
from workbench.records import record
from workbench.schedules.arguments import block_size, whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.judged_against_now import with_program
from workbench.schedules.transform import Transform


@record
class StorageAlign(Transform):
    """Make the stride of a dimension leave the remainder `offset` when it is divided by `factor` (in elements).

    before → after:  float A[64][60]   →   float A[64][60 + 4]      storage_align("A", 0, 16): rows begin on cache lines

    Always legal.  An offset of one keeps rows out of one another's banks and cache sets.  The storage must be the
    schedule's: a buffer or a temporary.  TVM's storage_align.
    """

    name: ClassVar[str] = "storage_align"
    array: str
    dimension: int
    factor: int
    offset: int = 0

    def apply(self, schedule: Schedule) -> Schedule:
        program = schedule.program
        array = own_array(program, "storage_align", self.array)
        rank = array.rank - array.times
        if not isinstance(self.dimension, int) or not 0 <= self.dimension < rank:
            raise ScheduleError(f"{self}: {array.name} has the dimensions 0 to {rank - 1}")
        block_size(f"{array.name}, its stride's factor", self.factor)
        if not isinstance(self.offset, int) or not 0 <= self.offset < self.factor:
            raise ScheduleError(f"{self}: offset={shown(self.offset)} must be from 0 to {self.factor - 1}")
        wanted = Padding(self.dimension + array.times, self.factor, self.offset)
        padding = (*(p for p in array.padding if p.dimension != wanted.dimension), wanted)
        made = replace(array, padding=padding)
        if array.scope == "global":
            made = replace(made, strides=padded_strides(made.extent, padding))
        arrays = {**program.arrays, array.name: made}
        derived = derive(program, program.statements, arrays, schedule.tree)
        return with_program(schedule, derived, schedule.tree, self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[StorageAlign]:
        for array in schedule.program.arrays.values():
            if array.role == "temporary":
                for dimension in range(array.rank - array.times - 1):
                    yield cls(array.name, dimension, 64 // array.dtype.bytes)

    def __str__(self) -> str:
        offset = f", {self.offset}" if self.offset else ""
        return f"storage_align({self.array!r}, {self.dimension}, {self.factor}{offset})"


@takes_choices
def storage_align(array: str, dimension: int, factor: int, offset: int = 0, /) -> StorageAlign:
    """Make the stride of a dimension of a buffer or temporary leave `offset` when divided by `factor`, in elements."""
    return StorageAlign(array, whole(dimension), whole(factor), whole(offset))
