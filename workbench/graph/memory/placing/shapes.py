"""Bodies as rectangles of steps × lines of memory, and which distances between two of them are forbidden.

A line has `alignment` bytes: every buffer begins at one, so offsets are counted in lines while a plan is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from workbench.graph.memory.bodies import Body
from workbench.graph.memory.byte_counts import at_sizes
from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.plans import covered

Gaps = list[tuple[int, int]]


class Rectangle(NamedTuple):
    """One member: alive from step `first` to `last`, both inclusive, in lines `low` up to, not with, `high`."""

    first: int
    last: int
    low: int
    high: int


Shape = tuple[Rectangle, ...]


def body_shapes(lifetimes: Lifetimes, bodies: Iterable[Body], alignment: int) -> list[Shape]:
    """The shape of every body, for sizes that are numbers; members without a byte are left out."""
    return [tuple(_rectangles(lifetimes, body, alignment)) for body in bodies]


def _rectangles(lifetimes: Lifetimes, body: Body, alignment: int) -> Iterable[Rectangle]:
    for name, inner in body.members:
        size = lifetimes.by_name[name].size
        assert isinstance(size, int)
        assert isinstance(inner, int)
        if size:
            yield Rectangle(*lifetimes.lives[name], inner // alignment, -(-(inner + size) // alignment))


def bodies_at(bodies: Iterable[Body], sizes: Mapping[str, int]) -> list[Body]:
    """The bodies with numbers for the distances of their members."""
    return [Body(tuple((name, at_sizes(inner, sizes)) for name, inner in body.members)) for body in bodies]


def height(shape: Shape) -> int:
    """Lines from the body's first to its last."""
    return max((r.high for r in shape), default=0)


def live_lines(shapes: Iterable[Shape], steps: int) -> list[int]:
    """Lines that are in use at each step, however they are placed; the last entry is after the last step."""
    total = [0] * (steps + 1)
    for shape in filter(None, shapes):
        for step in range(min(r.first for r in shape), max(r.last for r in shape) + 1):
            total[step] += covered(sorted((r.low, r.high) for r in shape if r.first <= step <= r.last))
    return total


def forbidden(shapes: Sequence[Shape]) -> list[list[tuple[int, Gaps]]]:
    """For each body: others that it must keep away from, with the open intervals in which `own base - its base`
    must not lie.
    """
    found: list[list[tuple[int, Gaps]]] = [[] for _ in shapes]
    start = [min((r.first for r in s), default=0) for s in shapes]
    end = [max((r.last for r in s), default=-1) for s in shapes]
    alive: list[int] = []
    for own in sorted(range(len(shapes)), key=lambda i: start[i]):
        alive = [other for other in alive if end[other] >= start[own]]
        for other in alive:
            if gaps := _gaps(shapes[own], shapes[other]):
                found[own].append((other, gaps))
                found[other].append((own, [(-high, -low) for low, high in reversed(gaps)]))
        alive.append(own)
    return found


def _gaps(shape: Shape, other: Shape) -> Gaps:
    """Intervals of distances at which members that live together would overlap, merged."""
    spans = sorted(
        (q.low - p.high, q.high - p.low) for p in shape for q in other if p.first <= q.last and q.first <= p.last
    )
    merged: Gaps = []
    for low, high in spans:
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged
