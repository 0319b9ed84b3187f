"""The token planner of TVM's graph executor, the baseline: storage is requested, returned, and grows.

`GraphPlanMemory` of Apache TVM (Chen et al., OSDI 2018): tokens have an identity and a size but no offset.  The
output of a step requests its token before the inputs give theirs back.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from dataclasses import dataclass

from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.steps import Step
from workbench.records import record

MATCH_RANGE = 16
"""A free token serves if it is at most so many times smaller or larger than what is asked for."""


@record
class Tokens:
    """Sizes of the tokens in bytes, and the number of the token of every buffer in the arena."""

    sizes: tuple[int, ...]
    token_of: dict[str, int]

    @property
    def bytes(self) -> int:
        """What all tokens take together."""
        return sum(self.sizes)


@dataclass
class _Token:
    number: int
    size: int
    readers: int


def storage_tokens(lifetimes: Lifetimes) -> Tokens:
    """The tokens that TVM would make, for sizes that are numbers; what is outside the arena has none."""
    pool, readers = _Pool(), _readers(lifetimes)
    holder: dict[str, _Token] = {}
    for step in lifetimes.steps:
        inputs = [name for name in step.reads if name in readers]
        for name in step.writes:
            if name in readers:
                _give(name, lifetimes, pool, holder, readers[name])
        _release(step, inputs, pool, holder)
    return Tokens(tuple(t.size for t in pool.every), {name: t.number for name, t in holder.items()})


def _readers(lifetimes: Lifetimes) -> Counter[str]:
    """How often each buffer of the arena is read, results once more."""
    found = Counter({name: 0 for name in lifetimes.lives})
    found.update(name for step in lifetimes.steps for name in step.reads if name in found)
    found.update(b.name for b in lifetimes.buffers if b.place == "result" and b.name in found)
    return found


def _give(name: str, lifetimes: Lifetimes, pool: _Pool, holder: dict[str, _Token], readers: int) -> None:
    """A view holds on to the token of what it shows, everything else asks for one."""
    if view := lifetimes.views.get(name):
        holder[name] = holder[view.input]
        holder[name].readers += readers
        return
    size = lifetimes.by_name[name].size
    assert isinstance(size, int)
    holder[name] = pool.request(size, readers)


def _release(step: Step, inputs: list[str], pool: _Pool, holder: dict[str, _Token]) -> None:
    for name in step.writes:
        if name in holder:
            pool.check(holder[name])
    for name in inputs:
        holder[name].readers -= 1
        pool.check(holder[name])


class _Pool:
    """Every token, and the free ones by size; among equals the first that came back."""

    def __init__(self) -> None:
        self.every: list[_Token] = []
        self.free: list[tuple[int, int, _Token]] = []
        self.returned = 0

    def request(self, size: int, readers: int) -> _Token:
        """A free token that serves, grown if it must be, else a new one."""
        at = self._serving(size)
        if at is None:
            token = _Token(len(self.every), size, readers)
            self.every.append(token)
            return token
        token = self.free.pop(at)[-1]
        token.size, token.readers = max(size, token.size), readers
        return token

    def _serving(self, size: int) -> int | None:
        """The smallest free token that is large enough, else the largest that is too small; within the range."""
        middle = bisect_left(self.free, size, key=_size)
        if middle < bisect_right(self.free, size * MATCH_RANGE, key=_size):
            return middle
        return middle - 1 if middle > bisect_left(self.free, size // MATCH_RANGE, key=_size) else None

    def check(self, token: _Token) -> None:
        """Take a token back that nobody will read."""
        if token.readers == 0 and all(token is not free for _, _, free in self.free):
            self.returned += 1
            insort(self.free, (token.size, self.returned, token), key=lambda entry: entry[:2])


def _size(entry: tuple[int, int, _Token]) -> int:
    return entry[0]
