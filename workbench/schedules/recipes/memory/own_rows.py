"""Own rows: of a large temporary that only one nest knows, every iteration keeps its own row, which stays in the cache.

    for m: { for n: E(m, n) = exp(X(m, n));  for n: s(m) += E(m, n);  for n: Y(m, n) = E(m, n) / s(m) }
    → for m: { for n: E_local(n) = …;  for n: s(m) += E_local(n);  for n: Y(m, n) = E_local(n) / s(m) }

As a whole it would be written to memory, after its lines have been read from there, and come back.
"""

from __future__ import annotations

from itertools import takewhile
from math import prod

from workbench.lang.algebra.normal_form import constant
from workbench.lang.expr import index_names
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.tree import Loop, path
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.memory.privatization import in_buffer
from workbench.schedules.recipes.memory.row_fusion import is_large
from workbench.schedules.scheduled_program import Schedule
from workbench.target import Target


def with_own_rows(schedule: Schedule, target: Target) -> Schedule:
    """Each such temporary in a buffer of the innermost loop that makes and uses one row of it."""
    for name, array in schedule.program.arrays.items():
        sized = all(constant(e) is not None for e in array.extent)
        if array.role == "temporary" and array.scope == "global" and sized and is_large(schedule.program, name, target):
            schedule = _own_row(schedule, name, target)
    return schedule


def _own_row(schedule: Schedule, array: str, target: Target) -> Schedule:
    program = schedule.program
    known = [s.id for s in program.statements if array in {a.array for a in s.accesses}]
    around = _around(schedule, known)
    if len(known) < 2 or not around or any(loop.kind != "serial" for loop in around):
        return schedule
    if _row_bytes(schedule, known, array, around) > target.cache_bytes[1] // 4:
        return schedule
    return in_buffer(schedule, array, loop_of(program.statement(known[0]).name, around[-1].name))


def _around(schedule: Schedule, known: list[str]) -> list[Loop]:
    """The loops around all statements, but for the innermost of each."""
    paths = [path(schedule.tree, s)[:-1] for s in known]
    shared = takewhile(lambda same: len(set(same)) == 1, zip(*paths, strict=False))
    return [same[0] for same in shared]


def _row_bytes(schedule: Schedule, known: list[str], array: str, around: list[Loop]) -> int:
    """Bytes of what one iteration of the loops around touches, at most.

    A dim that a loop inside walks, whole or in blocks, takes all its values; one that was cut into loops around stays.
    """
    cells = []
    for s in known:
        shape = structure(schedule.program, s)
        walked = {d for loop in path(schedule.tree, s)[len(around) :] for d in index_names(loop.row(s))}
        moved = {d for t in (*shape.reads, *shape.writes) if t.array == array for d, step in t.strides if step != 0}
        cells.append(prod(shape.trip(d) or 1 for d in moved & walked))
    return max(cells) * schedule.program.arrays[array].dtype.bytes
