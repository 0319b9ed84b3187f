"""Calls of a segment: they wait until somebody asks, and what waits together runs as one program of more rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import or_
from typing import Any

import numpy as np

from workbench.graph.evaluation.machine import Activation
from workbench.graph.forms.scopes import Scopes, value_node
from workbench.graph.running.drivers import MOST_SIZES, Driver
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.recordings import Array, ForeignCall, Nested, Recording, flat, ghost, in_tuples
from workbench.graph.running.recording.segments import Segment
from workbench.graph.running.recursion.agendas import Agenda, Kind, Tensor, Waiting, plain
from workbench.graph.running.recursion.batched_recordings import batched, can_be_batched

MOST_ROWS = 64
"""Of one program; more calls are several."""
MOST_RESULT_BYTES = 1 << 20
"""A call that gives more has work enough by itself."""
TRIES = 16
"""Groups of one call after which calls of a plan run at once."""
AT_ONCE = 1000
"""So many, before they wait again to see whether there are others now."""
NO_SIZES: dict[str, int] = {}


class SegmentCall:
    """A segment as a function of the tensors that are its inputs (those of tuples one by one), at whatever sizes."""

    def __init__(self, driver: Driver, code: Scopes, segment: Segment) -> None:
        self.driver, self.code, self.segment = driver, code, segment
        self.plans: dict[Any, SegmentPlan | None] = {}
        self.last: tuple[Any, SegmentPlan | None] = None, None
        self.types = [driver.typing.types.get(value_node(term)) for term in segment.inputs]

    def __call__(self, agenda: Agenda, sizes: Mapping[str, int], *leaves: Any) -> Any:
        """The values of the segment's outputs."""
        known, level = agenda.known, 0
        inputs: list[Tensor] = []
        for leaf in leaves:
            if type(leaf) is Tensor:
                tensor = leaf
                if tensor.rows is None:
                    if tensor.agenda is not agenda:
                        tensor.array()
                    elif tensor.level > level:
                        level = tensor.level
            else:
                found = known.get(id(leaf))
                tensor = agenda.noted(leaf) if found is None else found[1]
            inputs.append(tensor)
        key: Any = [tensor.kind for tensor in inputs]
        if sizes and self.segment.sizes:
            key.append(tuple([sizes.get(name) for name in self.segment.sizes]))
        last, plan = self.last
        if key != last:
            plan = self._plan(tuple(key), inputs, sizes)
            self.last = key, plan
        if plan is None:
            return self._one_by_one(leaves, sizes)
        if plan.begins_at_once():
            return plan.nest(plan.run([tensor.array() for tensor in inputs]))
        level += 1
        outputs = [Tensor(kind, level, agenda) for kind in plan.kinds]
        agenda.add(plan, level, Waiting(inputs, outputs), plan.bytes)
        return plan.nest(outputs)

    def _plan(self, key: tuple[Any, ...], inputs: list[Tensor], sizes: Mapping[str, int]) -> SegmentPlan | None:
        """The plan for inputs like these; None if there are too many already."""
        if key in self.plans or len(self.plans) >= MOST_SIZES:
            return self.plans.get(key)
        segment = self.segment
        ghosts = iter([ghost(each.dtype, each.shape) for each in inputs])
        given = {term: in_tuples(of, ghosts) for term, of in zip(segment.inputs, self.types, strict=True)}
        needed = {name: sizes[name] for name in segment.sizes if name in sizes}
        with self.driver.lock:
            recording = self.driver.tracer.trace(self.code, segment, given, needed)
        found = self.plans[key] = SegmentPlan(self.driver, segment, recording)
        return found

    def _one_by_one(self, leaves: tuple[Any, ...], sizes: Mapping[str, int]) -> tuple[Nested, ...]:
        """Operator by operator, by kernels for all sizes."""
        arrays = iter([plain(leaf) for leaf in leaves])
        given = {term: in_tuples(of, arrays) for term, of in zip(self.segment.inputs, self.types, strict=True)}
        activation = Activation(given, None, dict(sizes))
        self.driver.compute(self.code, self.segment.nodes, activation)
        return tuple(self.driver.value(activation, term, self.code) for term in self.segment.outputs)


