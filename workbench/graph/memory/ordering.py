"""Another order of the steps that needs less memory at its worst moment.

What is alive depends only on the set of steps that have run, so orders are paths through sets.  Few sets: a search for
the best path, with the largest moment as its length (dynamic programming over sets: Ahn et al., "Ordering chaos:
memory-aware scheduling of irregularly wired neural networks for edge devices", MLSys 2020).  Many: beams of sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.moments import Moments, State

MOST_STEPS_TRIED = 40_000
NARROWEST = 4


def searched(lifetimes: Lifetimes, *, sharing: bool = True, most: int = MOST_STEPS_TRIED) -> tuple[int, ...]:
    """An order of the steps (their numbers) whose largest moment is as small as was found, never above the given one's.

    It is the best there is unless more than `most` steps had to be tried.  Sizes are numbers.
    """
    moments, given = Moments(lifetimes, sharing), tuple(range(len(lifetimes.steps)))
    limit = moments.peak(given)
    if limit <= moments.floor:
        return given
    search = _Search(moments, limit, most)
    found, width = search.best_path(), NARROWEST
    while most < search.tried <= 3 * most and search.limit > moments.floor:
        better = search.beam(width)
        if better is not None:
            found, search.limit = better, better.peak
        width *= 2
    return given if found is None else found.order


class _Search:
    """Paths through the sets of steps with moments below a limit; counts the steps it tried."""

    def __init__(self, moments: Moments, limit: int, most: int) -> None:
        self.moments, self.limit, self.most, self.tried = moments, limit, most, 0
        self.every = (1 << len(moments.before)) - 1

    def best_path(self) -> State | None:
        """The path whose largest moment is least; None if none is below the limit, or too many steps were tried."""
        first = self._eager(self.moments.start)
        waiting, seen = [(first.peak, -first.done.bit_count(), first)], {first.done: first.peak}
        while waiting and self.tried <= self.most:
            state = heappop(waiting)[-1]
            if state.done == self.every:
                return state
            for found in self._next(state):
                if found.peak < seen.get(found.done, self.limit):
                    seen[found.done] = found.peak
                    heappush(waiting, (found.peak, -found.done.bit_count(), found))
        return None

    def beam(self, width: int) -> State | None:
        """A good path: of the sets that can come next, the `width` with the smallest moments are kept."""
        states, best = [self._eager(self.moments.start)], None
        while states:
            following: dict[int, State] = {}
            for found in (found for state in states for found in self._next(state)):
                following[found.done] = min(found, following.get(found.done, found))
            ended = [state for state in following.values() if state.done == self.every]
            best = min([*ended, *([] if best is None else [best])], default=None)
            states = sorted(state for state in following.values() if state.done != self.every)[:width]
        return best

    def _next(self, state: State) -> Iterator[State]:
        """States that follow, with moments below the limit."""
        for at in bits(state.ready):
            self.tried += 1
            found = self.moments.after(state, at)
            if found.peak < self.limit:
                yield self._eager(found)

    def _eager(self, state: State) -> State:
        """Run at once what leaves no more alive than before and has no larger moment than there was, or will be: to
        wait with it is never better.
        """
        following: State | None = state
        while following is not None:
            state, following = following, None
            for at in bits(state.ready):
                self.tried += 1
                found = self.moments.after(state, at)
                if found.live <= state.live and found.peak <= max(state.peak, self.moments.floor):
                    following = found
                    break
        return state


def bits(mask: int) -> Iterator[int]:
    """The numbers of a set that is a mask, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
