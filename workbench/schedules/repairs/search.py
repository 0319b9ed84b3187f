"""Trying the ideas of this folder on a refused step, and keeping what is accepted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.poly.sets import isl
from workbench.schedules.transform import Recipe, Transform

if TYPE_CHECKING:
    from workbench.schedules.legality import Verdict
    from workbench.schedules.scheduled_program import Schedule

SECONDS = 1.0
MOST = 6


class Repairs:
    """Recipes that are accepted in place of a refused step, found while they are asked for, and then remembered.

    First come those that still do what was asked, then those that do it elsewhere; in each group the shorter first.
    The search ends after `SECONDS` of work, or with `MOST` of them.
    """

    def __init__(self, schedule: Schedule, step: Transform, verdict: Verdict) -> None:
        self._found: list[Transform] = []
        self._rest = _accepted(schedule, step, verdict)
        self._seconds = SECONDS

    def __iter__(self) -> Iterator[Transform]:
        place = 0
        while place < len(self._found) or self._more():
            yield self._found[place]
            place += 1

    def _more(self) -> bool:
        """Whether one more was found; the clock runs only here."""
        start = time.perf_counter()
        try:
            while self._seconds > 0 and len(self._found) < MOST:
                with isl.deadline(self._seconds):
                    candidate = next(self._rest, _END)
                self._seconds -= time.perf_counter() - start
                start = time.perf_counter()
                if candidate is _END:
                    self._seconds = 0
                elif isinstance(candidate, Transform):
                    self._found.append(candidate)
                    return True
        except RecursionError:
            self._seconds = 0
        return False


_END = object()


def _accepted(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform | None]:
    """Each candidate that is accepted; None for one that is not, so that the caller may look at the clock."""
    seen: set[Transform] = set()
    for candidate in _candidates(schedule, step, verdict):
        if candidate not in seen:
            seen.add(candidate)
            yield candidate if accepted(schedule, candidate) else None


def _candidates(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterable[Transform]:
    """What the ideas propose, in the order of trying."""
    from workbench.schedules.repairs.ideas import ELSEWHERE, KEEPING  # these know the steps, which know Schedule

    for group in (KEEPING, ELSEWHERE):
        proposed = [recipe for idea in group for recipe in _proposed(idea(schedule, step, verdict))]
        yield from sorted(proposed, key=lambda recipe: len(recipe.steps()))


def _proposed(recipes: Iterator[Transform]) -> Iterator[Transform]:
    """What an idea proposes until it meets a step that does not fit, or the end of its time."""
    with suppress(WorkbenchError):
        yield from recipes


def accepted(schedule: Schedule, recipe: Transform) -> bool:
    """Whether the recipe applies and is legal, step by step."""
    try:
        for part in recipe.steps():
            schedule = part.on(schedule)
            if not schedule.verdict:
                return False
    except WorkbenchError:
        return False
    return True


def recipe(*steps: Transform) -> Transform:
    """One step as it is, several as a Recipe."""
    return steps[0] if len(steps) == 1 else Recipe(steps)
