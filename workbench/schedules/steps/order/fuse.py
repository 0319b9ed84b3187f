"""`fuse`: neighbouring loops of a band become one loop over the product of their iterations, which is loop collapse.

Loop fusion, the loops of two nests as one, is `merge`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from workbench import poly
from workbench.errors import ScheduleError
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr
from workbench.poly.programs.loop_names import LoopName, fused_name
from workbench.poly.programs.tree import Band, Loop
from workbench.records import record
from workbench.schedules.arguments import moderate, new_name
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loops, neighbours, put, require_new
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.bands import one_band
from workbench.schedules.transform import Transform

MOST_ITERATIONS = 1 << 40


@record
class Fuse(Transform):
    """One loop over all iterations of several neighbouring loops, in the same order.

    before → after:  for i: for j < J: S(i, j)   →   for i_j: S(i_j / J, i_j % J)

    Always legal: the order of instances does not change.  The inner loops need constant bounds.  Loops that walk
    through memory together (h and w of an image) are long enough for lanes and threads once they are one.
    """

    name: ClassVar[str] = "fuse"
    loops: tuple[str, ...]
    result: str = ""

    @property
    def fused(self) -> LoopName:
        """The loop that it makes."""
        return LoopName(self.loops[0]).beside(self.result) if self.result else fused_name(*self.loops)

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        found = find_loops(program, tree, self.loops)
        band = one_band(self, found)
        places = [site.position for site in found]
        if places != list(range(places[0], places[0] + len(places))):
            raise ScheduleError(f"{self}: these loops do not follow one another from the outside in; reorder first")
        if any(site.loop.kind != "serial" for site in found):
            raise ScheduleError(f"{self}: a loop that is parallel, vector or unrolled already cannot be fused")
        name = new_name(self.fused.loop)
        require_new(tree, found[0], [name], [site.loop.name for site in found])
        fused = found[0].loop
        for site in found[1:]:
            fused = self._product(schedule, fused, site.loop)
        own = (*band.loops[: places[0]], replace(fused, name=name), *band.loops[places[-1] + 1 :])
        return schedule.with_tree(put(tree, found[0].path, Band(own, band.child)), self)

    def _product(self, schedule: Schedule, outer: Loop, inner: Loop) -> Loop:
        limits = poly.row_range(schedule.program, inner)
        if limits is None:
            names = ", ".join(schedule.program.symbols) or "the data"
            advice = "give the sizes, or split the loop first"
            raise ScheduleError(f"{self}: the bounds of {inner.name} depend on {names}; {advice}")
        low, count = limits[0], limits[1] - limits[0] + 1
        if count > MOST_ITERATIONS:
            raise ScheduleError(f"{self}: {inner.name} has {count} iterations, too many to count through in one loop")
        rows = dict(inner.rows)
        products = ((s, moderate(self, outer.name, _row(row, rows[s], low, count))) for s, row in outer.rows)
        return replace(outer, rows=tuple(products))

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Fuse]:
        for outer, inner in neighbours(schedule.program, schedule.tree):
            yield cls((outer, inner))

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Fuse:
        return fuse(*arguments["loops"], name=arguments.get("result", ""))

    def __str__(self) -> str:
        name = f", name={self.result!r}" if self.result else ""
        return f"fuse({', '.join(map(repr, self.loops))}{name})"


def _row(outer: Expr, inner: Expr, low: int, count: int) -> Expr:
    step = Binary("-", inner, Const(low, INT64), INT64)
    return simplify(Binary("+", Binary("*", outer, Const(count, INT64), INT64), step, INT64), INT64)


@takes_choices
def fuse(*loops: str, name: str = "") -> Fuse:
    """Make one loop of neighbouring ones, named from the outside in: `fuse("h", "w")` gives `h_w` (or `name`)."""
    if len(loops) < 2:
        raise ScheduleError('fuse needs at least two loops: fuse("h", "w")')
    return Fuse(loops, name)
