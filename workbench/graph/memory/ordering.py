"""Another order of the steps that needs less memory at its worst moment.

What is alive depends only on the set of steps that have run, so orders are paths through sets.  Few sets: a search for
the best path, with the largest moment as its length (dynamic programming over sets: Ahn et al., "Ordering chaos:
memory-aware scheduling of irregularly wired neural networks for edge devices", MLSys 2020).  Many: a beam of sets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple

from workbench.graph.memory.lifetimes import Lifetimes
from workbench.records import record

MOST_SETS = 20_000
BEAM = 24


class _State(NamedTuple):
    """The largest moment so far, bytes alive now, the steps that have run (a bit each), and in which order."""

    peak: int
    live: int
    done: int
    order: tuple[int, ...]


@record
class _Moments:
    """How much memory each step needs after a set of others."""

    lifetimes: Lifetimes
    sharing: bool

    @cached_property
    def holder(self) -> dict[str, str]:
        """Buffer in the arena → the buffer whose bytes it has (itself, or what it is a view of)."""
        found: dict[str, str] = {}
        for name in self.lifetimes.lives:
            view = self.lifetimes.views.get(name)
            found[name] = found[view.input] if view else name
        return found

    @cached_property
    def readers(self) -> dict[str, int]:
        """Holder → the steps that read it (bits); -1, all there could ever be, for results."""
        found = dict.fromkeys(self.holder.values(), 0)
        for at, step in enumerate(self.lifetimes.steps):
            for name in {*step.reads, *step.writes} & self.holder.keys():
                found[self.holder[name]] |= 1 << at
        results = {self.holder[b.name] for b in self.lifetimes.buffers if b.place == "result" and b.name in self.holder}
        return found | dict.fromkeys(results, -1)

    @cached_property
    def before(self) -> list[int]:
        """For each step the bits of those that must have run."""
        return [sum(1 << p for p in them) for them in self.lifetimes.predecessors]

    @cached_property
    def needs(self) -> list[tuple[int, list[tuple[int, int]], list[tuple[str, int, int]]]]:
        """For each step: bytes it writes, and (bytes, readers) of what it touches, and what it may take over."""
        return [self._need(at) for at in range(len(self.lifetimes.steps))]

    def _need(self, at: int) -> tuple[int, list[tuple[int, int]], list[tuple[str, int, int]]]:
        step, size = self.lifetimes.steps[at], self._size
        own = [name for name in step.writes if self.holder.get(name) == name]
        touched = {self.holder[name] for name in (*step.reads, *step.writes) if name in self.holder}
        shares = [] if not self.sharing else [
            (s.output if s.kind == "overwrite" else s.input, min(size(s.output), size(s.input)), self.readers[held])
            for s in step.shares
            if s.kind != "view" and s.output in self.holder and (held := self.holder.get(s.input)) is not None
            if s.kind == "part" or Counter(self.holder.get(name) for name in step.reads)[held] == 1
        ]  # fmt: skip
        return sum(map(size, own)), [(size(name), self.readers[name]) for name in touched], shares

    def _size(self, name: str) -> int:
        size = self.lifetimes.by_name[name].size
        assert isinstance(size, int)
        return size

    def after(self, state: _State, at: int) -> _State:
        """The state when a step has run too."""
        written, touched, shares = self.needs[at]
        done = state.done | 1 << at
        saved = {key: size for key, size, readers in shares if not readers & ~done}
        moment = state.live + written - min(written, sum(saved.values()))
        left = state.live + written - sum(size for size, readers in touched if not readers & ~done)
        return _State(max(state.peak, moment), left, done, (*state.order, at))

    def ready(self, done: int) -> Iterable[int]:
        """Steps that may come next."""
        return (at for at, before in enumerate(self.before) if not done >> at & 1 and not before & ~done)

    def eager(self, state: _State, floor: int) -> _State:
        """Run whatever leaves no more alive than before and has no larger moment than there was, or will be: doing it
        at once is never worse.
        """
        while True:
            for at in self.ready(state.done):
                found = self.after(state, at)
                if found.live <= state.live and found.peak <= max(state.peak, floor):
                    state = found
                    break
            else:
                return state


def searched(lifetimes: Lifetimes, *, sharing: bool = True, most: int = MOST_SETS, beam: int = BEAM) -> tuple[int, ...]:
    """An order of the steps (their numbers) whose largest moment is as small as was found, never above the given one's.

    The best there is if at most so many sets of steps had to be looked at.  Sizes are numbers.
    """
    moments = _Moments(lifetimes, sharing)
    given = tuple(range(len(lifetimes.steps)))
    limit = peak(moments, given)
    floor = max((sum(size for size, _ in touched) - _saved(shares) for _, touched, shares in moments.needs), default=0)
    if limit <= floor:
        return given
    found = _best_path(moments, floor, limit, most) or _beam(moments, floor, beam)
    return found.order if found.peak < limit else given


def _saved(shares: list[tuple[str, int, int]]) -> int:
    return sum({key: size for key, size, _ in shares}.values())


def peak(moments: _Moments, order: Iterable[int]) -> int:
    """The largest moment of an order, in bytes."""
    state = _State(0, 0, 0, ())
    for at in order:
        state = moments.after(state, at)
    return state.peak


def _best_path(moments: _Moments, floor: int, limit: int, most: int) -> _State | None:
    """The path whose largest moment is least; None if more sets would have to be looked at."""
    every = (1 << len(moments.before)) - 1
    first = moments.eager(_State(0, 0, 0, ()), floor)
    waiting, seen = [(first.peak, -first.done.bit_count(), first)], {first.done: first.peak}
    for _ in range(most):
        if not waiting:
            return _State(limit, 0, every, tuple(range(len(moments.before))))
        state = heappop(waiting)[-1]
        if state.done == every:
            return state
        for at in moments.ready(state.done):
            found = moments.eager(moments.after(state, at), floor)
            if found.peak < min(seen.get(found.done, limit), limit):
                seen[found.done] = found.peak
                heappush(waiting, (found.peak, -found.done.bit_count(), found))
    return None


def _beam(moments: _Moments, floor: int, width: int) -> _State:
    """A good path: of the sets that can follow, the `width` with the smallest moments are kept."""
    every = (1 << len(moments.before)) - 1
    states, ended = [moments.eager(_State(0, 0, 0, ()), floor)], []
    while states:
        following: dict[int, _State] = {}
        for state in states:
            for at in moments.ready(state.done):
                found = moments.eager(moments.after(state, at), floor)
                following[found.done] = min(found, following.get(found.done, found))
        ended += [state for state in following.values() if state.done == every]
        states = sorted(s for s in following.values() if s.done != every)[:width]
    return min(ended)
