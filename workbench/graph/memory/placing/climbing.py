"""Hill climbing over the orders of placement: for arenas that best fit leaves above what is needed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import monotonic

from workbench.graph.memory.placing.fitting import Bases, Puzzle, lowered_bodies, lowest_gap, placed, tightest_gap
from workbench.graph.memory.placing.shapes import height

SEED = 20
MOST_PLACED = 60_000


def climbed(
    given: Puzzle, bases: Bases, seconds: float, *, most: int = MOST_PLACED, clock: Callable[[], float] = monotonic
) -> Bases:
    """Bases at least as good: bodies at the top are placed earlier, others swapped, and what is no worse is kept.

    Ends when the bound is reached, after so many seconds, or when `most` bodies were placed anew; what it tries is the
    same in every run.
    """
    random, end = Random(SEED), clock() + seconds
    order = sorted(range(len(bases)), key=lambda i: bases[i])
    best, current, lines = bases, bases, given.lines(bases)
    for attempt in range(most // max(1, len(bases))):
        if given.lines(best) <= given.bound or len(order) < 2 or clock() > end:
            break
        moved = _moved(given, order, current, random)
        found = placed(given, moved, tightest_gap if attempt % 2 else lowest_gap)
        if (reached := given.lines(found)) <= lines:
            order, current, lines = moved, found, reached
            best = min(best, found, key=given.lines)
    return lowered_bodies(given, best)


def _moved(given: Puzzle, order: list[int], bases: Bases, random: Random) -> list[int]:
    """An order with one change."""
    changed = list(order)
    if random.random() < 0.5:
        a, b = random.sample(range(len(order)), 2)
        changed[a], changed[b] = changed[b], changed[a]
        return changed
    top = given.lines(bases)
    highest = [i for i in order if bases[i] + height(given.shapes[i]) == top]
    chosen = random.choice(highest)
    at = changed.index(chosen)
    changed.insert(random.randrange(at + 1), changed.pop(at))
    return changed
