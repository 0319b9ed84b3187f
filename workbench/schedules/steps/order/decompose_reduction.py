"""`decompose_reduction`: the initialisation of a reduction gets loops of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.tree import Sequence, Tree, statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Path, at, find_loops, leaf_path, split_before
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@record
class DecomposeReduction(Transform):
    """Move what stands before a reduction in its nest (its initialisation) into a nest before it.

    before → after:  for m: { C = 0; for k: C += … }   →   for m: C = 0;  for m: for k: C += …
    """

    name: ClassVar[str] = "decompose_reduction"
    statement: str

    def apply(self, schedule: Schedule) -> Schedule:
        identifier = statement_id(schedule.program, self.statement)
        tree = schedule.tree
        before = enclosing_sequence(tree, identifier)
        if before is None:
            raise ScheduleError(f"{self}: nothing stands beside {self.statement!r} in its nest")
        path, position = before
        parts = at(tree, path)
        assert isinstance(parts, Sequence)
        if position + 1 < len(parts.children):
            tree = split_before(tree, path, position + 1)
        if position > 0:
            inner = enclosing_sequence(tree, identifier)
            assert inner is not None
            tree = split_before(tree, *inner)
        return schedule.with_tree(tree, self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[DecomposeReduction]:
        for s in schedule.program.statements:
            if s.kind == "update" and enclosing_sequence(schedule.tree, s.id):
                yield cls(s.name)

    def __str__(self) -> str:
        return f"decompose_reduction({self.statement!r})"


def enclosing_sequence(tree: Tree, statement: str) -> tuple[Path, int] | None:
    """The innermost sequence inside a loop around a statement, and the statement's place in it."""
    path = leaf_path(tree, statement)
    for depth in range(len(path) - 1, 0, -1):
        if isinstance(at(tree, path[:depth]), Sequence):
            return path[:depth], path[depth]
    return None


def in_the_way(schedule: Schedule, names: list[str]) -> tuple[Transform, ...]:
    """The decomposition that makes loops of one reduction nest perfect, if they are not yet."""
    found = find_loops(schedule.program, schedule.tree, names)
    if len({site.path for site in found}) <= 1:
        return ()
    deepest = max(found, key=lambda site: len(site.path))
    if any(deepest.path[: len(site.path)] != site.path for site in found):
        return ()
    below = statements(deepest.band)
    if len(below) != 1:
        return ()
    return (DecomposeReduction(schedule.program.statement(below[0]).name),)


@takes_choices
def decompose_reduction(statement: str, /) -> DecomposeReduction:
    """Give the initialisation of `statement` a nest of its own, before the reduction's."""
    return DecomposeReduction(statement)
