"""What the steps of a history were expected to gain, by the model that proposes steps, beside what they gained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from workbench.errors import WorkbenchError
from workbench.poly.sets import isl
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.viz.messages.measuring import Gained
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.choosing.gains import Estimate, estimate, unmodelled
from workbench.viz.panels.history import History
from workbench.viz.panels.measuring.measured import Measured, faster_payload

SECONDS = 0.5
"""Of estimating one schedule."""

UNKNOWN = "the model has no estimate of it"


def gained_by_place(history: History, came: Sequence[Measured | None], target: Target) -> list[Gained | None]:
    """For each moment that has a time what was to be gained since the last one before it that has, and what was.

    `came` is what was measured, by moment.  None for a moment without a time, and for the first of all.
    """
    return [_gained(history, place, came, target) for place in range(len(history.moments))]


def _gained(history: History, place: int, came: Sequence[Measured | None], target: Target) -> Gained | None:
    moment, own = history.moments[place], came[place]
    if moment.parent is None or not own:
        return None
    timed = next((at for at in _before(history, place) if came[at]), None)
    since = moment.parent if timed is None else timed
    before = history.moments[since].schedule
    expected, why = expected_gain(before, moment.schedule, target)
    return {
        "expected": expected, "unmodelled": why, "measured": faster_payload(own.over(came[since])),
        "since": "" if since == moment.parent else str(before.trace[-1]) if before.trace else "naive",
    }  # fmt: skip


def _before(history: History, place: int) -> Iterator[int]:
    """The moments that led to one, the nearest first."""
    while (parent := history.moments[place].parent) is not None:
        place = parent
        yield place


def expected_gain(before: Schedule, after: Schedule, target: Target) -> tuple[float | None, str]:
    """How many times faster one schedule is than another by the model; None where it has nothing, and why."""
    found = [_modelled(one, target) for one in (before, after)]
    if why := next((one for one in found if isinstance(one, str)), ""):
        return None, why
    first, second = (one.seconds for one in found if isinstance(one, Estimate))
    return first / max(second, 1e-300), ""


@lru_cache(maxsize=256)
def _modelled(schedule: Schedule, target: Target) -> Estimate | str:
    """What a schedule is estimated to take, or why that is not known."""
    base, _ = with_sizes(schedule)
    try:
        with isl.deadline(SECONDS):
            found = None if base is None else estimate(base, target)
    except (WorkbenchError, ArithmeticError):
        return UNKNOWN
    return unmodelled(found) or found or UNKNOWN
