"""The little geometry that pictures of integer points need."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd
from typing import TypeVar

Cell = tuple[int, int]
Spot = TypeVar("Spot", tuple[int, int], tuple[float, float])


def hull(cells: Iterable[Spot]) -> tuple[Spot, ...]:
    """Corners of the convex hull, in order around it (Andrew's monotone chain).

    >>> hull([(0, 0), (1, 1), (2, 2), (2, 0), (1, 0)])
    ((0, 0), (2, 0), (2, 2))
    """
    points = sorted(set(cells))
    if len(points) < 3:
        return tuple(points)
    lower, upper = _chain(points), _chain(reversed(points))
    return (*lower[:-1], *upper[:-1])


def _chain(points: Iterable[Spot]) -> list[Spot]:
    found: list[Spot] = []
    for p in points:
        while len(found) > 1 and _turn(found[-2], found[-1], p) <= 0:
            found.pop()
        found.append(p)
    return found


def _turn(a: Spot, b: Spot, c: Spot) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def lattice_points(corners: tuple[Cell, ...]) -> int:
    """Number of integer points in a convex polygon with integer corners (Pick's theorem).

    >>> lattice_points(((0, 0), (2, 0), (2, 2)))
    6
    """
    if len(corners) < 2:
        return len(corners)
    edges = list(zip(corners, corners[1:] + corners[:1], strict=True))
    border = sum(gcd(b[0] - a[0], b[1] - a[1]) for a, b in edges)
    if len(corners) == 2:
        return border // 2 + 1
    doubled = abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in edges))
    return (doubled + border) // 2 + 1


def is_convex(cells: Iterable[Cell]) -> bool:
    """Whether the cells are all the integer points of their hull, so that its outline tells the truth."""
    own = set(cells)
    return bool(own) and lattice_points(hull(own)) == len(own)
