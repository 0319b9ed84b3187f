"""Looks at points: what their schedules show before anything is built, and how long that took."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import ScheduleError
from workbench.schedules.sketches.space import Point
from workbench.tune.measuring.building import Seen, seen_at
from workbench.tune.measuring.runner import Assignment, Runner
from workbench.tune.searching.twins import Index, Twins


class Looking:
    """What the schedules of points show, found by the runner's processes; which are twins is known from then on.

    A point that is known to give the schedule of one that was looked at shows the same, and is not looked at.
    """

    def __init__(self, assignment: Assignment, runner: Runner, twins: Twins) -> None:
        self.assignment = assignment
        self.runner = runner
        self.twins = twins
        self.space = assignment.sketch.space
        self.ahead: set[Index] = set()
        self.seen: dict[str, Seen] = {}
        self.begin()

    def begin(self) -> None:
        """Begin a round, whose seconds are counted anew."""
        self.seconds, self.count = 0.0, 0

    def __call__(self, points: Sequence[Point]) -> Sequence[Seen | None]:
        """Look at points; None for one that is no legal schedule."""
        begun = time.perf_counter()
        indices = [self.space.index(self.space.full(p)) for p in points]
        found = [self.seen.get(self.twins.key(i)) for i in indices]
        missing = [n for n, seen in enumerate(found) if seen is None]
        for n, seen in zip(missing, self._looked([points[n] for n in missing]), strict=True):
            found[n] = seen
            if seen is not None:
                self.seen[seen.key] = seen
                self.twins.note(indices[n], seen.key, seen.follows)
        self.seconds += time.perf_counter() - begun
        self.count += self._not_ahead([points[n] for n in missing])
        return found

    def _looked(self, points: Sequence[Point]) -> Sequence[Seen | None]:
        """What the runner's processes see, or this one where the runner has none that look."""
        if (own := getattr(self.runner, "looks", None)) is not None:
            return own(points)
        return [seen_at(self.assignment.sketch, p, self.assignment.target) for p in points]

    def features(self, points: Sequence[Point]) -> Sequence[dict[str, float] | None]:
        """The features of points; None for one that is no legal schedule."""
        return [None if seen is None else dict(seen.features) for seen in self(points)]

    def key(self, point: Point) -> str:
        """The key of a point's schedule, as far as it is known."""
        return self.twins.key(self.space.index(self.space.full(point))) if stands_in(self.space, point) else ""

    def foresee(self, points: Sequence[Point]) -> None:
        """Points that will be looked at: builders that wait for others do it before, if the runner has such."""
        if (foresee := getattr(self.runner, "foresee", None)) is not None:
            foresee(points)
            self.ahead = {self.space.index(p) for p in points}

    def seconds_for(self, points: Sequence[Point]) -> float:
        """The part of this round's seconds that went to these points: what was looked at ahead took none of them."""
        return self.seconds * min(1.0, self._not_ahead(points) / max(1, self.count))

    def _not_ahead(self, points: Sequence[Point]) -> int:
        return sum(self.space.index(p) not in self.ahead for p in points) if self.ahead else len(points)


def stands_in(space: Any, point: Mapping[str, Any]) -> bool:
    """Whether a stored point is one of the space."""
    try:
        return {d.name for d in space.decisions} == set(point) and bool(space.full(point))
    except ScheduleError:
        return False
