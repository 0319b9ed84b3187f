"""One plan for all sizes: what lies below what is fixed, the offsets follow when the sizes are known.

Why not fixed offsets for the greatest sizes: those need the largest arena at every size.  Here every distance is a
sum of sizes, so an arena is never larger than that for the greatest, and nothing overlaps beyond the bounds either.
When the sizes are known, the same bodies are also placed by first fit, which finds the room below overhangs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from workbench.errors import WorkbenchError, unknown_name
from workbench.graph.memory.bodies import Body
from workbench.graph.memory.byte_counts import (
    Bytes,
    at_sizes,
    byte_bounds,
    bytes_sum,
    difference_of_bytes,
    size_text,
)
from workbench.graph.memory.lifetimes import Lifetimes
from workbench.graph.memory.placing.fitting import placed, puzzle
from workbench.graph.memory.placing.shapes import bodies_at, body_shapes, live_lines
from workbench.graph.memory.plans import MemoryPlan, Placed
from workbench.records import record


@record
class Stack:
    """Bodies, each to be placed above all earlier ones with which it is alive together."""

    lifetimes: Lifetimes
    bodies: tuple[Body, ...]
    alignment: int

    @cached_property
    def distances(self) -> tuple[tuple[tuple[int, Bytes], ...], ...]:
        """For each body the earlier ones that it must clear, with the least distance of the first bytes."""
        return tuple(tuple(self._clearances(number)) for number in range(len(self.bodies)))

    def _clearances(self, number: int) -> Iterator[tuple[int, Bytes]]:
        sizes, lives = self.lifetimes.by_name, self.lifetimes.lives
        for other, below in enumerate(self.bodies[:number]):
            found: dict[Bytes, None] = {}
            for p, low in self.bodies[number].members:
                for q, base in below.members:
                    if lives[p][0] <= lives[q][1] and lives[q][0] <= lives[p][1]:
                        found[difference_of_bytes(bytes_sum(base, sizes[q].size), low)] = None
            yield from ((other, distance) for distance in found)

    @cached_property
    def ends(self) -> tuple[tuple[Bytes, ...], ...]:
        """For each body where its members end."""
        sizes = self.lifetimes.by_name
        return tuple(tuple({bytes_sum(low, sizes[name].size): None for name, low in b.members}) for b in self.bodies)

    def heights(self, value: Callable[[Bytes], int]) -> tuple[list[int], int]:
        """The first byte of every body and the arena's bytes, where sizes have these values; both grow with them."""
        known: dict[Bytes, int] = {}

        def rounded(size: Bytes) -> int:
            if size not in known:
                known[size] = -(-value(size) // self.alignment) * self.alignment
            return known[size]

        bases: list[int] = []
        for clear in self.distances:
            bases.append(max([0, *(bases[other] + rounded(distance) for other, distance in clear)]))
        tops = zip(bases, self.ends, strict=True)
        return bases, max((base + rounded(end) for base, ends in tops for end in ends), default=0)

    def at(self, lifetimes: Lifetimes, sizes: Mapping[str, int]) -> tuple[list[int], int]:
        """The same at these sizes, or what first fit makes of the order there if that is less."""
        given = puzzle(body_shapes(lifetimes, bodies_at(self.bodies, sizes), self.alignment), len(lifetimes.steps))
        bases = placed(given, range(len(self.bodies)))
        fitted = [base * self.alignment for base in bases], given.lines(bases) * self.alignment
        return min(self.heights(lambda size: at_sizes(size, sizes)), fitted, key=lambda one: one[1])

    def __str__(self) -> str:
        return "\n".join(map(self._line, range(len(self.bodies))))

    def _line(self, number: int) -> str:
        members = ", ".join(f"{name} + {size_text(low)}" if low else name for name, low in self.bodies[number].members)
        above = [f"{self.bodies[other].members[0][0]} + {size_text(far)}" for other, far in self.distances[number]]
        place = f"max({', '.join(above)})" if len(above) > 1 else "".join(above) or "0"
        return f"  {members}: at {place}"


@record
class SymbolicMemoryPlan:
    """The same bodies in one or several stacks, of which that with the smallest arena is taken once sizes are known.

    `lifetimes` has the steps in the order for which the plan is made, its sizes are polynomials.
    """

    lifetimes: Lifetimes
    stacks: tuple[Stack, ...]
    alignment: int

    @cached_property
    def most_bytes(self) -> int:
        """An arena of so many bytes is enough for all sizes within the bounds."""
        return min(map(self._most, self.stacks))

    def _most(self, stack: Stack) -> int:
        return stack.heights(lambda size: byte_bounds(size, self.lifetimes.ranges)[1])[1]

    def offsets(self, sizes: Mapping[str, int]) -> tuple[dict[str, int], int]:
        """The first byte of every buffer at these sizes, and the bytes of the arena."""
        self._check(sizes)
        stack, bases, total = self._best(sizes)
        members = zip(stack.bodies, bases, strict=True)
        return {name: base + at_sizes(low, sizes) for body, base in members for name, low in body.members}, total

    def _best(self, sizes: Mapping[str, int]) -> tuple[Stack, list[int], int]:
        lifetimes = self.lifetimes.at(sizes)
        return min(((stack, *stack.at(lifetimes, sizes)) for stack in self.stacks), key=lambda one: one[-1])

    def pruned(self, samples: Iterable[Mapping[str, int]]) -> SymbolicMemoryPlan:
        """Only the stacks that are best for one of some sizes, and that which is for the greatest."""
        if len(self.stacks) == 1:
            return self
        chosen = {id(self._best(sizes)[0]) for sizes in samples} | {id(min(self.stacks, key=self._most))}
        return SymbolicMemoryPlan(self.lifetimes, tuple(s for s in self.stacks if id(s) in chosen), self.alignment)

    def at(self, sizes: Mapping[str, int]) -> MemoryPlan:
        """The plan at these sizes; WorkbenchError for a size that is missing or out of its bounds."""
        offsets, total = self.offsets(sizes)
        lifetimes = self.lifetimes.at(sizes)
        lives, by_name = lifetimes.lives, lifetimes.by_name
        places = tuple(
            Placed(name, offsets[name], at_sizes(by_name[name].size, {}), *life) for name, life in lives.items()
        )
        formed = body_shapes(lifetimes, bodies_at(self.stacks[0].bodies, sizes), self.alignment)
        needed = max(live_lines(formed, len(lifetimes.steps)), default=0) * self.alignment
        return MemoryPlan(lifetimes, places, total, self.alignment, "stacks", needed)

    def _check(self, sizes: Mapping[str, int]) -> None:
        bounds = self.lifetimes.ranges
        for name in sizes:
            if name not in bounds:
                raise WorkbenchError(f"memory plan: {unknown_name('size', name, bounds)}")
        for name, (low, high) in bounds.items():
            if name not in sizes:
                raise WorkbenchError(f"memory plan: size {name} has no value; it may be {low} to {high}")
            if not low <= sizes[name] <= high:
                raise WorkbenchError(f"memory plan: {name}={sizes[name]} is out of its bounds {low} to {high}")

    def __str__(self) -> str:
        bounds = ", ".join(f"{name} in {low}..{high}" for name, (low, high) in self.lifetimes.bounds)
        head = f"arena of at most {self.most_bytes} bytes for {bounds} (alignment {self.alignment})"
        return "\n or\n".join([f"{head}\n{self.stacks[0]}", *map(str, self.stacks[1:])])
