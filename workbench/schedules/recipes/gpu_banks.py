"""Banks: rows of shared memory get a place that holds nothing where that keeps lanes out of one another's banks.

Chosen from the exact number of turns that the accesses of a warp take, for each of a few strides.
"""

from __future__ import annotations

from workbench import poly
from workbench.poly.program import Padding
from workbench.poly.warp_costs import BANKS
from workbench.poly.warps import turns_with
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import storage_align
from workbench.schedules.transform import Transform

OFFSETS = (1, 2, 4, 8, 16)


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
    choices = ((), *((Padding(kept[-2], BANKS, offset),) for offset in OFFSETS))
    found = turns_with(schedule.program, schedule.tree, buffer, choices)
    if found is None or found[0][0] == found[0][1]:
        return None
    best = min(range(len(choices)), key=lambda i: found[i][0])
    return storage_align(buffer, kept[-2] - place.array.times, BANKS, OFFSETS[best - 1]) if best else None
