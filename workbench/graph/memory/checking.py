"""The judge of plans: runs the steps on the bytes that a plan gives them, and sees who finds foreign bytes.

It takes nothing from the planners.  Every byte of the arena remembers which byte of which buffer was written to it
last; a step must find in its inputs what was written there for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.plans import MemoryPlan
from workbench.graph.memory.steps import Step

Run = tuple[str, int, int]
"""Bytes that follow each other: of which buffer, from which of its bytes on, how many."""


def faults(plan: MemoryPlan, original: Lifetimes | None = None) -> list[str]:
    """What is wrong with a plan, in words; nothing if it can be used.

    With `original` also whether the plan's steps are those, in an order that their dependences allow.
    """
    found = [] if original is None else list(_changed(plan.lifetimes, original))
    found += _misplaced(plan)
    return found or list(_Judge(plan).run())


def _changed(now: Lifetimes, original: Lifetimes) -> Iterator[str]:
    if {b.name: b for b in now.buffers} != {b.name: b for b in original.buffers}:
        yield "the plan has other buffers"
    if sorted(map(repr, now.steps)) != sorted(map(repr, original.steps)):
        yield "the plan has other steps"
    done: set[str] = set()
    for step in now.steps:
        for other in original.steps:
            if other.name not in done and (set(other.writes) & set(step.reads) or other.name in step.after):
                yield f"{step.name} runs before {other.name}, on which it depends"
        done.add(step.name)


def _misplaced(plan: MemoryPlan) -> Iterator[str]:
    views = {s.output for step in plan.lifetimes.steps for s in step.shares if s.kind == "view"}
    written = {name for step in plan.lifetimes.steps for name in step.writes}
    inside = {name for name in written if not _outside(plan.lifetimes, name)}
    if inside != set(plan.offsets) or len(plan.places) != len(plan.offsets):
        yield f"places differ from the buffers of the arena in {', '.join(sorted(inside ^ set(plan.offsets)))}"
    for place in plan.places:
        if place.size != plan.lifetimes.by_name[place.buffer].size:
            yield f"{place.buffer} has {place.size} bytes in the plan"
        if place.offset % plan.alignment and place.buffer not in views:
            yield f"{place.buffer} begins at {place.offset}, no multiple of {plan.alignment}"
        if place.offset < 0 or place.offset + place.size > plan.bytes:
            yield f"{place.buffer} at {place.offset} is not in the arena of {plan.bytes} bytes"


def _outside(lifetimes: Lifetimes, name: str) -> bool:
    """Outside the arena, or a view of what is."""
    shown = [s.input for step in lifetimes.steps for s in step.shares if s.kind == "view" and s.output == name]
    return _outside(lifetimes, shown[0]) if shown else lifetimes.by_name[name].place == "outside"


class _Judge:
    """The arena's bytes while the steps run, and what each buffer should hold."""

    def __init__(self, plan: MemoryPlan) -> None:
        self.lifetimes, self.offsets = plan.lifetimes, plan.offsets
        self.sizes = {b.name: b.size for b in plan.lifetimes.buffers if isinstance(b.size, int)}
        self.bytes: list[Run] = [("nothing", 0, plan.bytes)]
        self.meant: dict[str, list[Run]] = {}

    def run(self) -> Iterator[str]:
        """Every fault, in the order in which they happen."""
        for step in self.lifetimes.steps:
            inputs = [name for name in step.reads if name in self.offsets]
            yield from self._foreign(step.name, inputs)
            outputs = [name for name in step.writes if name in self.offsets]
            self.meant |= {name: self._meaning(step, name) for name in outputs}
            yield from self._read_while_written(step, inputs, outputs)
            for name in outputs:
                if not _is_view(step, name):
                    self._write(name)
            yield from self._foreign(f"after {step.name} whoever", outputs)
        yield from self._foreign("the end", [b.name for b in self.lifetimes.buffers if b.place == "result"])

    def _foreign(self, reader: str, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            if name in self.offsets and (found := self._found(name)) != self.meant[name]:
                strange = next((f for f, m in zip(found, self.meant[name], strict=False) if f != m), found[-1])
                yield f"{reader} reads {name} and finds bytes of {strange[0]}"

    def _found(self, name: str) -> list[Run]:
        return _cut(self.bytes, self.offsets[name], self.sizes[name])

    def _meaning(self, step: Step, name: str) -> list[Run]:
        """What the output holds: of views and parts what the inputs hold, else bytes of its own."""
        own: list[Run] = [(name, 0, self.sizes[name])]
        for share in step.shares:
            if share.output != name or share.kind == "overwrite" or share.input not in self.meant:
                continue
            at, theirs = int(share.offset), self.meant[share.input]  # type: ignore[arg-type]
            own = _cut(theirs, -at, self.sizes[name]) if share.kind == "view" else _replaced(own, at, theirs)
        return _joined(own)

    def _write(self, name: str) -> None:
        self.bytes = _joined(_replaced(self.bytes, self.offsets[name], self.meant[name]))

    def _read_while_written(self, step: Step, inputs: list[str], outputs: list[str]) -> Iterator[str]:
        """An output touches bytes of an input only where it may overwrite that, and nobody else looks on."""
        for output in outputs:
            touched = _joined(_replaced(self.bytes, self.offsets[output], self._written(step, output)))
            for number, entry in enumerate(inputs):
                spoiled = _cut(touched, self.offsets[entry], self.sizes[entry]) != self._found(entry)
                if spoiled and not (self._may_overwrite(step, output, entry) and entry not in inputs[:number]):
                    yield f"{step.name} writes {output} over {entry} while it reads it"

    def _written(self, step: Step, output: str) -> list[Run]:
        """What the output's bytes are halfway: those of an input that lie there already, and others unknown."""
        found: list[Run] = [("something else", 0, self.sizes[output])]
        for share in step.shares:
            at = int(share.offset)  # type: ignore[arg-type]
            here = share.input in self.offsets and self.offsets[output] + at == self.offsets[share.input]
            if share.output != output or not here:
                continue
            if share.kind == "view":
                return self._found(output)
            if share.kind == "part":
                found = _replaced(found, at, self.meant[share.input])
        return found

    def _may_overwrite(self, step: Step, output: str, entry: str) -> bool:
        permitted = any((s.kind, s.output, s.input) == ("overwrite", output, entry) for s in step.shares)
        return permitted and self.offsets[output] == self.offsets[entry]


def _is_view(step: Step, name: str) -> bool:
    return any(share.kind == "view" and share.output == name for share in step.shares)


def _cut(runs: list[Run], start: int, length: int) -> list[Run]:
    """So many bytes of a sequence of runs."""
    found: list[Run] = []
    at = 0
    for name, first, count in runs:
        low, high = max(at, start), min(at + count, start + length)
        if low < high:
            found.append((name, first + low - at, high - low))
        at += count
    return _joined(found)


def _replaced(runs: list[Run], start: int, middle: list[Run]) -> list[Run]:
    """The runs with others in the place of as many bytes."""
    length = sum(count for _, _, count in middle)
    whole = sum(count for _, _, count in runs)
    return [*_cut(runs, 0, start), *middle, *_cut(runs, start + length, whole)]


def _joined(runs: list[Run]) -> list[Run]:
    """Runs that continue each other as one; none of no byte."""
    found: list[Run] = []
    for name, first, count in runs:
        if found and found[-1][0] == name and found[-1][1] + found[-1][2] == first:
            found[-1] = (name, found[-1][1], found[-1][2] + count)
        elif count:
            found.append((name, first, count))
    return found
