"""`add_unit_loop`: a loop of one iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError, shown
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Const
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.tree import Band, Leaf, Loop, loops, path
from workbench.records import record
from workbench.schedules.arguments import new_name, whole
from workbench.schedules.edit import at, leaf_path, put
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.sketches.open_steps import takes_choices
from workbench.schedules.transform import Transform


@record
class AddUnitLoop(Transform):
    """Put a loop of one iteration around a statement, `inside` as many of its own loops.

    before → after:  for m: S   →   for m: for u = value: S

    Always legal.  Afterwards the nest is as deep as another, and the two can be merged: a statement with fewer dims is
    then executed at one iteration of the other's loop (`value`, which `shift` can move).  TVM's add_unit_loop.
    """

    name: ClassVar[str] = "add_unit_loop"
    statement: str
    inside: int
    value: int = 0
    loop: str = "u"

    def apply(self, schedule: Schedule) -> Schedule:
        identifier = statement_id(schedule.program, self.statement)
        around = path(schedule.tree, identifier)
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise ScheduleError(f"add_unit_loop: value={shown(self.value)} does not fit; expected a whole number")
        if not isinstance(self.inside, int) or not 0 <= self.inside <= len(around):
            stands = f"{self.statement} stands in {len(around)} loops"
            raise ScheduleError(f"add_unit_loop: inside={shown(self.inside)} does not fit; {stands}")
        name = new_name(self.loop)
        if name in {x.name for x in around}:
            raise ScheduleError(f"{self}: {self.statement} stands in a loop {name} already; give another with name=")
        return schedule.with_tree(self._placed(schedule, identifier, len(around) - self.inside), self)

    def _placed(self, schedule: Schedule, identifier: str, below: int) -> Leaf | Band:
        """The tree with the loop; `below` loops stay inside it."""
        tree, place = schedule.tree, leaf_path(schedule.tree, identifier)
        unit = Loop(self.loop, ((identifier, Const(self.value, INT32)),))
        parent = at(tree, place[:-1]) if place else None
        if below == 0 or not isinstance(parent, Band):
            if below:
                raise ScheduleError(f"{self}: other statements stand in the loops inside; distribute them first")
            return put(tree, place, Band((unit,), at(tree, place)))  # type: ignore[return-value]
        if below > len(parent.loops):
            raise ScheduleError(f"{self}: other statements stand in the loops inside; distribute them first")
        cut = len(parent.loops) - below
        own = (*parent.loops[:cut], unit, *parent.loops[cut:])
        return put(tree, place[:-1], Band(own, parent.child))  # type: ignore[return-value]

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[AddUnitLoop]:
        taken = {x.name for x in loops(schedule.tree)}
        for s in schedule.program.statements:
            if "u" not in taken:
                yield cls(s.name, len(path(schedule.tree, s.id)))

    def __str__(self) -> str:
        name = f", name={self.loop!r}" if self.loop != "u" else ""
        value = f", value={self.value}" if self.value else ""
        return f"add_unit_loop({self.statement!r}, {self.inside}{value}{name})"


@takes_choices
def add_unit_loop(statement: str, inside: int, /, value: int = 0, name: str = "u") -> AddUnitLoop:
    """Put a loop of one iteration (`value`) around `statement`, inside as many of its loops."""
    return AddUnitLoop(statement, whole(inside), whole(value), name)
