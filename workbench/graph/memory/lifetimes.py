"""`Lifetimes`: steps in order, the buffers that each reads and writes, and which of them may share bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from workbench.graph.memory import byte_counts
from workbench.graph.memory.byte_counts import Bounds, Bytes, Span
from workbench.graph.memory.steps import Buffer, Share, Step
from workbench.graph.memory.validation import refuse_nonsense, refuse_strange_sizes
from workbench.lang.algebra.polynomial import Polynomial, number
from workbench.records import record


@record
class Lifetimes:
    """Steps in the order in which they run, over some buffers.

    Sizes are numbers, or all polynomials of the names in `bounds` (each with its least and greatest value).
    WorkbenchError for what is no such thing: a buffer written twice or read before it is written, an unknown name.
    """

    steps: tuple[Step, ...]
    buffers: tuple[Buffer, ...]
    bounds: tuple[tuple[str, Span], ...] = ()

    def __post_init__(self) -> None:
        refuse_strange_sizes(self.steps, self.buffers)
        if self.symbolic:
            object.__setattr__(self, "buffers", tuple(_with_polynomial(b) for b in self.buffers))
            object.__setattr__(self, "steps", tuple(_with_polynomials(s) for s in self.steps))
        refuse_nonsense(self.steps, self.buffers, self.bounds)

    @cached_property
    def symbolic(self) -> bool:
        """Whether any size is open."""
        shares = (share.offset for step in self.steps for share in step.shares)
        return any(isinstance(size, Polynomial) for size in (*(b.size for b in self.buffers), *shares))

    @cached_property
    def ranges(self) -> Bounds:
        """The bounds by name."""
        return dict(self.bounds)

    @cached_property
    def by_name(self) -> dict[str, Buffer]:
        """Every buffer by its name."""
        return {buffer.name: buffer for buffer in self.buffers}

    @cached_property
    def views(self) -> dict[str, Share]:
        """Buffers that are views → what each is a view of."""
        return {share.output: share for step in self.steps for share in step.sharing("view")}

    @cached_property
    def lives(self) -> dict[str, tuple[int, int]]:
        """Buffers in the arena → numbers of the step that writes it and of the last that reads it, both inclusive.

        Results are read once more after the last step.
        """
        first, last = {}, {}
        for at, step in enumerate(self.steps):
            first |= dict.fromkeys(step.writes, at)
            last |= dict.fromkeys((*step.reads, *step.writes), at)
        last |= {b.name: len(self.steps) for b in self.buffers if b.place == "result"}
        return {name: (first[name], last[name]) for name in first if not self.is_outside(name)}

    def is_outside(self, name: str) -> bool:
        """Whether a buffer is not in the arena: it is outside, or a view of what is."""
        while name in self.views:
            name = self.views[name].input
        return self.by_name[name].place == "outside"

    @cached_property
    def predecessors(self) -> tuple[frozenset[int], ...]:
        """For each step the numbers of those that must have run before."""
        writer = {name: at for at, step in enumerate(self.steps) for name in step.writes}
        number_of = {step.name: at for at, step in enumerate(self.steps)}
        return tuple(
            frozenset(writer[name] for name in step.reads if name in writer) | {number_of[name] for name in step.after}
            for step in self.steps
        )

    def reordered(self, order: Iterable[int]) -> Lifetimes:
        """The same steps in another order (numbers of steps); WorkbenchError if one would come too early."""
        return Lifetimes(tuple(self.steps[at] for at in order), self.buffers, self.bounds)

    def at(self, sizes: Mapping[str, int]) -> Lifetimes:
        """The same with numbers for the sizes."""
        buffers = (Buffer(b.name, byte_counts.at_sizes(b.size, sizes), b.place) for b in self.buffers)
        return Lifetimes(tuple(_step_at(step, sizes) for step in self.steps), tuple(buffers))

    def __str__(self) -> str:
        lines = [f"{len(self.steps)} steps, {len(self.lives)} buffers in the arena"]
        lines += [f"  {name} in {low}..{high}" for name, (low, high) in self.bounds]
        return "\n".join(lines + [f"  {self._line(step)}" for step in self.steps])

    def _line(self, step: Step) -> str:
        written = ", ".join(f"{name}:{byte_counts.size_text(self.by_name[name].size)}" for name in step.writes)
        shares = "".join(f"; {s.output} {_WORDS[s.kind]} {s.input}" for s in step.shares)
        return f"{step.name}: {', '.join(step.reads)} → {written}{shares}".replace(":  →", ": →")


_WORDS = {"view": "is a view of", "part": "may contain", "overwrite": "may overwrite"}


def _with_polynomial(buffer: Buffer) -> Buffer:
    return Buffer(buffer.name, _polynomial(buffer.size), buffer.place)


def _with_polynomials(step: Step) -> Step:
    shares = (Share(s.kind, s.output, s.input, _polynomial(s.offset)) for s in step.shares)
    return Step(step.name, step.reads, step.writes, tuple(shares), step.after)


def _polynomial(size: Bytes) -> Polynomial:
    return size if isinstance(size, Polynomial) else number(size)


def _step_at(step: Step, sizes: Mapping[str, int]) -> Step:
    shares = (Share(s.kind, s.output, s.input, byte_counts.at_sizes(s.offset, sizes)) for s in step.shares)
    return Step(step.name, step.reads, step.writes, tuple(shares), step.after)
