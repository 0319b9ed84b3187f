"""What a study may take over from others: trials of the same operator at other sizes, and the points that were best."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2
from typing import Any

from workbench.schedules.sketches.space import Decision, Point, Space
from workbench.tune.models.object_code import of_schedule
from workbench.tune.models.ranker import Group
from workbench.tune.problem import Problem
from workbench.tune.storing.database import Database
from workbench.tune.trials import fastest, merged

MOST = 8
"""Problems that are looked at, the nearest ones."""

STARTS = 3
"""Points that are tried first."""


def nearest(store: Database, problem: Problem) -> list[str]:
    """Keys of problems of the same operator on this machine, those of the most similar sizes first."""
    known = store.relatives(problem)
    return sorted(known, key=lambda key: distance(known[key], problem.sizes))[:MOST]


def distance(first: Mapping[str, Any], second: Mapping[str, int]) -> float:
    """How far sizes are apart: the sum of their ratios' logarithms.

    >>> distance({"N": 128, "M": 100}, {"N": 512, "M": 100})
    2.0
    """
    total = 0.0
    for name, size in second.items():
        other = first.get(name)
        good = isinstance(other, int) and other > 0 and size > 0
        total += abs(log2(size / other)) if good else 64.0  # type: ignore[operator]
    return total


def others(store: Database, problem: Problem) -> list[Group]:
    """Trials of other sizes, as groups that a ranker learns from."""
    found = []
    for key in nearest(store, problem):
        own = [t for t in merged(store.of_problem(key)) if t.features and t.outcome != "illegal"]
        rows = [of_schedule(t.features or {}) for t in own]
        found.append(Group.of(rows, [t.score for t in own]))
    return found


def starts(store: Database, problem: Problem, space: Space) -> list[Point]:
    """Points of this space that are nearest to the best ones at other sizes."""
    found: list[Point] = []
    for key in nearest(store, problem):
        best = fastest(t for t in merged(store.of_problem(key)) if t.source == "search")
        if best is None or not {d.name for d in space.decisions} & {*best.point}:
            continue
        point = {d.name: _nearest_option(d, best.point.get(d.name, d.options[0])) for d in space.decisions}
        if point not in found and all(c.holds(point) for c in space.constraints):
            found.append(point)
    return found[:STARTS]


def _nearest_option(decision: Decision, wanted: Any) -> Any:
    """The option itself, as JSON gives it back, the nearest number, or the default."""
    option = decision.restored(wanted)
    if any(option is own for own in decision.options):
        return option
    if decision.ordered and isinstance(wanted, int | float) and not isinstance(wanted, bool):
        return min(decision.options, key=lambda option: abs(option - wanted))
    return decision.options[0]
