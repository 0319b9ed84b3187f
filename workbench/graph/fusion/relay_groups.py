"""Relay's groups, exactly: post-dominators, phases, one anchor a group (`FuseOps` of TVM 0.14; Roesch et al. 2019).

Arguments of a call are not wrapped into tuples here: their class does not occur, and phase 2 has nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.graph.fusion.call_graph import CallGraph, operator_of
from workbench.graph.fusion.composing import Types, type_of, why_alone
from workbench.graph.fusion.groups import Grouping, Refusal
from workbench.graph.fusion.patterns import OpPattern, op_pattern
from workbench.graph.terms.nodes import Call
from workbench.graph.terms.types import TensorType

MOST_CALLS = 256
Fits = Callable[[OpPattern, bool], bool]


@dataclass(eq=False)
class _Node:
    """A call in the tree of post-dominators, and in a group: `leader` is another node of it, or itself."""

    call: Call
    pattern: OpPattern
    parent: _Node | None = None
    depth: int = 1
    edge: OpPattern = OpPattern.OPAQUE
    leader: _Node | None = None
    size: int = 1
    whole: OpPattern = OpPattern.OPAQUE

    def root(self) -> _Node:
        """The node that stands for its group."""
        node = self
        while node.leader is not None:
            node = node.leader
        return node


def relay_groups(graph: CallGraph, types: Types) -> Grouping:
    """The groups that Relay makes of the calls of a scope."""
    return _Relay(graph, types).grouping()


class _Relay:
    def __init__(self, graph: CallGraph, types: Types) -> None:
        self.graph, self.types = graph, types
        self.nodes = {call: _Node(call, self._pattern(call)) for call in graph.calls}
        for call in reversed(graph.calls):
            self._dominate(self.nodes[call])

    def grouping(self) -> Grouping:
        """Both phases over all calls in order."""
        for node in self.nodes.values():
            node.whole = node.pattern
        for phase in (0, 1):
            for call in self.graph.calls:
                self._try(self.nodes[call], phase)
        groups: dict[_Node, list[Call]] = {}
        for node in self.nodes.values():
            groups.setdefault(node.root(), []).append(node.call)
        return Grouping(tuple(map(tuple, groups.values())), tuple(self._refusals()))

    def _pattern(self, call: Call) -> OpPattern:
        return OpPattern.OPAQUE if why_alone(call, self.graph, self.types) else op_pattern(operator_of(call))

    # --- post-dominators

    def _edges(self, node: _Node) -> list[tuple[_Node, OpPattern]]:
        """Who takes a result of a call, and the class of the edge: a broadcast from the whole shape is elementwise."""
        found = []
        for slot in self.graph.results(node.call):
            for reader, at in self.graph.readers[slot]:
                user = self.nodes[reader]
                same = self._shape(self.graph.arguments[reader][at]) == self._shape((reader, 0))
                broadcast = user.pattern == OpPattern.BROADCAST
                found.append((user, OpPattern.ELEMENTWISE if broadcast and same else user.pattern))
        return found

    def _shape(self, value: object) -> object:
        of = type_of(value, self.types)  # type: ignore[arg-type]
        return of.dims if isinstance(of, TensorType) else None

    def _dominate(self, node: _Node) -> None:
        edges = self._edges(node)
        if any(slot in self.graph.outside for slot in self.graph.results(node.call)) or not edges:
            return
        parent: _Node | None = edges[0][0]
        pattern = edges[0][1]
        for user, edge in edges[1:]:
            parent, pattern = _common(parent, user, max(pattern, edge))
        node.parent, node.edge = parent, pattern
        node.depth = parent.depth + 1 if parent is not None else 1

    # --- phases

    def _try(self, node: _Node, phase: int) -> None:
        sink = node.parent
        if node.pattern == OpPattern.OPAQUE or sink is None or node.root() is sink.root():
            return
        fits = _condition(node, phase)
        if fits is None:
            return
        between = self._between(node, sink)
        roots = {each.root() for each in (*between, node, sink)}
        if sum(each.size for each in roots) > MOST_CALLS:
            return
        if all(fits(each.root().whole, False) for each in between) and fits(sink.root().whole, True):
            for each in (*between, node):
                _merge(each.root(), sink.root())

    def _between(self, node: _Node, sink: _Node) -> list[_Node]:
        """What stands on the ways from a call to its post-dominator, both left out."""
        found: dict[_Node, None] = {}
        waiting = [user for user, _ in self._edges(node)]
        while waiting:
            each = waiting.pop()
            if each is not sink and each not in found:
                found[each] = None
                waiting += [user for user, _ in self._edges(each)]
        return list(found)

    def _refusals(self) -> list[Refusal]:
        found = []
        for node in self.nodes.values():
            for user, edge in self._edges(node):
                if node.root() is not user.root():
                    found.append(Refusal(node.call, user.call, _reason(node, user, edge)))
        return found


def _condition(node: _Node, phase: int) -> Fits | None:
    """What must hold of the groups on the way and at its end; None where the call is not tried."""
    match node.whole:
        case OpPattern.OUT_FUSABLE if phase == 0 and node.edge == OpPattern.ELEMENTWISE:
            return lambda pattern, _: pattern <= OpPattern.BROADCAST
        case OpPattern.ELEMENTWISE | OpPattern.BROADCAST if node.edge <= OpPattern.REDUCTION:
            return lambda pattern, at_end: pattern <= (OpPattern.OUT_FUSABLE if at_end else OpPattern.INJECTIVE)
        case OpPattern.INJECTIVE if phase == 1:
            return lambda pattern, _: pattern <= OpPattern.INJECTIVE
        case _:
            return None


def _common(a: _Node | None, b: _Node | None, pattern: OpPattern) -> tuple[_Node | None, OpPattern]:
    """The least common ancestor, and the hardest edge on the ways to it."""
    while a is not b:
        if a is None or b is None:
            return None, pattern
        if a.depth < b.depth:
            pattern, b = max(pattern, b.edge), b.parent
        elif b.depth < a.depth:
            pattern, a = max(pattern, a.edge), a.parent
        else:
            pattern, a, b = max(pattern, a.edge, b.edge), a.parent, b.parent
    return a, pattern


def _merge(child: _Node, target: _Node) -> None:
    if child is target:
        return
    child.leader, target.size = target, target.size + child.size
    target.whole = max(target.whole, child.whole)


def _reason(node: _Node, user: _Node, edge: OpPattern) -> str:
    """Why two calls that follow one another are apart, in Relay's terms."""
    a, b = node.pattern.name.lower(), user.pattern.name.lower()
    if node.parent is None:
        return "its result is used in places that no one call follows"
    if node.pattern in (OpPattern.REDUCTION, OpPattern.OPAQUE):
        return f"{a}: never fused into what follows"
    if node.parent is not user:
        return f"{a}: what all its uses lead to is of a class that does not take it"
    return f"{a} into {b} over an edge that is {edge.name.lower()}: not in the table"
