"""Interleaved recurrences: those that wait for their own last value run several at a time."""

from __future__ import annotations

from workbench import poly
from workbench.lang.expr import Binary, Expr, walk
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.loop_names import LoopName, loop_of
from workbench.poly.programs.tree import Band, Loop, Sequence, Tree, loops, path, statements
from workbench.schedules.analysis.structure import in_place
from workbench.schedules.edit import at
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.loops.parallelization import iterations
from workbench.schedules.recipes.loops.vectorization import innermost_band
from workbench.schedules.recipes.try_steps import attempt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import distribute, reorder, skew, split, unroll, unroll_jam, vectorize
from workbench.schedules.transform import Transform
from workbench.target import Target

AT_ONCE = 1
"""Times the cycles of a multiply-add are chains side by side: enough to hide it, few enough for rows that start pages
apart."""

ABREAST = 2
"""The same for neighbouring rows of which each stays behind the one before: most of their lines are shared."""

SKEWS = (1, 2, 3)
"""How far a row may stay behind the row before, where rows wait for one another."""


def interleaved(schedule: Schedule, target: Target) -> Schedule:
    """Iterations of the next loop outside, some at a time, wherever the innermost loop carries a value.

    before → after:  for i: for j: y(i, j) += y(i, j - 1)   →   for i_o: for j: for i_i < 4: y(i, j) += y(i, j - 1)

    Where rows wait for one another, each stays some cells behind the row before (a wavefront across the rows).  Rows
    that divide run in lanes: a processor divides a vector nearly as fast as a number.
    """
    for s in schedule.program.statements:
        around = path(schedule.tree, s.id)
        waits = in_place(s) or added(schedule.program, s) is not None
        if waits and len(around) > 1 and all(x.kind in ("serial", "parallel") for x in around):
            schedule = _several(schedule, s.id, target)
    return schedule


def _several(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """Some iterations of the last loop but one together around the statement's innermost loop, if that is legal."""
    outer, inner = path(schedule.tree, identifier)[-2:]
    own = schedule.program.statement(identifier).name
    rows = iterations(schedule, outer.row(identifier), identifier)
    chains, abreast = (n * target.costs.latency_cycles for n in (AT_ONCE, ABREAST))
    if rows < 2 * chains or not _carries(schedule, own, inner):
        return schedule
    few = decide(f"{own}_chains", chains, (0, 2, 4, 8, 16))
    if not few:
        return schedule
    place = innermost_band(schedule.tree, identifier)
    band = at(schedule.tree, place)
    assert isinstance(band, Band)
    ways = _in_parts(schedule, loop_of(own, outer.name), _parts(schedule.tree, place), target, few)
    if len(band.loops) > 1:
        abreast = decide(f"{own}_abreast", abreast, (2, 4, 8, 16))
        jam, many = (unroll_jam(loop_of(own, outer.name), n) for n in (few, min(abreast, rows // 2)))
        behind = [skew(loop_of(own, inner.name), by=loop_of(own, outer.name), factor=f) for f in SKEWS]
        ways = [[jam], *([b, many] for b in behind)]
    tried = (attempt(schedule, *way) for way in ways)
    return next((s for s in tried if s is not schedule and _side_by_side(s, identifier)), schedule)


def _side_by_side(schedule: Schedule, identifier: str) -> bool:
    """Whether none of the recurrences that were put together waits for another in the same step."""
    own = schedule.program.statement(identifier).name
    return not _carries(schedule, own, path(schedule.tree, identifier)[-1])


def _parts(tree: Tree, place: tuple[int, ...]) -> tuple[Tree, ...]:
    """What stands side by side where the innermost band of a statement stands."""
    parent = at(tree, place[:-1])
    return parent.children if isinstance(parent, Sequence) else (at(tree, place),)


def _in_parts(
    schedule: Schedule, outer: LoopName, parts: tuple[Tree, ...], target: Target, few: int
) -> list[list[Transform]]:
    """Ways to take a block of iterations of the outer loop for each part: in lanes where one divides, else unrolled."""
    own = [schedule.program.statement(s) for part in parts for s in statements(part)]
    dividing = [s for s in own if any(_divides(v) for v in s.values)]
    lanes = target.lanes(max((8 * v.dtype.bytes for s in dividing for v in s.values), default=64))
    slow = frozenset(s.id for s in dividing)
    plain = _steps(schedule, outer, parts, few, frozenset())
    return [_steps(schedule, outer, parts, lanes, slow), plain] if slow and lanes > 1 else [plain]


def _divides(value: Expr) -> bool:
    """Whether a floating-point division is left to compute in each iteration."""
    return any(isinstance(e, Binary) and e.op == "/" and e.dtype.is_float for e in walk(value))


def _steps(
    schedule: Schedule, outer: LoopName, parts: tuple[Tree, ...], size: int, slow: frozenset[str]
) -> list[Transform]:
    """A block of iterations of the outer loop for each part; innermost where the part is a recurrence.

    There it is written out, or in lanes where one of the statements is `slow`.
    """
    program, cut = schedule.program, split(outer, size)
    names = [program.statement(statements(part)[0]).name for part in parts]
    steps: list[Transform] = [cut, *(distribute(name, loop=cut.inner.loop) for name in names[1:])]
    for name, part in zip(names, parts, strict=True):
        around = list(loops(part))
        if len(around) == 1 and around[0].kind == "serial" and _carries(schedule, name, around[0]):
            inner = cut.inner.around(name)
            steps.append(reorder(inner.beside(around[0].name), inner))
            steps.append(vectorize(inner) if slow & {*statements(part)} else unroll(inner))
    return steps


def _carries(schedule: Schedule, statement: str, loop: Loop) -> bool:
    """Whether an iteration of the statement's loop waits for an earlier one."""
    return not poly.can_vectorize(schedule.program, schedule.tree, loop_of(statement, loop.name))
