"""The smallest arena there is, as a mixed-integer program: for few bodies that best fit leaves above the bound.

Of two bodies that must keep away from each other the one lies below or above a forbidden interval: a binary variable
for each interval.  SciPy's `milp` (HiGHS) solves it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.graph.memory.placing.fitting import Bases, Puzzle, placed
from workbench.graph.memory.placing.shapes import height

MOST_BODIES = 30
MOST_CHOICES = 600


def is_small(given: Puzzle) -> bool:
    """Whether solving it exactly may be worth a try."""
    return len(given.shapes) <= MOST_BODIES and len(_choices(given)) <= MOST_CHOICES


def solved(given: Puzzle, bases: Bases, seconds: float) -> Bases:
    """Bases of the smallest arena, or the given ones where they are proved best or the seconds end before."""
    from scipy.optimize import LinearConstraint, milp

    lines, choices = given.lines(bases), _choices(given)
    if lines <= given.bound:
        return bases
    bodies = len(given.shapes)
    rows, limits = _rows(given, choices, lines)
    size = bodies + 1 + len(choices)
    upper = np.ones(size)
    upper[: bodies + 1] = lines - 1
    lower = np.zeros(size)
    lower[bodies] = given.bound
    found = milp(
        c=np.eye(1, size, bodies)[0],
        integrality=np.r_[np.zeros(bodies + 1), np.ones(len(choices))],
        bounds=_between(lower, upper),
        constraints=LinearConstraint(rows, -np.inf, limits),
        options={"time_limit": seconds},
    )
    return bases if found.x is None else _whole(given, found.x[:bodies], bases)


def _between(lower: Any, upper: Any) -> Any:
    from scipy.optimize import Bounds

    return Bounds(lower, upper)


def _choices(given: Puzzle) -> list[tuple[int, int, int, int]]:
    """(own, other, low, high): own base - other base is at most `low` or at least `high`."""
    return [
        (own, other, low, high)
        for own, away in enumerate(given.away)
        for other, gaps in away
        if other < own
        for low, high in gaps
    ]


def _rows(given: Puzzle, choices: list[tuple[int, int, int, int]], lines: int) -> tuple[Any, Any]:
    """The constraints `rows @ x <= limits` on bases, the arena, and a choice for each interval."""
    from scipy.sparse import coo_array

    bodies, entries, limits = len(given.shapes), [], []
    for own, shape in enumerate(given.shapes):
        entries += [(len(limits), own, 1), (len(limits), bodies, -1)]
        limits.append(-height(shape))
    for number, (own, other, low, high) in enumerate(choices, bodies + 1):
        above, below = lines + high, lines - low
        entries += [(len(limits), own, 1), (len(limits), other, -1), (len(limits), number, -below)]
        limits.append(low)
        entries += [(len(limits), own, -1), (len(limits), other, 1), (len(limits), number, above)]
        limits.append(above - high)
    row, column, value = zip(*entries, strict=True)
    shape = (len(limits), bodies + 1 + len(choices))
    return coo_array((value, (row, column)), shape=shape).tocsr(), np.array(limits, dtype=float)


def _whole(given: Puzzle, found: Any, bases: Bases) -> Bases:
    """Whole lines: the bodies placed anew in the order of the solution, unless that undoes it."""
    rounded = tuple(round(x) for x in found)
    lower = placed(given, sorted(range(len(rounded)), key=lambda i: found[i]))
    sound = [b for b in (rounded, lower) if _is_sound(given, b)]
    return min([bases, *sound], key=given.lines)


def _is_sound(given: Puzzle, bases: Bases) -> bool:
    return min(bases) >= 0 and not any(
        low < bases[own] - bases[other] < high for own, other, low, high in _choices(given)
    )
