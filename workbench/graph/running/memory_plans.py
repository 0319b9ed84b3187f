"""Memory of a recording: lifetimes derived from its calls, and the plan of its arena."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property

from workbench.graph.memory import Buffer, Lifetimes, MemoryPlan, Share, Step, plan
from workbench.graph.memory.steps import Place
from workbench.graph.running.recording.independent_calls import Beside
from workbench.graph.running.recording.overwriting import overwritable
from workbench.graph.running.recording.recordings import RecordedCall, Recording, Value, flat
from workbench.graph.running.recording.views import is_view
from workbench.records import record
from workbench.runtime.compilers.entries import content_key
from workbench.runtime.compilers.storage import subdirectory, write_file

SECONDS = 0.2
"""What the search for a smaller arena may take, once: its result is kept."""


@record(eq=False)
class Storage:
    """Whose bytes each tensor of a recording has."""

    recording: Recording

    @cached_property
    def views(self) -> frozenset[RecordedCall]:
        """The calls that need not run."""
        return frozenset(call for call in self.recording.calls if is_view(call))

    @cached_property
    def source(self) -> dict[Value, Value]:
        """View → what it is a view of."""
        return {call.results[0]: call.reads[0] for call in self.views}

    def root(self, value: Value) -> Value:
        """The tensor whose bytes a tensor has: itself if it is no view."""
        while value in self.source:
            value = self.source[value]
        return value

    @cached_property
    def results(self) -> tuple[Value, ...]:
        """Roots of the outputs that calls compute."""
        computed = {value for call in self.recording.calls for value in call.results}
        roots = (self.root(value) for value in flat(self.recording.outputs))
        return tuple(dict.fromkeys(root for root in roots if root in computed))

    def lifetimes(self, result: Place = "outside", beside: Beside = ()) -> Lifetimes:
        """The calls as steps; the tensors that are given are outside, those that are asked for have that place.

        Calls that run `beside` one another are one step, named like the first of them.
        """
        outside = (*self.recording.inputs, *self.recording.constants)
        buffers = {value: Buffer(value.name, value.bytes, "outside") for value in outside}
        for call in self.recording.calls:
            for value in call.results:
                buffers[value] = Buffer(value.name, value.bytes, result if value in self.results else "temporary")
        return Lifetimes(self._steps(beside), tuple(buffers.values()))

    def _steps(self, beside: Beside) -> tuple[Step, ...]:
        """A step for each call or group, in an order in which each comes after what it reads."""
        joined = {call: _joined(group) for group in beside for call in group}
        waiting = list(dict.fromkeys(joined.get(call) or self._step(call) for call in self.recording.calls))
        missing = {name for step in waiting for name in step.writes}
        found: list[Step] = []
        while waiting:
            step = next(each for each in waiting if missing.isdisjoint(each.reads))
            waiting.remove(step)
            missing -= {*step.writes}
            found.append(step)
        return tuple(found)

    def _step(self, call: RecordedCall) -> Step:
        reads = tuple(dict.fromkeys(value.name for value in call.reads))
        writes = tuple(value.name for value in call.results)
        if call in self.views:
            return Step(call.name, reads, writes, (Share("view", writes[0], reads[0]),))
        shares = (Share("overwrite", writes[0], value.name) for value in overwritable(call))
        return Step(call.name, reads, writes, tuple(shares))


def _joined(group: tuple[RecordedCall, ...]) -> Step:
    """Calls that run beside one another: none may overwrite what another reads."""
    reads = dict.fromkeys(value.name for call in group for value in call.reads)
    return Step(group[0].name, tuple(reads), tuple(value.name for call in group for value in call.results))


@record(eq=False)
class Arena:
    """Where tensors lie, by their names, and in which order calls run, by theirs."""

    bytes: int
    offsets: Mapping[str, int]
    order: tuple[str, ...]


def planned_arena(lifetimes: Lifetimes) -> Arena:
    """The planner's arena for lifetimes, found again if it was planned before."""
    place = subdirectory("arenas") / f"{content_key(SECONDS, str(lifetimes), lifetimes.buffers)}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        facts = json.loads(place.read_bytes())
        return Arena(facts["bytes"], facts["offsets"], tuple(facts["order"]))
    found = plan(lifetimes, seconds=SECONDS)
    assert isinstance(found, MemoryPlan)
    order = tuple(step.name for step in found.lifetimes.steps)
    with suppress(OSError):
        facts = {"bytes": found.bytes, "offsets": found.offsets, "order": order}
        write_file(place, json.dumps(facts).encode())
    return Arena(found.bytes, found.offsets, order)
