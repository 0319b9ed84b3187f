"""`MemoryPlan`: where in the arena every buffer lies, and the arena over time as data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from workbench.graph.memory import byte_counts
from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.steps import Share
from workbench.records import record


@record
class Placed:
    """A buffer in the arena: its bytes from `offset` on, between two steps, both inclusive."""

    buffer: str
    offset: int
    size: int
    first: int
    last: int

    @property
    def end(self) -> int:
        """The byte after its last."""
        return self.offset + self.size


@record
class MemoryPlan:
    """Offsets in one arena of `bytes` bytes for every buffer that is not outside.

    `lifetimes` has the steps in the order for which the plan is made.  `planner` says how it was found, `needed_bytes`
    how many bytes are alive at the worst moment: no arena with this sharing and this order is smaller.
    """

    lifetimes: Lifetimes
    places: tuple[Placed, ...]
    bytes: int
    alignment: int
    planner: str
    needed_bytes: int

    @cached_property
    def offsets(self) -> dict[str, int]:
        """Buffer → its first byte in the arena."""
        return {place.buffer: place.offset for place in self.places}

    @cached_property
    def taken(self) -> tuple[Share, ...]:
        """The shares that the places realise; what a "part" need not copy and an "overwrite" reads while it writes."""
        offsets = self.offsets
        return tuple(
            share
            for step in self.lifetimes.steps
            for share in step.shares
            if share.output in offsets and share.input in offsets
            if offsets[share.output] + byte_counts.at_sizes(share.offset, {}) == offsets[share.input]
        )

    @cached_property
    def live_bytes(self) -> tuple[int, ...]:
        """For each step the bytes of the arena that are in use while it runs, shared ones once."""
        return tuple(
            covered(sorted((p.offset, p.end) for p in self.places if p.first <= at <= p.last))
            for at in range(len(self.lifetimes.steps))
        )

    @property
    def outside_bytes(self) -> int:
        """Bytes of the buffers outside the arena: parameters, constants, arguments."""
        return sum(byte_counts.at_sizes(b.size, {}) for b in self.lifetimes.buffers if b.place == "outside")

    def __str__(self) -> str:
        share = f"{self.needed_bytes / self.bytes:.1%}" if self.bytes else "all"
        head = (
            f"arena of {self.bytes} bytes for {len(self.places)} buffers ({self.planner}, alignment {self.alignment})"
        )
        lines = [head, f"  needed at the worst moment: {self.needed_bytes} bytes, {share} of it"]
        width = max((len(p.buffer) for p in self.places), default=0)
        digits = len(str(self.bytes))
        steps = [step.name for step in self.lifetimes.steps] + ["end"]
        lines += [
            f"  {p.buffer:{width}}  {p.offset:{digits}} .. {p.end:{digits}}  {steps[p.first]} .. {steps[p.last]}"
            for p in self.places
        ]
        return "\n".join(lines + [f"  {s.output} {_WORDS[s.kind]} {s.input}" for s in self.taken])


_WORDS = {"view": "is a view of", "part": "contains", "overwrite": "overwrites"}


def covered(spans: Sequence[tuple[int, int]]) -> int:
    """The length of a union of intervals that are sorted."""
    total = reached = 0
    for low, high in spans:
        total += max(0, high - max(low, reached))
        reached = max(reached, high)
    return total
