"""`add_unit_loop`: a loop of one iteration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError, shown
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Const
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.loop_names import LoopName, loop_of
from workbench.poly.programs.tree import Band, Loop, Mark, Sequence, Tree, loops, normal, path, statements
from workbench.records import record
from workbench.schedules.arguments import new_name, whole
from workbench.schedules.choices import takes_choices
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform
from workbench.wording import number_of


@record
class AddUnitLoop(Transform):
    """Put a loop of one iteration around a statement, `inside` as many of its own loops.

    before → after:  for m: S   →   for m: for u = value: S

    Always legal.  Other statements that stand in the loops inside are in the loop, too.  Afterwards the nest is as deep
    as another, and the two can be merged: a statement with fewer dims is then executed at one iteration of the other's
    loop (`value`, which `shift` can move).  TVM's add_unit_loop.
    """

    name: ClassVar[str] = "add_unit_loop"
    statement: str
    inside: int
    value: int = 0
    loop: str = "u"

    @property
    def made(self) -> LoopName:
        """The loop that it makes."""
        return loop_of(self.statement, self.loop)

    def apply(self, schedule: Schedule) -> Schedule:
        identifier = statement_id(schedule.program, self.statement)
        around = path(schedule.tree, identifier)
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise ScheduleError(f"add_unit_loop: value={shown(self.value)} does not fit; expected a whole number")
        if not isinstance(self.inside, int) or not 0 <= self.inside <= len(around):
            stands = f"{self.statement} stands in {number_of(len(around), 'loop')}"
            raise ScheduleError(f"add_unit_loop: inside={shown(self.inside)} does not fit; {stands}")
        name = new_name(self.loop)
        tree = _around(schedule.tree, identifier, self)
        if any(x.name == name for x in around) or _is_twice(tree, name):
            raise ScheduleError(f"{self}: {self.statement} stands in a loop {name} already; give another with name=")
        return schedule.with_tree(normal(tree), self)

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


def _around(tree: Tree, identifier: str, step: AddUnitLoop, passed: int = 0) -> Tree:
    """The tree with the loop around what of it stands inside so many loops and holds the statement."""
    match tree:
        case Sequence(children):
            return Sequence(tuple(
                _around(x, identifier, step, passed) if identifier in statements(x) else x for x in children
            ))  # fmt: skip
        case Mark(_, child) if passed < step.inside:
            return replace(tree, child=_around(child, identifier, step, passed))
        case Band(own, child) if passed + len(own) <= step.inside and own:
            return Band(own, _around(child, identifier, step, passed + len(own)))
        case Band(own, child):
            cut = step.inside - passed
            return Band((*own[:cut], _unit(tree, step), *own[cut:]), child)
    return Band((_unit(tree, step),), tree)


def _unit(tree: Tree, step: AddUnitLoop) -> Loop:
    return Loop(step.loop, tuple((s, Const(step.value, INT32)) for s in statements(tree)))


def _is_twice(tree: Tree, name: str) -> bool:
    """Whether a loop of that name stands in another."""
    match tree:
        case Sequence(children):
            return any(_is_twice(x, name) for x in children)
        case Mark(_, child):
            return _is_twice(child, name)
        case Band(own, child):
            here = [x.name for x in own].count(name)
            return here > 1 or (here == 1 and name in {x.name for x in loops(child)}) or _is_twice(child, name)
    return False
