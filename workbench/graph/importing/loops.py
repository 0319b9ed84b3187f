"""Loops that carry a state and collect rows, as functions of the language that call themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.onnx_nodes.node import Node
from workbench.graph.importing.recursion import LoopBuilder
from workbench.graph.importing.values import Value, symbolic
from workbench.graph.importing.written.elementwise import axis_index, axis_size, elementwise, expand
from workbench.graph.importing.written.reductions import cell
from workbench.graph.terms.dimensions import Dimension, shown_list
from workbench.graph.terms.nodes import Term
from workbench.lang.dtypes import BOOL, INT64

# The number of the round, the state, whether it went on so far → whether it goes on, the state, a row for each stack.
Step = Callable[[Value, Sequence[Value], Value], tuple[Value, list[Value], list[Value]]]


@dataclass(eq=False)
class Rounds:
    """A loop: what a round does, the state before, how many stacks are collected, how many rounds there are.

    `rounds` is that number where it is known, else `limit` may be one that is data; `start` says whether it begins.
    """

    node: Node
    step: Step
    state: list[Value]
    collected: int
    rounds: Dimension | None
    limit: Value | None = None
    start: Value | None = None

    def results(self) -> list[Value]:
        """The state at the end, and the stacks of what was collected."""
        g, node = self.g, self.node
        on, rows = self._trial()
        always = _is_true(self.start) and _is_true(on)
        if self.collected and not always:
            node.refuse("it collects a row in each round, and a condition may end it earlier")
        limit = g.contents(symbolic(self.rounds)) if self.rounds is not None else self.limit
        stacks = [self._empty(row) for row in rows]
        begin = self.start if self.start is not None else self._true()
        initial = [g.constant(np.zeros((), np.int64), INT64), begin, *self.state, *stacks]
        names = ["i", "go", *(f"s{at}" for at in range(len(self.state))), *(f"c{at}" for at in range(len(stacks)))]
        builder = g.builder
        assert isinstance(builder, LoopBuilder)
        test, body = self._test(limit, always=always), self._body(always=always)
        found = builder.loop("rounds", [value.term for value in initial], names, test, body)
        return [g.value(term) for term in found[2:]]

    @property
    def g(self) -> Emitter:
        return self.node.g

    def _true(self) -> Value:
        return self.g.constant(np.ones((), bool), BOOL)

    def _trial(self) -> tuple[Value, list[Value]]:
        """One round that nobody uses: it tells the types of rows, and whether the condition ever changes."""
        at = self.g.value(self.g.builder.constant(np.zeros((), np.int64)))
        start = self.start if self.start is not None and not _is_true(self.start) else self._true()
        on, after, rows = self.step(at, self.state, start)
        for number, (a, b) in enumerate(zip(self.state, after, strict=True)):
            if a.element != b.element or a.dims != b.dims:
                types = " to ".join(f"{each.element.name}{shown_list(each.dims)}" for each in (a, b))
                self.node.refuse(f"the type of state {number} changes from one round to the next: {types}")
        return on, rows

    def _empty(self, row: Value) -> Value:
        assert self.rounds is not None
        return expand(self.g, self.g.scalar(0, row.element), (self.rounds, *row.dims))

    def _test(self, limit: Value | None, *, always: bool) -> Callable[..., Term]:
        def test(*terms: Term) -> Term:
            at, going = self.g.value(terms[0]), self.g.value(terms[1])
            if limit is None:
                return going.term
            if always:
                return elementwise(self.g, "round_before", "a < b", at, limit, element=BOOL).term
            return elementwise(self.g, "round_before_and", "c && a < b", at, limit, going, element=BOOL).term

        return test

    def _body(self, *, always: bool) -> Callable[..., list[Term]]:
        def body(*terms: Term) -> list[Term]:
            at, going, *rest = map(self.g.value, terms)
            now, stacks = rest[: len(self.state)], rest[len(self.state) :]
            on, after, rows = self.step(at, now, self._true() if always else going)
            filled = [put_row(self.g, stack, row, at) for stack, row in zip(stacks, rows, strict=True)]
            following = elementwise(self.g, "next_round", "a + 1", at)
            return [value.term for value in (following, on, *after, *filled)]

        return body


def _is_true(value: Value | None) -> bool:
    """Whether a condition is known to hold; so does one that is left out."""
    return value is None or (value.array is not None and bool(value.array.reshape(())))


def put_row(g: Emitter, stack: Value, row: Value, at: Value) -> Value:
    """A stack of rows with one of them replaced."""
    every, sizes = [axis_index(a) for a in range(stack.rank)], [axis_size(a) for a in range(stack.rank)]
    body = f"{cell('y', every)} = {cell('x', every)}\np(z) = at where z in 0:1\n"
    body += f"{cell('y', ['p(0)', *every[1:]])} = {cell('row', every[1:])}"
    inputs = [("x", stack, sizes), ("row", row, sizes[1:]), ("at", at, [])]
    return g.define("put_row", inputs, [("y", stack.element, sizes)], body)
