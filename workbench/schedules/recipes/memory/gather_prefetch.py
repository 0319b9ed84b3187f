"""Gather prefetching: the cache is asked for rows that data will find, since no processor can guess them.

    for l: for d: O(b, d) += table(I(b, l), d)   →   the same with requests for table(I(b, l + 16), d)
"""

from __future__ import annotations

from math import prod

from workbench.lang.algebra.normal_form import constant
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import path
from workbench.schedules.analysis.structure import Touch, structure
from workbench.schedules.recipes.try_steps import attempt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import prefetch
from workbench.target import Target


def with_gather_prefetch(schedule: Schedule, target: Target) -> Schedule:
    """Requests for later rows of every table that is read through data and larger than the second cache.

    As many bytes lie between the row in use and the one asked for as are on their way from memory at once; rows that
    are asked for earlier do not come sooner, and may be gone when they are read.
    """
    for s in schedule.program.statements:
        shape = structure(schedule.program, s.id)
        for touch in shape.reads:
            found = [d for d in s.dims if touch.along(d) is None]
            row = [d for d in s.dims if touch.along(d) == 1]
            cells = prod(shape.trip(d) or 0 for d in row)
            array = schedule.program.arrays[touch.array]
            size = prod(constant(e) or 1 << 30 for e in array.extent) * array.dtype.bytes
            if not found or len(row) != 1 or not cells or size <= target.cache_bytes[1]:
                continue
            distance = max(1, target.costs.bytes_a_miss // (cells * array.dtype.bytes))
            schedule = _asked(schedule, s, touch, distance)
    return schedule


def _asked(schedule: Schedule, s: ProgramStatement, touch: Touch, distance: int) -> Schedule:
    """Requests in the innermost loop that moves from row to row."""
    dims = {d for d in s.dims if touch.along(d) is None}
    moving = [x for x in path(schedule.tree, s.id) if getattr(x.row(s.id), "name", "") in dims]
    if not moving or moving[-1].kind not in ("serial", "parallel"):
        return schedule
    return attempt(schedule, prefetch(touch.array, loop_of(s.name, moving[-1].name), distance))
