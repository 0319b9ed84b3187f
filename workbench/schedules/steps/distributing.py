"""`distribute`: one nest becomes two (fission)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.questions import statement_id
from workbench.poly.tree import Band, Sequence, statements
from workbench.schedules.edit import at, children, leaf_path
from workbench.schedules.edit import distribute as split_sequence
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@dataclass(frozen=True)
class Distribute(Transform):
    """Cut the innermost common nest before a statement.

    before → after:  for i: { A; B }   →   for i: A;  for i: B      distribute("B")
    """

    name: ClassVar[str] = "distribute"
    before: str

    def apply(self, schedule: Schedule) -> Schedule:
        identifier = statement_id(schedule.program, self.before)
        path = leaf_path(schedule.tree, identifier)
        for depth in range(len(path) - 1, 0, -1):
            inside = isinstance(at(schedule.tree, path[: depth - 1]), Band)
            if inside and isinstance(at(schedule.tree, path[:depth]), Sequence) and path[depth] > 0:
                return schedule.with_tree(split_sequence(schedule.tree, path[:depth], path[depth]), self)
        raise ScheduleError(f"{self}: no loop holds another statement before {self.before!r}")

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Distribute]:
        stack = [(schedule.tree, False)]
        while stack:
            tree, inside = stack.pop()
            if isinstance(tree, Sequence) and inside:
                for child in tree.children[1:]:
                    yield cls(schedule.program.statement(statements(child)[0]).name)
            stack += [(child, isinstance(tree, Band)) for child in children(tree)]

    def __str__(self) -> str:
        return f"distribute({self.before!r})"


def distribute(before: str, /) -> Distribute:
    """Cut the innermost nest around `before` and an earlier statement, just before it."""
    return Distribute(before)
