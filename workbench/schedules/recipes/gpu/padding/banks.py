"""Banks: rows of shared memory get a place that holds nothing where that keeps lanes out of one another's banks.

Chosen from the exact number of turns that the accesses of a warp take, for each of a few strides.
"""

from __future__ import annotations

from workbench import poly
from workbench.lang.algebra.normal_form import constant
from workbench.poly.programs.program import Padding
from workbench.poly.programs.tree import path
from workbench.poly.threads.warp_costs import BANKS
from workbench.poly.threads.warps import turns_with
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import storage_align
from workbench.schedules.transform import Transform

OFFSETS = (1, 2, 4, 8, 16)
WIDE = 4
"""Elements that one access moves: rows of what is read so must begin on multiples of them."""

MOST_EMPTY, LEAST = 0.5, 4
"""What of a row may be empty, but so many elements always: a block that takes more memory has fewer beside it."""


def padded(schedule: Schedule, buffers: list[str]) -> Schedule:
    """The rows of each buffer with the stride at which warps take the fewest turns."""
    for step in [_chosen(schedule, buffer) for buffer in buffers]:
        schedule = schedule if step is None else step.on(schedule)
    return schedule


def _chosen(schedule: Schedule, buffer: str) -> Transform | None:
    """The padding that saves most turns; None where none does."""
    if schedule.program.symbols:
        return None
    place = next(s for s in poly.storage_of(schedule.program, schedule.tree) if s.array.name == buffer)
    kept = [d for d, *_ in place.kept]
    if len(kept) < 2 or kept[-2] < place.array.times:
        return None
    offsets = _offsets(constant(place.kept[-1][2]), WIDE if _wide(schedule, buffer) else 1)
    choices = ((), *((Padding(kept[-2], BANKS, offset),) for offset in offsets))
    found = turns_with(schedule.program, schedule.tree, buffer, choices)
    if found is None or found[0][0] == found[0][1]:
        return None
    best = min(range(len(choices)), key=lambda i: found[i][0])
    return storage_align(buffer, kept[-2] - place.array.times, BANKS, offsets[best - 1]) if best else None


def _offsets(row: int | None, multiple: int) -> list[int]:
    """Where rows of so many elements may begin beyond multiples of the banks, without much that is empty."""
    if row is None:
        return [o for o in OFFSETS if o % multiple == 0]
    near = dict.fromkeys((*OFFSETS, *((row + o) % BANKS for o in OFFSETS)))
    most = max(LEAST, row * MOST_EMPTY)
    return [o for o in near if o % multiple == 0 and (o - row) % BANKS <= most]


def _wide(schedule: Schedule, buffer: str) -> bool:
    """Whether something touches the buffer in lanes."""
    users = [s.id for s in schedule.program.statements if any(a.array == buffer for a in s.accesses)]
    return any(x.kind == "vector" for s in users for x in path(schedule.tree, s)[-1:])
