"""`arrange`: nests that stand one after another change places."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar

from workbench.errors import ScheduleError
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.tree import Sequence, Tree, statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Path, at, children, leaf_path, put
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@record
class Arrange(Transform):
    """Order the parts of a sequence that hold these statements as they are named; the others keep their places.

    before → after:  A; B; C   →   B; A; C      arrange("B", "A")

    Legal when the parts that change places do not depend on one another.
    """

    name: ClassVar[str] = "arrange"
    unchanged: ClassVar[str] = "the statements stand in this order already"
    order: tuple[str, ...]

    def apply(self, schedule: Schedule) -> Schedule:
        ids = [statement_id(schedule.program, s) for s in self.order]
        if len(set(ids)) < len(ids) or len(ids) < 2:
            raise ScheduleError(f"{self}: name two or more different statements")
        place = _common(schedule.tree, ids)
        sequence = at(schedule.tree, place)
        if not isinstance(sequence, Sequence):
            raise ScheduleError(f"{self}: these statements stand in no common sequence")
        found = [next(i for i, c in enumerate(sequence.children) if s in statements(c)) for s in ids]
        if len(set(found)) < len(found):
            raise ScheduleError(f"{self}: two of these statements stand in one nest; distribute it first")
        parts = list(sequence.children)
        for slot, source in zip(sorted(found), found, strict=True):
            parts[slot] = sequence.children[source]
        return schedule.with_tree(put(schedule.tree, place, Sequence(tuple(parts))), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Arrange]:
        stack = [schedule.tree]
        while stack:
            tree = stack.pop()
            if isinstance(tree, Sequence):
                for a, b in pairwise(tree.children):
                    first, second = (schedule.program.statement(statements(t)[0]).name for t in (a, b))
                    yield cls((second, first))
            stack += children(tree)

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> Arrange:
        return arrange(*arguments["order"])

    def __str__(self) -> str:
        return f"arrange({', '.join(map(repr, self.order))})"


def _common(tree: Tree, ids: list[str]) -> Path:
    """The path of the innermost node above all these statements."""
    paths = [leaf_path(tree, s) for s in ids]
    depth = 0
    while all(len(p) > depth for p in paths) and len({p[depth] for p in paths}) == 1:
        depth += 1
    return paths[0][:depth]


@takes_choices
def arrange(*statements: str) -> Arrange:
    """Order the parts of a sequence that hold these statements as they are named here."""
    return Arrange(statements)
