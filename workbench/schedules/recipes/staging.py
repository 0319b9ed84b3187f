"""A buffer that a recipe makes, and what it is called."""

from __future__ import annotations

from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import stage


def staged(schedule: Schedule, array: str, home: str, wanted: str = "") -> tuple[Schedule, str]:
    """The array, or one read of it, in a buffer of the loop `home`; the buffer's name, as wanted where that is free."""
    before = {*schedule.program.arrays}
    schedule = stage(array, home, buffer="" if wanted in before else wanted).on(schedule)
    (buffer,) = {*schedule.program.arrays} - before
    return schedule, buffer
