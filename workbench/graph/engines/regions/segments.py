"""Segments: runs of the calls of a block, so few that all can be measured, cut where little crosses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from workbench.graph.engines.regions.blocks import Block, Mask
from workbench.graph.memory.ordering import bits

FINE = 16
"""Calls up to which each is a segment by itself."""
MOST = 12
"""Segments of a larger block, about."""


def segments(block: Block, seconds: Sequence[float]) -> list[Mask]:
    """The calls of a block in order, in runs; `seconds` is what each call costs on the host.

    A run ends where the fewest values wait for what comes after, as soon as it has about its share of the time: so a
    border between engines moves little, and no part is so long that it hides another.
    """
    places = [at for at, node in enumerate(block.nodes) if node in block.sites]
    if len(places) <= FINE:
        return [1 << at for at in places]
    waiting, share = _waiting(block, places), sum(seconds) / MOST
    found, begin = [], 0
    while begin < len(places):
        end = _end(waiting, seconds, begin, share)
        found.append(sum(1 << at for at in places[begin:end]))
        begin = end
    return found


def _end(waiting: Sequence[int], seconds: Sequence[float], begin: int, share: float) -> int:
    """Where the run ends that begins here."""
    ends = []
    for end, spent in enumerate(accumulate(seconds[begin:]), begin + 1):
        if spent >= share / 2:
            ends.append((waiting[end - 1], abs(spent - share), end))
        if spent >= 1.5 * share:
            break
    return min(ends)[2] if ends else len(waiting)


def _waiting(block: Block, places: Sequence[int]) -> list[int]:
    """How many values there are, after each call, that something behind it needs."""
    last = [max(bits(sum(1 << user for user in _users(block, at))), default=at) for at in range(len(block.nodes))]
    return [sum(each > at for each in last[: at + 1]) for at in places]


def _users(block: Block, at: int) -> list[int]:
    return [user for user, mask in enumerate(block.direct) if mask >> at & 1]
