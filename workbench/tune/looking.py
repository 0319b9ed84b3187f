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
    """What the schedules of points show, found by the runner's processes; which are twins is known from then on."""

    def __init__(self, assignment: Assignment, runner: Runner, twins: Twins) -> None:
        self.assignment = assignment
        self.runner = runner
        self.twins = twins
        self.space = assignment.sketch.space
        self.ahead: set[Index] = set()
        self.begin()

    def begin(self) -> None:
        """Begin a round, whose seconds are counted anew."""
        self.seconds, self.count = 0.0, 0

    def __call__(self, points: Sequence[Point]) -> Sequence[Seen | None]:
        """Look at points; None for one that is no legal schedule."""
        begun = time.perf_counter()
        own = getattr(self.runner, "looks", None)
        if own is not None:
            found = own(points)
        else:
            found = [seen_at(self.assignment.sketch, p, self.assignment.target) for p in points]
        for point, seen in zip(points, found, strict=True):
            if seen is not None:
                self.twins.note(self.space.index(self.space.full(point)), seen.key, seen.follows)
        self.seconds += time.perf_counter() - begun
        self.count += self._not_ahead(points)
        return found

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
