"""`transform_layout`: the cells of an array under other coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import OperatorError, ScheduleError, shown
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Const, Expr, substitute
from workbench.lang.printing.index_text import index_map
from workbench.poly.derive.deriving import derive
from workbench.poly.derive.layouts import Layout, cell_names, is_injective, own_array, with_other_layout
from workbench.poly.programs.program import Array, Program
from workbench.poly.programs.tree import Tree
from workbench.poly.time.timemap import naive_tree
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform
from workbench.wording import number_of


@record
class TransformLayout(Transform):
    """Keep the cells of a buffer or temporary in another order, blocked or transposed.

    before → after:  A(m, k)   →   A(m / 6, k, m % 6)      transform_layout("A", "(m, k) -> (m / 6, k, m % 6)")

    The map must give each cell that is used at once a place of its own.  Inputs and outputs are stored as the caller
    says: `stage` them first.  With loops tiled alike, the quotients and remainders are loop variables: these are the
    packed panels of Goto's and BLIS's matrix product.  TVM's transform_layout.
    """

    name: ClassVar[str] = "transform_layout"
    array: str
    map: str

    def apply(self, schedule: Schedule) -> Schedule:
        program = schedule.program
        array = own_array(program, "transform_layout", self.array)
        layout = self._layout(program, array)
        if not is_injective(program, array, layout):
            raise ScheduleError(
                f"{self}: two cells of {array.name} that are used at once would share a place; "
                "fold_storage keeps a dimension modulo a size"
            )
        # Cells have other names, no more: what is right, and whether this order is, stays as it was.
        derived = with_layout(schedule, array, layout, naive_tree(program))
        return replace(schedule, program=derived, trace=(*schedule.trace, self))

    def _layout(self, program: Program, array: Array) -> Layout:
        if not isinstance(self.map, str):
            raise ScheduleError(f"transform_layout: a map is a text such as '(m, k) -> (k, m)', not {shown(self.map)}")
        try:
            names, coordinates = index_map(self.map, (*program.symbols, *program.sizes))
        except OperatorError as error:
            raise ScheduleError(f"transform_layout: {error}") from None
        rank = array.rank - array.times
        if len(names) != rank:
            raise ScheduleError(f"{self}: {array.name} has {number_of(rank, 'dimension')}, the map names {len(names)}")
        sizes: dict[str, Expr] = {name: Const(value, INT32) for name, value in program.sizes.items()}
        return Layout(names, tuple(substitute(e, sizes) for e in coordinates))

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[TransformLayout]:
        """The last two dimensions exchanged; blocks of the last but one innermost."""
        for array in schedule.program.arrays.values():
            names = cell_names(array)
            if array.role == "temporary" and len(names) > 1:
                *outer, row, column = names
                left = f"({', '.join(names)}) -> "
                yield cls(array.name, f"{left}({', '.join((*outer, column, row))})")
                for block in (4, 8, 16):
                    blocked = (*outer, f"{row} / {block}", column, f"{row} % {block}")
                    yield cls(array.name, f"{left}({', '.join(blocked)})")

    def __str__(self) -> str:
        return f"transform_layout({self.array!r}, {self.map!r})"


def with_layout(schedule: Schedule, array: Array, layout: Layout, reference: Tree) -> Program:
    """The program with the cells of one array elsewhere, in the order of `reference`."""
    made, changed = with_other_layout(schedule.program, array, layout)
    arrays = {**schedule.program.arrays, array.name: made}
    return derive(schedule.program, changed, arrays, reference)


@takes_choices
def transform_layout(array: str, map: str, /) -> TransformLayout:
    """Keep the cells of a buffer or temporary `array` under other coordinates: `"(m, k) -> (m / 6, k, m % 6)"`."""
    return TransformLayout(array, map)
