"""Offsets by best fit: bodies are placed one after the other, each into the gap that it fills best.

Several orders are tried (by size, by duration, by what they keep away from, the busiest step first: Pisarchyk and Lee,
"Efficient memory management for deep neural net inference", 2020), and both the tightest and the lowest gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from workbench.graph.memory.placing.shapes import Gaps, Shape, forbidden, height, live_lines
from workbench.records import record

Bases = tuple[int, ...]
"""The first line of every body."""


@record(eq=False)
class Puzzle:
    """Shapes to be placed over so many steps; `away` are the forbidden distances, `bound` lines that are needed."""

    shapes: tuple[Shape, ...]
    away: tuple[list[tuple[int, Gaps]], ...]
    bound: int

    def lines(self, bases: Bases) -> int:
        """How many lines an arena has that holds the bodies at these places."""
        return max((base + height(shape) for base, shape in zip(bases, self.shapes, strict=True)), default=0)


def puzzle(shapes: Sequence[Shape], steps: int) -> Puzzle:
    """The shapes with what follows from them."""
    return Puzzle(tuple(shapes), tuple(forbidden(shapes)), max(live_lines(shapes, steps), default=0))


def lowest_gap(gaps: Gaps) -> int:
    """The lowest base outside of all intervals, which are sorted."""
    base = 0
    for low, high in gaps:
        if low >= base:
            return base
        base = max(base, high)
    return base


def tightest_gap(gaps: Gaps) -> int:
    """The base between intervals that leaves least free; above all of them if it fits nowhere else."""
    base, best, least = 0, None, 0
    for low, high in gaps:
        if low >= base and (best is None or low - base < least):
            best, least = base, low - base
        base = max(base, high)
    return base if best is None else best


Fit = Callable[[Gaps], int]


def placed(given: Puzzle, order: Sequence[int], fit: Fit = lowest_gap) -> Bases:
    """Bases of the bodies when they are placed in this order."""
    bases: list[int | None] = [None] * len(given.shapes)
    for own in order:
        gaps: Gaps = []
        for other, spans in given.away[own]:
            base = bases[other]
            if base is not None:
                gaps += [(base + low, base + high) for low, high in spans]
        gaps.sort()
        bases[own] = fit(gaps)
    return tuple(base or 0 for base in bases)


def orders(given: Puzzle) -> Iterator[list[int]]:
    """Orders worth trying, each by a property of the bodies, the greatest first."""
    every = range(len(given.shapes))
    heights, areas = [height(s) for s in given.shapes], [_area(s) for s in given.shapes]
    lasting = [max((r.last - r.first for r in s), default=0) for s in given.shapes]
    crowd = [sum(heights[other] for other, _ in given.away[own]) for own in every]
    start = [min((r.first for r in s), default=0) for s in given.shapes]
    for key in (
        lambda i: (-heights[i], -lasting[i]),
        lambda i: (-areas[i], -heights[i]),
        lambda i: (-lasting[i], -heights[i]),
        lambda i: (-crowd[i], -heights[i]),
        lambda i: (start[i], -heights[i]),
    ):
        yield sorted(every, key=key)
    yield _busiest_first(given, heights)


def _area(shape: Shape) -> int:
    return sum((r.high - r.low) * (r.last - r.first + 1) for r in shape)


def _busiest_first(given: Puzzle, heights: list[int]) -> list[int]:
    """Bodies that live at the busiest step first, then those of the next."""
    last = max((r.last for s in given.shapes for r in s), default=0)
    total = live_lines(given.shapes, last)
    busy = [max((total[t] for r in s for t in range(r.first, r.last + 1)), default=0) for s in given.shapes]
    return sorted(range(len(heights)), key=lambda i: (-busy[i], -heights[i]))


def lowered_bodies(given: Puzzle, bases: Bases) -> Bases:
    """The same arrangement with every body as low as it goes; unchanged where that would be no better."""
    lower = placed(given, sorted(range(len(bases)), key=lambda i: bases[i]))
    return min(bases, lower, key=given.lines)


def best_fit(given: Puzzle) -> Bases:
    """The best bases found by placing in any of the orders."""
    best: Bases | None = None
    for order, fit in product(orders(given), (tightest_gap, lowest_gap)):
        bases = lowered_bodies(given, placed(given, order, fit))
        best = bases if best is None else min(best, bases, key=given.lines)
        if given.lines(best) == given.bound:
            break
    return best or ()
