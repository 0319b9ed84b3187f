"""Rows of several short dims that lie one behind another in memory: one loop, long enough for the threads of a block.

    for d < 16: for h < 48: for w < 48: total += X(d, h, w)   →   for d_h_w < 36864: total += X(d_h_w)
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.poly.programs.tree import Loop, path
from workbench.poly.time.concurrency import is_block
from workbench.schedules.analysis.structure import Structure, structure
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.gpu.shared import legal_after, most_iterations, parallel, spelled, walked_dim
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import fuse


def in_one_loop(schedule: Schedule, statement: str, threads: int) -> Schedule:
    """The innermost loops inside a block as one, as many as memory runs through; unchanged where the last has an
    iteration for each thread by itself.
    """
    loops = path(schedule.tree, statement)
    cut = max((i + 1 for i, x in enumerate(loops) if is_block(x.kind)), default=0)
    run = run_through(schedule, statement, loops[cut:])
    count = most_iterations(schedule, run[-1]) if run else None
    if len(run) < 2 or count is None or count >= threads:
        return schedule
    name = schedule.program.statement(statement).name
    if not decide(f"{name}_fused", True, (True, False)):
        return schedule
    return legal_after(schedule, fuse(*(spelled(schedule, statement, x.name) for x in run))) or schedule


def run_through(schedule: Schedule, statement: str, loops: Sequence[Loop]) -> list[Loop]:
    """The longest run of innermost loops in which each goes on where the next one ends, and may do what that one may:
    together they walk through memory once.
    """
    shape = structure(schedule.program, statement)
    found: list[Loop] = []
    for loop in reversed(loops):
        if loop.kind != "serial" or (found and not _goes_on(schedule, shape, loop, found[0])):
            break
        found = [loop, *found]
    return found


def _goes_on(schedule: Schedule, shape: Structure, outer: Loop, inner: Loop) -> bool:
    """Whether an iteration of the outer loop begins where the last one of the inner loop ended, in everything that the
    inner one walks through.
    """
    own = shape.statement.id
    first, second, count = walked_dim(outer, own), walked_dim(inner, own), most_iterations(schedule, inner)
    if first is None or second is None or count is None:
        return False
    if parallel(schedule, own, outer.name) != parallel(schedule, own, inner.name):
        return False
    walked = [x for x in (*shape.writes, *shape.reads) if x.along(second) != 0]
    return bool(walked) and all(_behind(x.along(first), x.along(second), count) for x in walked)


def _behind(outer: int | None, inner: int | None, count: int) -> bool:
    return outer is not None and inner is not None and outer == inner * count
