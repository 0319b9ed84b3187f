"""Calls of a recording that do not wait for one another, and are better run each by a thread of its own."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.graph.running.recording.recordings import RecordedCall, Recording, Value
from workbench.schedules.analysis.thread_shares import ThreadShares

Beside = tuple[tuple[RecordedCall, ...], ...]
MOST = 32
"""Of a group."""
GAIN = 0.8
"""The part of the time that must be left: what calls take is known only roughly."""


def parallel_groups(
    recording: Recording, shares: Mapping[RecordedCall, ThreadShares], threads: int, region_seconds: float
) -> Beside:
    """Groups of at most so many calls, each for one thread, where that is faster than one after the other on all.

    A recurrence keeps one thread busy, and threads that wait for it nothing: two of them, as in a layer of both
    directions, take the time of one.  Calls of a group are at one level, so that nothing waits for itself.
    """
    if threads < 2:
        return ()
    levels: dict[int, list[RecordedCall]] = {}
    for call, level in _levels(recording).items():
        if call in shares and shares[call].alone > region_seconds:
            levels.setdefault(level, []).append(call)
    found: list[tuple[RecordedCall, ...]] = []
    for calls in levels.values():
        calls.sort(key=lambda call: -shares[call].seconds(1))
        size = min(threads, MOST)
        groups = [tuple(calls[at : at + size]) for at in range(0, len(calls), size)]
        found += [group for group in groups if _pays([shares[call] for call in group], threads, region_seconds)]
    return tuple(found)


def _pays(own: list[ThreadShares], threads: int, region_seconds: float) -> bool:
    together = max(each.seconds(1) for each in own) + region_seconds
    return len(own) > 1 and together < GAIN * sum(each.seconds(threads) for each in own)


def _levels(recording: Recording) -> dict[RecordedCall, int]:
    """How many calls each waits for in a row."""
    made: dict[Value, int] = {}
    found: dict[RecordedCall, int] = {}
    for call in recording.calls:
        found[call] = 1 + max((made.get(value, 0) for value in call.reads), default=0)
        made |= dict.fromkeys(call.results, found[call])
    return found
