"""Epilogue fusion: register tiles with their first values, sums, and what is computed from them, tile by tile.

before → after:  for m, n: { init; for k: update };  for m, n: relu
                 → for m_o, n_o: { for m_i, n_i: init;  for k, m_i, n_i: update;  for m_i, n_i: relu }

The C of such a tile keeps the cells in registers from the first value to the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.lang.expr import reads
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, path, statements
from workbench.poly.programs.tree import Sequence as Parts
from workbench.schedules import steps
from workbench.schedules.analysis.structure import structure
from workbench.schedules.edit import at
from workbench.schedules.recipes.loops.fusion import common_outer_loops
from workbench.schedules.recipes.try_steps import attempt, ordered, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import decompose_reduction, tile, unroll, vectorize
from workbench.schedules.steps.order.decompose_reduction import enclosing_sequence

Order = tuple[Sequence[str], Sequence[str], Sequence[str]]


def nest_for_tiles(schedule: Schedule, identifier: str, *, together: bool) -> Schedule:
    """A reduction whose nest holds what its tiles may do together, or nothing but itself."""
    if enclosing_sequence(schedule.tree, identifier) is None:
        return schedule
    if together and _shared(schedule, identifier) == len(structure(schedule.program, identifier).free):
        return with_epilogue(schedule, identifier)
    return decompose_reduction(schedule.program.statement(identifier).name).on(schedule)


def _shared(schedule: Schedule, identifier: str) -> int:
    """The number of loops around a statement and what stands beside it."""
    place, _ = enclosing_sequence(schedule.tree, identifier) or ((), 0)
    inside = at(schedule.tree, place)
    return len(path(schedule.tree, identifier)) - len(path(inside, identifier)) if place else 0


def tiled(
    schedule: Schedule, identifier: str, sizes: Mapping[str, int], order: Order, around: int = 0
) -> Schedule:  # fmt: skip
    """A reduction in tiles of `sizes` by loop, with what is left beside it; not judged yet.

    `order` names the loops outside, those of the reduction, and those over a tile's cells: all are unrolled but the
    last, which is in lanes.  So many loops `around` stay as they are.  ScheduleError where the loops do not fit.
    """
    name = schedule.program.statement(identifier).name
    outer, reduced, cells = order
    cut: dict[str, int] = {loop_of(name, x): size for x, size in sizes.items()}
    schedule = tile(cut).on(schedule) if cut else schedule
    if _shared(schedule, identifier) != around + len(outer) + len(cells):
        schedule = ordered(schedule, name, (*outer, *reduced, *cells))
        return _in_lanes(schedule, [name], cells)
    schedule = ordered(schedule, name, (*outer, *cells))
    schedule, nests = _apart(schedule, identifier, cells[0])
    schedule = ordered(schedule, name, (*reduced, *cells))
    return _in_lanes(schedule, nests, cells)


def with_epilogue(schedule: Schedule, identifier: str) -> Schedule:
    """The nest that follows merged with the reduction's, where it computes cell by cell with what was summed up."""
    nests = top(schedule.tree)
    place = next(n for n, nest in enumerate(nests) if identifier in statements(nest))
    if place + 1 == len(nests):
        return schedule
    program, nest, following = schedule.program, nests[place], nests[place + 1]
    depth = len(structure(program, identifier).free)
    if not isinstance(following, Band) or len(following.loops) != depth:
        return schedule
    if common_outer_loops(program, nest, following) < depth:
        return schedule
    if not _compute_with(program, statements(following), identifier):
        return schedule
    last, first = program.statement(statements(nest)[-1]).name, program.statement(statements(following)[0]).name
    return attempt(schedule, steps.merge(last, first, depth=depth))


def _compute_with(program: Program, others: Sequence[str], identifier: str) -> bool:
    """Whether statements assign values that are made of what was summed up, or of one another's."""
    made = {a for a, _ in program.statement(identifier).targets}
    for other in map(program.statement, others):
        if other.kind == "update" or not made & {r.tensor for r in reads(*other.values)}:
            return False
        made |= {a for a, _ in other.targets}
    return True


def _apart(schedule: Schedule, identifier: str, loop: str) -> tuple[Schedule, list[str]]:
    """What stands side by side in the innermost shared loops gets nests of its own from `loop` on; their names."""
    where, place = enclosing_sequence(schedule.tree, identifier) or ((), 0)
    parts = at(schedule.tree, where)
    assert isinstance(parts, Parts)
    begins = {0, place, min(place + 1, len(parts.children) - 1)}  # what stands before, the reduction, what follows
    names = [schedule.program.statement(statements(parts.children[n])[0]).name for n in sorted(begins)]
    for name in names[1:]:
        schedule = steps.distribute(name, loop=loop).on(schedule)
    return schedule, names


def _in_lanes(schedule: Schedule, names: list[str], cells: Sequence[str]) -> Schedule:
    for name in names:
        for loop in cells[:-1]:
            schedule = unroll(loop_of(name, loop)).on(schedule)
        schedule = vectorize(loop_of(name, cells[-1])).on(schedule)
    return schedule
