"""Groups by legality and cost: two calls become one where a value between them need not go through memory.

A value stays in registers where its maker and its users can walk all of its axes together, in a row (or plane) where
they can walk the outer ones together, and in the cache where it is small.  Greedy, from the arguments to the results:
two groups are merged if that saves bytes, and if no way leads out of the new group and back.

Why two calls stayed apart, `wb.graph.fused(model).cuts` says.  Loops of one program are fused by the step `merge`, by
another question: `schedules/legality.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.graph.fusion.call_graph import CallGraph, Slot, operator_of
from workbench.graph.fusion.composing import Types, type_of, why_alone
from workbench.graph.fusion.footprints import Machine, bytes_at, bytes_of, elements_at
from workbench.graph.fusion.groups import Grouping, Kept, Refusal
from workbench.graph.fusion.loop_axes import LoopAxes, loop_axes
from workbench.graph.fusion.sharing import Node, Shared, StatementGraph
from workbench.graph.terms.nodes import Call
from workbench.graph.terms.types import TensorType
from workbench.graph.typing.signatures import signature
from workbench.lang.operator import Operator

MOST_CALLS = 24
MOST_STATEMENTS = 32
"""Of one group: judging and scheduling a longer program takes long, and its loops need too many registers."""


@dataclass(eq=False)
class GrowingGroup:
    """Calls that become one; `kept` are its values that stay out of memory, `saved` the bytes that do."""

    calls: list[Call]
    kept: list[Kept] = field(default_factory=list)
    saved: int = 0


def legal_groups(graph: CallGraph, types: Types, machine: Machine) -> Grouping:
    """The groups of the calls of a scope that save memory traffic and are legal."""
    return _Greedy(graph, types, machine).grouping()


class _Refused(Exception):
    """Why two groups stay apart."""


class _Greedy:
    def __init__(self, graph: CallGraph, types: Types, machine: Machine) -> None:
        self.graph, self.types, self.machine = graph, types, machine
        self.place = {call: at for at, call in enumerate(graph.calls)}
        self.home = {call: GrowingGroup([call]) for call in graph.calls}
        self.alone = {call: why_alone(call, graph, types) for call in graph.calls}
        self.facts: dict[Call, LoopAxes] = {}
        self.judged: dict[tuple[tuple[Call, ...], Slot], GrowingGroup | str] = {}
        for call in graph.calls:
            self._read(call)

    def _read(self, call: Call) -> None:
        if not self.alone[call]:
            found = loop_axes(operator_of(call), self._sizes(call))
            if found is None:
                self.alone[call] = f"{operator_of(call).name} has subscripts that are not affine at these sizes"
            else:
                self.facts[call] = found

    def _sizes(self, call: Call) -> tuple[tuple[str, int], ...]:
        """The sizes of an operator that are numbers at this call."""
        found = {name: dim.constant for name, dim in call.sizes if dim.constant is not None}
        for parameter, value in zip(signature(operator_of(call)).parameters, self.graph.arguments[call], strict=True):
            of = type_of(value, self.types)
            for formal, actual in zip(parameter.type.dims, of.dims if isinstance(of, TensorType) else (), strict=True):
                name = formal.only_atom()
                if name is not None and actual.constant is not None:
                    found.setdefault(name.name, actual.constant)  # type: ignore[union-attr]
        return tuple(sorted(found.items()))

    def grouping(self) -> Grouping:
        """Merge until nothing more is saved."""
        refused: dict[tuple[Call, Call], str] = {}
        changed = True
        while changed:
            changed = False
            for call in self.graph.calls:
                for producer in self.graph.producers(call):
                    changed |= self._try(producer, call, refused)
        groups = {group: None for group in self.home.values()}
        apart = [Refusal(a, b, why) for (a, b), why in refused.items() if self.home[a] is not self.home[b]]
        ordered = tuple(tuple(sorted(group.calls, key=self.place.__getitem__)) for group in groups)
        return Grouping(ordered, tuple(apart), tuple(tuple(group.kept) for group in groups))

    def _try(self, producer: Call, consumer: Call, refused: dict[tuple[Call, Call], str]) -> bool:
        a, b = self.home[producer], self.home[consumer]
        if a is b:
            return False
        try:
            merged = self._merged(a, b, producer, consumer)
        except _Refused as why:
            refused[producer, consumer] = str(why)
            return False
        for call in merged.calls:
            self.home[call] = merged
        return True

    def _merged(self, a: GrowingGroup, b: GrowingGroup, producer: Call, consumer: Call) -> GrowingGroup:
        for call in (producer, consumer):
            if self.alone[call]:
                raise _Refused(self.alone[call])
        calls = sorted([*a.calls, *b.calls], key=self.place.__getitem__)
        if len(calls) > MOST_CALLS or sum(len(self.facts[call].dims) for call in calls) > MOST_STATEMENTS:
            raise _Refused("together they are too long for one kernel")
        if between := self._leads_back(a, b):
            raise _Refused(f"{between} stands between them, and is not part of the group")
        slot = self._slot(producer, consumer)
        group = self._judged_once(tuple(calls), slot)
        name, saved = self._name(slot), group.saved - a.saved - b.saved
        if saved <= 0:
            raise _Refused(f"{name} saves less than other values would cost")
        return group

    def _slot(self, producer: Call, consumer: Call) -> Slot:
        return next(v for v in self.graph.arguments[consumer] if isinstance(v, tuple) and v[0] is producer)

    def _name(self, slot: Slot) -> str:
        return f"the result of {operator_of(slot[0]).name}"

    def _leads_back(self, a: GrowingGroup, b: GrowingGroup) -> str:
        """What stands between two groups: a way that leads out of them and back, groups taken as a whole."""
        own, last = {a, b}, max(self.place[call] for group in (a, b) for call in group.calls)
        members = {call for group in own for call in group.calls}
        if any(not members.isdisjoint(self.graph.beyond.get(call, ())) for call in members):
            return "something that is no operator"
        seen: set[GrowingGroup] = set()
        waiting = [(home, user) for g in own for home, user in self._following(g) if home not in own]
        while waiting:
            group, first = waiting.pop()
            if group in own:
                return operator_of(first).name
            if group not in seen and min(self.place[call] for call in group.calls) < last:
                seen.add(group)
                waiting += [(home, first) for home, _ in self._following(group)]
        return ""

    def _following(self, group: GrowingGroup) -> list[tuple[GrowingGroup, Call]]:
        users = [user for call in group.calls for user in self.graph.consumers(call)]
        users += [user for call in group.calls for user in self.graph.beyond.get(call, ())]
        return [(self.home[user], user) for user in users if self.home[user] is not group]

    # --- what is saved

    def _judged_once(self, calls: tuple[Call, ...], asked: Slot) -> GrowingGroup:
        """The same calls are tried again and again while others around them are merged."""
        if (calls, asked) not in self.judged:
            try:
                self.judged[calls, asked] = self._judged(calls, asked)
            except _Refused as why:
                self.judged[calls, asked] = str(why)
        found = self.judged[calls, asked]
        if isinstance(found, str):
            raise _Refused(found)
        return GrowingGroup(list(found.calls), found.kept, found.saved)

    def _judged(self, calls: Sequence[Call], asked: Slot) -> GrowingGroup:
        """The group with what it saves; _Refused if the value that was asked for would go through memory even so."""
        statements = StatementGraph(self.graph, calls, self.facts)
        slots = [slot for call in calls for slot in self.graph.results(call) if statements.reads_of(slot)]
        slots.sort(key=lambda slot: -bytes_at(self._tensor(slot), self.machine))
        products = [call for call in calls if self.facts[call].products]
        self._check_across(calls)
        chains: dict[Node, list[frozenset[str]]] = {}
        kept = []
        for slot in slots:
            try:
                kept.append(self._kept(statements, statements.shared(slot), chains, products))
            except _Refused:
                if slot == asked or products:
                    raise
        return GrowingGroup(list(calls), kept, sum(self._saved(each, statements) for each in kept))

    def _check_across(self, calls: Sequence[Call]) -> None:
        """A transposition walks through blocks; beside it only what can take any order."""
        across = next((call for call in calls if self.facts[call].across), None)
        sums = next((call for call in calls if self.facts[call].sums), None)
        if across is not None and sums is not None and len(calls) > 1:
            raise _Refused(f"{operator_of(across).name} walks across memory, {operator_of(sums).name} along rows of it")

    def _tensor(self, slot: Slot) -> TensorType:
        of = type_of(slot, self.types)
        assert isinstance(of, TensorType)
        return of

    def _saved(self, kept: Kept, statements: StatementGraph) -> int:
        """Bytes that are not written, and not read once for each call that takes them."""
        readers = {call for call, _ in statements.reads_of(kept.slot)}
        return bytes_at(self._tensor(kept.slot), self.machine) * (len(readers) + (kept.slot not in self.graph.outside))

    def _kept(
        self, statements: StatementGraph, shared: Shared, chains: dict[Node, list[frozenset[str]]],
        products: Sequence[Call],
    ) -> Kept:  # fmt: skip
        """How the value stays out of memory."""
        of = self._tensor(shared.slot)
        users = statements.reads_of(shared.slot)
        self._check_products(shared, statements, products)
        if len(shared.axes) == len(of.dims) > 0 and self._fits(statements, shared, chains, range(len(of.dims))):
            return Kept(shared.slot, bytes_of(of), "registers")
        if shared.inlines:
            return Kept(shared.slot, bytes_of(of), "registers")
        depth = next((d for d in range(len(of.dims)) if d not in shared.axes), len(of.dims))
        wide = [d for d in range(depth) if of.dims[d].constant != 1]
        while wide and depth:
            if self._row_fits(of, depth) and self._fits(statements, shared, chains, range(depth)):
                return Kept(shared.slot, bytes_of(of), f"rows of {elements_at(of, depth)}")
            depth -= 1
            wide = [d for d in range(depth) if of.dims[d].constant != 1]
        sizes = [bytes_at(self._tensor(each), self.machine) for each in self._results(statements)]
        if max(sizes) <= self.machine.small_bytes:
            return Kept(shared.slot, bytes_of(of), "cache")
        raise _Refused(_why(self._name(shared.slot), operator_of(users[0][0]), of, shared))

    def _results(self, statements: StatementGraph) -> list[Slot]:
        return [slot for call in statements.calls for slot in self.graph.results(call)]

    def _row_fits(self, of: TensorType, depth: int) -> bool:
        return bytes_at(TensorType(of.element, of.dims[depth:]), self.machine) <= self.machine.row_bytes

    def _fits(
        self, statements: StatementGraph, shared: Shared, chains: dict[Node, list[frozenset[str]]], axes: range
    ) -> bool:
        """Whether the loops along these axes can stand outside, in every statement and beside those of other values."""
        found = {node: frozenset(shared.axes[axis][node] for axis in axes) for node in shared.nodes}
        for (call, name), loops in found.items():
            dims = self.facts[call].dims[name]
            outside = loops == frozenset(dims[: len(loops)]) or loops == frozenset(dims)
            if not outside or any(not (loops <= other or other <= loops) for other in chains.get((call, name), ())):
                return False
        for node, loops in found.items():
            chains.setdefault(node, []).append(loops)
        return True

    def _check_products(self, shared: Shared, statements: StatementGraph, products: Sequence[Call]) -> None:
        """A product gets blocks of its own; only what is computed cell by cell with its results stands beside it."""
        if not products:
            return
        if len(products) > 1 or len(self.facts[products[0]].products) > 1:
            raise _Refused(f"{operator_of(products[-1]).name} is a product too: each gets blocks of its own")
        users = statements.reads_of(shared.slot)
        for call, touch in users:
            if self.facts[call].products:
                raise _Refused(
                    f"{operator_of(call).name} reads every cell of {self._name(shared.slot)} again and again, in blocks"
                )
            if touch.statement in self.facts[call].sums:
                raise _Refused(f"{operator_of(call).name} sums over cells that lie in different blocks of the product")
        rank = len(self._tensor(shared.slot).dims)
        walked = [(self.facts[call].dims[touch.statement], (call, touch.statement)) for call, touch in users]
        whole = len(shared.axes) == rank
        if not whole or any(dims != tuple(shared.axes[a][node] for a in range(rank)) for dims, node in walked):
            raise _Refused(
                f"{operator_of(users[0][0]).name} does not take {self._name(shared.slot)} cell by cell, as blocks of a "
                "product give it"
            )


def _why(name: str, user: Operator, of: TensorType, shared: Shared) -> str:
    lost = [axis for axis in range(len(of.dims)) if axis not in shared.axes]
    if not lost:
        return f"the loops that {user.name} could share over {name} cannot stand outside"
    if 0 in lost and len(lost) < len(of.dims):
        return f"{user.name} needs {name} along axis {lost[0]} as a whole: what is left to share is no row of memory"
    axes = ", ".join(map(str, lost))
    return f"{user.name} reads {name} as a whole (axis {axes}) before it gives a cell"

