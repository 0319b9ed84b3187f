"""Shifting first: a consumer that comes late enough may share the loops of its producer."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.poly.dependence.distances import longest_way_back
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.tree import Band, Loop, statements
from workbench.schedules.edit import children
from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.merge import Merge, meeting
from workbench.schedules.steps.order.reverse import Reverse
from workbench.schedules.steps.order.shift import Shift
from workbench.schedules.transform import Transform, recipe, together

MOST_SHIFTS = 4


def shift_first(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """`shift(...) | merge(...)`: the second nest delayed by what its reads reach ahead."""
    if isinstance(step, Merge):
        yield from delayed(schedule, step)


def reverse_first(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """`reverse(...) | shift(...) | merge(...)`: a consumer that reads from the end."""
    second = _second(schedule, step) if isinstance(step, Merge) and step.depth == 1 else None
    if isinstance(step, Merge) and second is not None and len(statements(second)) == 1:
        turned = Reverse(loop_of(step.second, second.loops[0].name))
        yield from (recipe(turned, *shifts.steps()) for shifts in delayed(turned.on(schedule), step))


def delayed(schedule: Schedule, step: Merge) -> Iterator[Transform]:
    """The shifts that let the merge follow, loop by loop from the outside, and the merge."""
    shifts: tuple[Transform, ...] = ()
    shifted = schedule
    for _ in range(MOST_SHIFTS):
        merged = step.on(shifted)
        if merged.verdict:
            yield recipe(*shifts, step)
            return
        found = [(v.loop, longest_way_back(merged.program, merged.tree, v)) for v in merged.verdict.violations]
        delay = max((steps for loop, steps in found if loop == found[0][0] and steps), default=None)
        name = None if delay is None else _consumed(shifted, merged, step, found[0][0])
        if name is None or delay is None:
            return
        shift = _shift(shifted, step, name, delay)
        shifts, shifted = (*shifts, shift), shift.on(shifted)


def _second(schedule: Schedule, step: Merge) -> Band | None:
    """The nest that is merged into the first."""
    first, second = (statement_id(schedule.program, name) for name in (step.first, step.second))
    path, _, place = meeting(schedule.tree, first, second)
    tree = schedule.tree
    for position in (*path, place):
        tree = children(tree)[position]
    return tree if isinstance(tree, Band) else None


def _consumed(schedule: Schedule, merged: Schedule, step: Merge, loop: str | None) -> str | None:
    """The name that a merged loop has in the second nest."""
    first = statement_id(schedule.program, step.first)
    second = _second(schedule, step)
    common = [x.name for x in _common(merged, first)]
    outside = len(common) - step.depth
    if second is None or loop not in common or common.index(loop) < outside:
        return None
    return second.loops[common.index(loop) - outside].name


def _common(merged: Schedule, statement: str) -> list[Loop]:
    """The loops around a statement that hold others, too."""
    found: list[Loop] = []
    tree = merged.tree
    while True:
        if isinstance(tree, Band) and len(statements(tree)) > 1:
            found += tree.loops
        below = [child for child in children(tree) if statement in statements(child)]
        if not below:
            return found
        tree = below[0]


def _shift(schedule: Schedule, step: Merge, loop: str, delay: int) -> Transform:
    """The shift of every statement in the second nest."""
    second = _second(schedule, step)
    assert second is not None
    shifts = [Shift(loop_of(schedule.program.statement(s).name, loop), delay) for s in statements(second)]
    return shifts[0] if len(shifts) == 1 else together(*shifts)
