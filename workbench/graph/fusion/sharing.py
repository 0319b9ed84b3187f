"""What a group of calls need not keep in memory: values whose makers and users can share loops, and how deep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workbench.graph.fusion.call_graph import CallGraph, Slot, operator_of
from workbench.graph.fusion.loop_axes import Link, LoopAxes, Touch
from workbench.graph.terms.nodes import Call
from workbench.graph.typing.signatures import signature
from workbench.records import record

Node = tuple[Call, str]
"""A statement of a call."""

Loops = Mapping[Node, str]
"""One loop that statements share: the dimension of each."""


@record(eq=False)
class Shared:
    """A value between two calls of a group, and what its makers and users have in common.

    `axes` are the axes along which they can walk together, by place, with the dimension of every statement concerned.
    `reused` says that some user reads a cell again and again in loops that it does not share.
    """

    slot: Slot
    axes: Mapping[int, Loops]
    nodes: frozenset[Node]
    inlines: bool
    reused: bool


@dataclass(eq=False)
class StatementGraph:
    """The statements of a group of calls, and which must come after which."""

    graph: CallGraph
    calls: Sequence[Call]
    facts: Mapping[Call, LoopAxes]
    after: dict[Node, list[tuple[Node, Link]]] = field(default_factory=dict)
    before: dict[Node, list[Node]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = set(self.calls)
        for call in self.calls:
            for link in self.facts[call].links:
                self._put((call, link.source), (call, link.target), link)
            for slot in self.graph.results(call):
                for reader, at in self.graph.readers[slot]:
                    if reader in own:
                        self._join(slot, reader, at)

    def _join(self, slot: Slot, reader: Call, at: int) -> None:
        for write in self.written(slot):
            for read in self.read(reader, at):
                pairs = zip(write.axes, read.axes, strict=True) if len(write.axes) == len(read.axes) else ()
                equal = frozenset((a, b) for a, b in pairs if a is not None and b is not None)
                link = Link(write.statement, read.statement, equal)
                self._put((slot[0], write.statement), (reader, read.statement), link)

    def _put(self, source: Node, target: Node, link: Link) -> None:
        self.after.setdefault(source, []).append((target, link))
        self.before.setdefault(target, []).append(source)

    def written(self, slot: Slot) -> tuple[Touch, ...]:
        """The writes of a result."""
        call, at = slot
        return self.facts[call].writes.get(operator_of(call).outputs[at], ())

    def read(self, call: Call, at: int) -> tuple[Touch, ...]:
        """The reads of an argument."""
        return self.facts[call].reads.get(signature(operator_of(call)).parameters[at].name, ())

    def reads_of(self, slot: Slot) -> list[tuple[Call, Touch]]:
        """Who in the group reads a result."""
        own = set(self.calls)
        readers = [(reader, at) for reader, at in self.graph.readers[slot] if reader in own]
        return [(reader, touch) for reader, at in readers for touch in self.read(reader, at)]

    # --- one value

    def shared(self, slot: Slot) -> Shared:
        """What the makers and users of a value can share."""
        writes, users = self.written(slot), self.reads_of(slot)
        makers = [(slot[0], each.statement) for each in writes]
        ends = [(reader, each.statement) for reader, each in users]
        between = self._between(makers, ends)
        rank = len(writes[0].axes) if writes else 0
        found = {}
        for axis in range(rank):
            loops = self._loops({node: each.axes[axis] for node, each in zip(makers, writes, strict=True)}, between)
            if loops is not None:
                found[axis] = loops
        pure = len(makers) == 1 and makers[0][1] in self.facts[slot[0]].pure and slot not in self.graph.outside
        once = len(users) == 1 and users[0][1].once
        return Shared(slot, found, frozenset(between), pure and once, any(not each.once for _, each in users))

    def _between(self, makers: Iterable[Node], ends: Iterable[Node]) -> set[Node]:
        """The statements on the ways from makers to users, both included."""
        forward = _reached(makers, lambda node: (target for target, _ in self.after.get(node, ())))
        backward = _reached(ends, lambda node: self.before.get(node, ()))
        return {*makers, *ends} | (forward & backward)

    def _loops(self, start: Mapping[Node, str | None], within: set[Node]) -> Loops | None:
        """The loop of every statement that goes along with those of the makers; None if some cannot."""
        if None in start.values():
            return None
        loops: dict[Node, str] = {node: dim for node, dim in start.items() if dim is not None}
        waiting = list(loops)
        while waiting:
            node = waiting.pop()
            for target, link in self.after.get(node, ()):
                if target not in within:
                    continue
                if target not in loops:
                    dim = next((b for a, b in link.equal if a == loops[node]), None)
                    if dim is None:
                        return None
                    loops[target] = dim
                    waiting.append(target)
                elif (loops[node], loops[target]) not in link.equal:
                    return None
        return loops if loops.keys() == within else None


def _reached(start: Iterable[Node], following) -> set[Node]:  # type: ignore[no-untyped-def]
    found, waiting = set(start), list(start)
    while waiting:
        for node in following(waiting.pop()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found
