"""What fusion did: the groups, the bytes they save, and every cut with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.graph.fusion.call_graph import CallGraph, operator_of
from workbench.graph.fusion.composing import Types, type_of
from workbench.graph.fusion.footprints import bytes_of
from workbench.graph.fusion.groups import Kept
from workbench.graph.memory.byte_counts import Bytes, bytes_sum, size_text
from workbench.graph.models import Model
from workbench.graph.terms.nodes import Call
from workbench.graph.terms.types import TensorType
from workbench.lang.operator import Operator
from workbench.records import record


@record(eq=False, repr=False)
class Group:
    """Calls that are one call now.

    `operator` is what is called instead, `calls` are the ones of the model before, `kept` the values between them of
    which the rule knows where they stay, `bytes_saved` what is neither written to memory nor read from there, in bytes,
    over the names of dimensions.
    """

    operator: Operator
    calls: tuple[Call, ...]
    kept: tuple[Kept, ...]
    bytes_saved: Bytes

    @property
    def names(self) -> list[str]:
        """What is called, in order."""
        return [operator_of(call).name for call in self.calls]

    def __str__(self) -> str:
        places = [f"{operator_of(each.slot[0]).name} in {each.where}" for each in self.kept]
        where = f" ({'; '.join(places)})" if places else ""
        return f"{' + '.join(self.names)}: {size_text(self.bytes_saved)} bytes{where}"


@record(eq=False, repr=False)
class Cut:
    """Two calls that follow one another and stay apart, and why."""

    producer: Call
    consumer: Call
    reason: str

    def __str__(self) -> str:
        return f"{named(self.producer)} | {named(self.consumer)}: {self.reason}"


@record(eq=False, repr=False)
class FusionResult:
    """A model whose groups are calls, by one of the rules.

    `before` are the calls of operators that it had, in order, `original` the model (in graph form) that they stand in;
    `recomputed` are calls of which each group that reads them has a copy: the copies are among those before.
    """

    rule: str
    model: Model
    groups: tuple[Group, ...]
    cuts: tuple[Cut, ...]
    before: tuple[Call, ...]
    original: Model
    recomputed: tuple[Call, ...] = ()

    def recomputing(self, calls: tuple[Call, ...]) -> FusionResult:
        """The same, with calls of which it has copies."""
        return replace(self, recomputed=calls)

    @property
    def calls(self) -> int:
        """How many calls of operators there were."""
        return len(self.before)

    @property
    def kernels(self) -> int:
        """How many calls of operators are left."""
        return self.calls - sum(len(group.calls) - 1 for group in self.groups)

    @property
    def bytes_saved(self) -> Bytes:
        """Of all groups."""
        total: Bytes = 0
        for group in self.groups:
            total = bytes_sum(total, group.bytes_saved)
        return total

    def __str__(self) -> str:
        head = f"{self.rule}: {self.calls} calls in {self.kernels} kernels, {size_text(self.bytes_saved)} bytes less"
        groups = [f"  {group}" for group in self.groups]
        cuts = [f"  {cut}" for cut in self.cuts]
        again = [f"  {named(call)} is computed again where it is read" for call in self.recomputed]
        return "\n".join([head, "groups", *groups, *again, *(["cuts", *cuts] if cuts else [])])

    def __repr__(self) -> str:
        return f"<FusionResult {self.rule}: {self.calls} calls in {self.kernels} kernels>"


def named(call: Call) -> str:
    """A call by its label, if it has one, and what it calls."""
    name = operator_of(call).name
    return f"{call.label} ({name})" if call.label else name


def bytes_saved(graph: CallGraph, calls: Sequence[Call], types: Types, kept: Iterable[Kept]) -> Bytes:
    """Bytes that a group neither writes nor reads: of the values kept near, or of all where the rule is silent."""
    own, kept = set(calls), list(kept)
    slots = [each.slot for each in kept] or [slot for call in calls for slot in graph.results(call)]
    total: Bytes = 0
    for slot in slots:
        readers = {reader for reader, _ in graph.readers[slot] if reader in own}
        alone = slot not in graph.outside and all(reader in own for reader, _ in graph.readers[slot])
        of = type_of(slot, types)
        if readers and isinstance(of, TensorType):
            total = bytes_sum(total, bytes_of(of) * (len(readers) + alone))
    return total


def side_by_side(results: Sequence[FusionResult]) -> str:
    """Every call of one model with the group it is in by each rule, as a table; `.` is a kernel of its own."""
    names = [named(call) for call in results[0].before]
    table = [["call", *names], *([result.rule, *_group_names(result)] for result in results)]
    widths = [max(map(len, column)) for column in table]
    rows = zip(*table, strict=True)
    lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    totals = [f"{r.rule}: {r.kernels} kernels, {size_text(r.bytes_saved)} bytes less" for r in results]
    return "\n".join([*lines, *totals])


def _group_names(result: FusionResult) -> list[str]:
    home = {call: str(number) for number, group in enumerate(result.groups, 1) for call in group.calls}
    return [home.get(call, ".") for call in result.before]
