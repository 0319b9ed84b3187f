"""Steps that recipes take again and again: what fits and is legal is kept, loops are put in order."""

from __future__ import annotations

from collections.abc import Iterable

from workbench import poly
from workbench.errors import ScheduleError
from workbench.lang.expr import Index
from workbench.poly.programs.loop_names import loops_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Sequence, Tree, path, statements
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import reorder
from workbench.schedules.transform import Transform, applied


def attempt(schedule: Schedule, *steps: Transform, parts: tuple[frozenset[str], ...] = ()) -> Schedule:
    """The schedule after the steps if they fit and are legal, else unchanged; what changes nothing is left out.

    The order inside each of `parts` (statements by id) stays as it was, and is not judged again.
    """
    try:
        after = applied(schedule, *steps)
    except ScheduleError:
        return schedule
    among = changed_statements(schedule, after)
    return schedule if poly.violations(schedule.program, after.tree, among, parts) else after


def ordered(schedule: Schedule, statement: str, loops: Iterable[str]) -> Schedule:
    """Loops around a statement (by its name) in this order, not judged."""
    return applied(schedule, reorder(*loops_of(statement, loops)))


def changed_statements(before: Schedule, after: Schedule) -> frozenset[str]:
    """Statements whose dependences need a second look: those of the top-level nests that differ, and those that
    now stand on the other side of one.
    """
    old = set(top(before.tree))
    different = {s for nest in top(after.tree) if nest not in old for s in statements(nest)}
    was, now = _places(before.tree), _places(after.tree)
    passed = {s for s in now for d in different if (was[s] < was[d]) != (now[s] < now[d])}
    return frozenset(different | passed)


def _places(tree: Tree) -> dict[str, int]:
    """The number of the top-level nest that holds each statement."""
    return {s: number for number, nest in enumerate(top(tree)) for s in statements(nest)}


def top(tree: Tree) -> tuple[Tree, ...]:
    """The nests that follow one another at the outermost level."""
    return tree.children if isinstance(tree, Sequence) else (tree,)


def dim_of(band: Band, position: int, statement: str) -> str | None:
    """The dim that a loop of the band is for a statement, if it is just that."""
    row = band.loops[position].row(statement)
    return row.name if isinstance(row, Index) else None


def simple(program: Program, tree: Tree, identifier: str) -> bool:
    """Whether the loops around the statement are its own dims, one after another."""
    return [x.name for x in path(tree, identifier)] == list(program.statement(identifier).dims)
