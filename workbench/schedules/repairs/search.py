"""Trying the ideas of this folder on a refused step, and keeping what is accepted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from workbench.errors import WorkbenchError
from workbench.poly.sets import isl
from workbench.schedules.legality import Verdict
from workbench.schedules.repairs.barrier_insertion import atomic_updates, fewest_barriers, split_the_reduction
from workbench.schedules.repairs.nests_between import all_together, between_follows, nearest_nest
from workbench.schedules.repairs.other_loops import (
    another_loop,
    fewer_common_loops,
    fewer_loops,
    lanes_within_distance,
)
from workbench.schedules.repairs.separate_nests import distribute_first, every_statement
from workbench.schedules.repairs.shifting import reverse_first, shift_first
from workbench.schedules.repairs.skewing import skew_first, wavefront
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform
from workbench.wording import number_of

SECONDS = 1.0
MOST = 6

Idea = Callable[[Schedule, Transform, Verdict], Iterator[Transform]]

KEEPING: tuple[Idea, ...] = (
    split_the_reduction, skew_first, shift_first, between_follows, all_together, reverse_first, distribute_first,
    lanes_within_distance, every_statement, fewest_barriers, atomic_updates,
)  # fmt: skip
ELSEWHERE: tuple[Idea, ...] = (another_loop, fewer_loops, fewer_common_loops, nearest_nest, wavefront)


class Repairs:
    """Recipes that are accepted in place of a refused step, found while they are asked for, and then remembered.

    First come those that still do what was asked, then those that do it elsewhere; in each group the shorter first.
    The search ends after `SECONDS` of work, or with `MOST` of them.
    """

    def __init__(self, schedule: Schedule, step: Transform, verdict: Verdict) -> None:
        self._found: list[Transform] = []
        self._tried: list[Transform] = []
        self._rest = _accepted(schedule, step, verdict, self._tried)
        self._seconds = SECONDS
        self._ended = False

    def __iter__(self) -> Iterator[Transform]:
        place = 0
        while place < len(self._found) or self._more():
            yield self._found[place]
            place += 1

    @property
    def why_none(self) -> str:
        """Why there is no repair, in words; empty where there is one."""
        if any(True for _ in self):
            return ""
        kinds = sorted({part.name for tried in self._tried for part in tried.steps()})
        tried = f"{number_of(len(self._tried), 'other way')} with {', '.join(kinds)}" if kinds else ""
        if not self._ended:
            return f"none within {SECONDS:g} s{f': {tried} would be wrong, too' if tried else ''}"
        return f"nothing known: {tried} would be wrong, too" if tried else "nothing known: no step would make up for it"

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
                    self._seconds, self._ended = 0, True
                elif isinstance(candidate, Transform):
                    self._found.append(candidate)
                    return True
        except RecursionError:
            self._seconds = 0
        return False


_END = object()


def _accepted(
    schedule: Schedule, step: Transform, verdict: Verdict, tried: list[Transform]
) -> Iterator[Transform | None]:  # fmt: skip
    """Each candidate that is accepted; None for one that is not, so that the caller may look at the clock."""
    seen: set[Transform] = set()
    for candidate in _candidates(schedule, step, verdict):
        if candidate not in seen:
            seen.add(candidate)
            tried.append(candidate)
            yield candidate if accepted(schedule, candidate) else None


def _candidates(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterable[Transform]:
    """What the ideas propose, in the order of trying."""
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
