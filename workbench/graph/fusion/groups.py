"""Which calls become one, and why others do not: what both rules give."""

from __future__ import annotations

from workbench.graph.fusion.call_graph import Slot
from workbench.graph.memory.byte_counts import Bytes
from workbench.graph.terms.nodes import Call
from workbench.records import record


@record(eq=False)
class Refusal:
    """A result that stays between two kernels, and why."""

    producer: Call
    consumer: Call
    reason: str


@record(eq=False)
class Kept:
    """A value between calls of a group that does not go through memory: it stays in `where`, and has so many bytes."""

    slot: Slot
    bytes: Bytes
    where: str


@record(eq=False)
class Grouping:
    """Groups of the calls of one scope, each in an order in which it can be computed, and the cuts between them.

    `kept` are the values of each group that stay out of memory, where the rule knows.
    """

    groups: tuple[tuple[Call, ...], ...]
    refusals: tuple[Refusal, ...]
    kept: tuple[tuple[Kept, ...], ...] = ()
