"""From the naive schedule to a given tree: distribute, bring every nest into shape, arrange, merge.

Each statement first gets a nest of its own, which interchange, reverse, skew and shift (and loops of one iteration)
bring to the rows wanted; the nests then stand in the order of the tree's leaves and are merged from the inside out.
What turns out not to be needed is left out again.  Steps that are only legal together are put together.
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

from workbench.errors import ScheduleError, WorkbenchError
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Mark, Sequence, Tree, path, statements
from workbench.poly.time.timemap import row, shared
from workbench.schedules.edit import normal
from workbench.schedules.explanation.single import single_steps
from workbench.schedules.normal_form import normal_form
from workbench.schedules.scheduled_program import Schedule, naive_schedule
from workbench.schedules.steps import arrange, distribute, merge
from workbench.schedules.transform import Transform, applied

Unit = tuple[Transform, ...]
ATTEMPTS = 200


def explained(program: Program, tree: Tree) -> Schedule | None:
    """The schedule with this order, reached by named steps; None if none are found."""
    naive = naive_schedule(program)
    units = _units(naive, normal(tree))
    wanted = normal_form(program, tree)
    if units is None or not _reaches(naive, units, wanted):
        return None
    return _stated(naive, [step for unit in _shortest(naive, units, wanted) for step in unit])


def _units(naive: Schedule, tree: Tree) -> list[Unit] | None:
    """Steps in groups that are left out together or not at all."""
    program = naive.program
    alone = _distributed(naive)
    shapes = [_shape(program, tree, s.id) for s in program.statements]
    if alone is None or any(x is None for x in shapes):
        return None
    leaves = [program.statement(s).name for s in statements(tree)]
    units = [*((x,) for x in alone), *(tuple(x) for x in shapes if x)]
    if leaves != [program.statement(s).name for s in statements(naive.tree)]:
        units.append((arrange(*leaves),))
    return units + [(x,) for x in _merges(program, tree, 0)]


def _shape(program: Program, tree: Tree, identifier: str) -> list[Transform] | None:
    s = program.statement(identifier)
    return single_steps(s, [row(loop, s, program) for loop in path(tree, identifier)])


def _distributed(naive: Schedule) -> list[Transform] | None:
    """Cuts after which every statement has its own nest."""
    schedule, steps = naive, []
    ids = statements(naive.tree)
    for earlier, later in pairwise(ids):
        while shared(schedule.tree, earlier, later).loops:
            step = distribute(naive.program.statement(later).name)
            try:
                schedule = step.apply(schedule)
            except ScheduleError:
                return None
            steps.append(step)
    return steps


def _merges(program: Program, tree: Tree, depth: int) -> list[Transform]:
    """Merges from the inside out; the loops around all of `tree` are `depth`."""
    match tree:
        case Leaf():
            return []
        case Mark(_, child):
            return _merges(program, child, depth)
        case Band(loops, child):
            return _merges(program, child, depth + len(loops))
        case Sequence(children):
            steps = [step for child in children for step in _merges(program, child, depth)]
            if depth:
                ends = [(_name(program, a, -1), _name(program, b, 0)) for a, b in pairwise(children)]
                steps += [merge(a, b, depth) for a, b in ends]
            return steps


def _name(program: Program, tree: Tree, position: int) -> str:
    return program.statement(statements(tree)[position]).name


def _stages(start: Schedule, units: list[Unit]) -> list[Schedule] | None:
    """The schedule at the start and after each unit; None if one cannot be applied."""
    stages = [start]
    try:
        for unit in units:
            stages.append(reduce(lambda schedule, step: step.apply(schedule), unit, stages[-1]))
    except WorkbenchError:
        return None
    return stages


def _reaches(start: Schedule, units: list[Unit], wanted: object) -> bool:
    stages = _stages(start, units)
    return stages is not None and normal_form(start.program, stages[-1].tree) == wanted


def _shortest(naive: Schedule, units: list[Unit], wanted: object) -> list[Unit]:
    """Without what is not needed: single units, and a cut together with the merge that undoes it.

    A long explanation stays as it is after so many attempts in vain.
    """
    tried, attempts = True, 0
    while tried and attempts < ATTEMPTS:
        stages = _stages(naive, units) or [naive]
        tried = False
        for left_out in _candidates(units)[: ATTEMPTS - attempts]:
            attempts, first = attempts + 1, min(left_out)
            rest = [u for i, u in enumerate(units) if i not in left_out]
            if _reaches(stages[first], rest[first:], wanted):
                units, tried, attempts = rest, True, 0
                break
    return units


def _candidates(units: list[Unit]) -> list[set[int]]:
    """What may be superfluous: everything, one unit, a cut and its merge, cut, merge and one of two equal shapes."""
    cuts = [i for i, u in enumerate(units) if u[0].name == "distribute"]
    merges = [i for i, u in enumerate(units) if u[0].name == "merge"]
    found: list[set[int]] = [set(range(len(units)))] if units else []
    found += [{i} for i in range(len(units)) if i not in cuts]
    pairs = [{c, m} for c in cuts for m in merges if units[m][0].second == units[c][0].before]  # type: ignore[attr-defined]
    others = [i for i in range(len(units)) if i not in cuts and i not in merges]
    return found + pairs + [p | {i} for p in pairs for i in others]


def _stated(naive: Schedule, steps: list[Transform]) -> Schedule | None:
    """The steps one by one where each is legal, several at once where only their result is."""
    schedule, waiting = naive, []
    for step in steps:
        waiting.append(step)
        try:
            after = applied(schedule, *waiting)
        except WorkbenchError:
            continue
        if after.verdict:
            schedule, waiting = after, []
    return None if waiting else schedule
