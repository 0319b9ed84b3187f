"""A schedule at sizes that are numbers, so that bytes can be counted while sizes are open."""

from __future__ import annotations

from functools import lru_cache

from workbench.errors import WorkbenchError
from workbench.schedules import Schedule
from workbench.viz.frames.coordinates import resized, typical_sizes


@lru_cache(maxsize=32)
def with_sizes(schedule: Schedule) -> tuple[Schedule | None, str]:
    """The schedule for counting (None where that cannot be), and which sizes were assumed.

    Open sizes of an operator of the library are typical ones; of any other they are 256.
    """
    sizes = typical_sizes(schedule.program)
    if not sizes:
        return schedule, ""
    note = "counted for " + ", ".join(f"{name}={value}" for name, value in sizes.items())
    try:
        after = resized(schedule, sizes)
    except WorkbenchError:
        return None, "nothing is counted: open sizes could not be assumed"
    return (after, note) if isinstance(after, Schedule) else (None, note)