def _nesting(outputs: Nested) -> Callable[[list[Any]], Any]:
    """A function of a flat list that puts its items into the tuples of some outputs."""
    count = iter(range(sum(1 for _ in flat(outputs))))

    def spelt(nested: Nested) -> str:
        inside = "".join(f"{spelt(each)}, " for each in nested) if isinstance(nested, tuple) else ""
        return f"({inside})" if isinstance(nested, tuple) else f"found[{next(count)}]"

    return eval(f"lambda found: {spelt(outputs)}")


class SegmentPlan:
    """What a segment does at some sizes: as a program for one call, and as programs for many.

    Many are padded with the last of them to a power of two, so that there are few programs.
    """

    def __init__(self, driver: Driver, segment: Segment, recording: Recording) -> None:
        self.driver, self.segment, self.recording = driver, segment, recording
        results = list(flat(recording.outputs))
        self.kinds: list[Kind] = [(value.shape, value.dtype) for value in results]
        self.bytes = sum(value.bytes for value in results)
        self.nest = _nesting(recording.outputs)
        foreign = any(isinstance(call, ForeignCall) for call in recording.calls)
        self.never_waits = foreign or self.bytes > MOST_RESULT_BYTES or not can_be_batched(recording)
        self.spread = (False,) * len(recording.inputs)
        self.tries = self.at_once = 0
        self.programs: dict[Any, tuple[Program, tuple[bool, ...]] | None] = {}

    def begins_at_once(self) -> bool:
        """Whether the call that begins has nothing to wait for: there never were others with it.  It is counted."""
        if self.never_waits:
            return True
        if self.at_once:
            self.at_once -= 1
            return True
        return False

    def run(self, arrays: list[Array]) -> list[Array]:
        """The results of one call."""
        made = self.programs.get(None)
        if made is None:
            made = self._built(None, self.recording, (False,) * len(self.kinds))
        return made[0].run(arrays)

    def _built(self, key: Any, recording: Recording, rows: tuple[bool, ...]) -> tuple[Program, tuple[bool, ...]]:
        with self.driver.lock:
            made = self.programs.get(key)
            if made is None:
                program = Program(recording, self.driver.threads, self.driver.packed, self.driver.watch)
                made = self.programs[key] = program, rows
                self.driver.programs[self, key] = program
        return made

    # --- many calls

    def compute(self, calls: list[Waiting]) -> None:
        """Give the outputs of these calls their rows."""
        if len(calls) == 1:
            self.tries += 1
            if self.tries >= TRIES:
                self.tries, self.at_once = 0, AT_ONCE
            return self._alone(calls[0])
        self.tries = 0
        for begin in range(0, len(calls), MOST_ROWS):
            some = calls[begin : begin + MOST_ROWS]
            if len(some) == 1 or not self._together(some):
                for call in some:
                    self._alone(call)

    def _alone(self, call: Waiting) -> None:
        for output, found in zip(call.outputs, self.run([each.array() for each in call.inputs]), strict=True):
            output.rows = found[None]

    def _together(self, calls: list[Waiting]) -> bool:
        """One program for all; whether there is one."""
        inputs = list(zip(*[call.inputs for call in calls], strict=True))
        differ = [any(each is not column[0] for each in column) for column in inputs]
        self.spread = spread = tuple(map(or_, self.spread, differ))
        count = 1 << (len(calls) - 1).bit_length()
        made = self._many(spread, count)
        if made is None:
            return False
        program, rows = made
        given = [
            _stacked(column, count) if is_spread else column[0].array()
            for column, is_spread in zip(inputs, spread, strict=True)
        ]
        for at, (found, has_rows) in enumerate(zip(program.run(given), rows, strict=True)):
            shared = None if has_rows else found[None]
            for row, call in enumerate(calls):
                output = call.outputs[at]
                output.rows, output.at = (found, row) if shared is None else (shared, 0)
        return True

    def _many(self, spread: tuple[bool, ...], count: int) -> tuple[Program, tuple[bool, ...]] | None:
        key = spread, count
        if key not in self.programs:
            same = self.recording, (False,) * len(self.kinds)
            made = batched(self.recording, spread, count) if any(spread) else same
            if made is None:
                self.programs[key] = None
                self.never_waits = True
            else:
                self._built(key, *made)
        return self.programs[key]


def _stacked(column: tuple[Tensor, ...], count: int) -> Array:
    """The rows below one another, the last one repeated."""
    rows = [tensor.row() for tensor in column]
    return np.concatenate(rows + rows[-1:] * (count - len(rows)))
