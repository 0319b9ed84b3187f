"""How many cache lines loops touch, by the strides with which they walk through an array."""

from __future__ import annotations

from functools import lru_cache
from math import gcd, prod

PAGE = 4096
"""Lines whose addresses differ by a multiple of a page share a set of a first cache."""

CROWD = 6
"""Lines that a set of a first cache holds beside others."""

Moves = tuple[tuple[int | None, int], ...]
"""Stride and trip of each loop, outermost first."""


@lru_cache(maxsize=1 << 14)
def touched_lines(moves: Moves, size: int, line: int) -> tuple[int, int]:
    """(lines of elements of a size that loops touch, the same counted for a crowded cache)."""
    irregular, length, levels = _pieces(moves, line // size)
    run = -(-length * size // line)
    lines, sets = run * prod(count for _, count in levels), PAGE // line
    covered = min(sets, run)
    for stride, count in levels[1:]:
        step, rest = divmod(stride * size, line)
        covered = min(sets, covered * min(count, sets if rest else sets // gcd(sets, step)))
    crowd = sets // covered if lines > CROWD * covered and irregular == 1 else 1
    return irregular * lines, irregular * lines * crowd


def _pieces(moves: Moves, near: int) -> tuple[int, int, list[tuple[int, int]]]:
    """(cells found by data, elements of a piece that is together, strides and counts of pieces) of loops with these
    strides and trips; what is at most `near` elements apart is together.

    Loops are taken by stride: what is close together is one piece, and windows that overlap count once.
    """
    irregular = prod(trip for s, trip in moves if s is None)
    length, levels = 1, [(1, 1)]
    for stride, trip in sorted((abs(s), trip) for s, trip in moves if s and trip > 1):
        if stride <= max(length, near, 1):
            length += stride * (trip - 1)
            continue
        own, count = levels[-1]
        if len(levels) > 1 and stride < own * count:
            levels[-1] = own, count + -(-stride * (trip - 1) // own)
        else:
            levels.append((stride, trip))
    return max(1, irregular), length, levels
