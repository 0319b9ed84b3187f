"""Control flow: branches, and loops as functions that call themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.recursion import LoopBuilder
from workbench.graph.importing.values import Dims, Value, symbolic
from workbench.graph.importing.written import lookups, movement
from workbench.graph.importing.written.elementwise import elementwise, expand, index, size
from workbench.graph.importing.written.reductions import call
from workbench.graph.terms.dimensions import Dimension, dimension
from workbench.graph.terms.nodes import Term
from workbench.lang.dtypes import BOOL, INT64


def conditional(node: Node) -> list[Value]:
    """`if`; only the branch that is taken, where the condition is known."""
    test = scalar(node, node.input(0))
    assert node.around is not None
    if test.array is not None:
        return node.around.branch(node("then_branch" if bool(test.array) else "else_branch"), [])
    then, otherwise = (node.around.branch(node(name), []) for name in ("then_branch", "else_branch"))
    for at, (a, b) in enumerate(zip(then, otherwise, strict=True)):
        if a.rank != b.rank or a.element != b.element:
            node.refuse(f"its branches give output {at} different types: {kind(a)} and {kind(b)}")
    builder = node.g.builder
    if len(then) == 1:
        return [node.g.value(builder.condition(test.term, then[0].term, otherwise[0].term))]
    tuples = [builder.tuple(*(value.term for value in values)) for values in (then, otherwise)]
    found = builder.condition(test.term, *tuples)
    return [node.g.value(builder.project(found, at)) for at in range(len(then))]


def kind(value: Value) -> str:
    """A type for messages."""
    from workbench.graph.terms.dimensions import shown_list

    return f"{value.element.name}{shown_list(value.dims)}"


def scalar(node: Node, value: Value) -> Value:
    """A value of one element without axes."""
    return value if value.rank == 0 else movement.reshape(node.g, value, ())


def loop(node: Node) -> list[Value]:
    """A loop with a count, a condition, or both; what it collects has a row for each round, so those must be known."""
    assert node.around is not None
    body = node("body")
    count, go = node.optional(0), node.optional(1)
    carried = [value for value in node.inputs[2:]]
    if None in carried:
        node.refuse("a state without an initial value")
    collected = len(body.output) - 1 - len(carried)
    rounds = _rounds(node, count)
    if collected and rounds is None:
        if count is None:
            node.refuse("it collects a row in each round, and how many there are is data of a run")
        node.unknown(0, "count of rounds")
    always = go is None or (go.array is not None and bool(go.array.reshape(())))
    if go is not None and go.array is not None and not bool(go.array.reshape(())):
        rounds = dimension(0)

    def step(at: Value, state: Sequence[Value], on: Value) -> tuple[Value, list[Value], list[Value]]:
        found = node.around.branch(body, [at, on, *state])  # type: ignore[union-attr]
        return scalar(node, found[0]), found[1 : 1 + len(state)], found[1 + len(state) :]

    return _run(node, rounds, count, go, always, [value for value in carried if value is not None], collected, step)


def _rounds(node: Node, count: Value | None) -> Dimension | None:
    from workbench.graph.importing.values import as_dims

    known = as_dims(count) if count is not None else None
    return known[0] if known else None


def _run(
    node: Node, rounds: Dimension | None, count: Value | None, go: Value | None, always: bool, state: list[Value],
    collected: int, step: Any,
) -> list[Value]:  # fmt: skip
    """The state at the end of a loop, and what it collects."""
    g = node.g
    builder = g.builder
    assert isinstance(builder, LoopBuilder)
    true = g.constant(np.ones((), bool), BOOL)
    zero = g.constant(np.zeros((), np.int64), INT64)
    # A trial round tells the types of what is collected, and whether the condition ever changes.
    trial_at = g.value(builder.constant(np.zeros((), np.int64)))
    trial_at.contents = None
    on, state_after, rows = step(trial_at, state, true if always else scalar(node, go))  # type: ignore[arg-type]
    always = always and on.array is not None and bool(on.array)
    if collected and not always:
        node.refuse("it collects a row in each round, and a condition may end it earlier")
    for at, (before, after) in enumerate(zip(state, state_after, strict=True)):
        if before.element != after.element or before.dims != after.dims:
            node.refuse(f"the type of state {at} changes from one round to the next: {kind(before)} to {kind(after)}")
    places = [g.define("nothing", [], [("y", row.element, [])], f"y = {'false' if row.element == BOOL else row.element.name + '(0)'}") for row in rows]  # noqa: E501
    stacks = [expand(g, place, (rounds, *row.dims)) for place, row in zip(places, rows, strict=True)]  # type: ignore[misc]
    limit = scalar(node, count) if rounds is None and count is not None else None
    if rounds is not None:
        limit = g.contents(symbolic(rounds))
    started = scalar(node, go) if go is not None else true

    def values(terms: Sequence[Term]) -> list[Value]:
        return [g.value(term) for term in terms]

    def test(*terms: Term) -> Term:
        at, going, *_ = values(terms)
        if limit is None:
            return going.term
        if always:
            return elementwise(g, "scalar_before", "a < b", at, limit, element=BOOL).term
        return elementwise(g, "scalar_before_and", "c && a < b", at, limit, going, element=BOOL).term

    def body(*terms: Term) -> list[Term]:
        at, going, *rest = values(terms)
        now, held = rest[: len(state)], rest[len(state) :]
        on, after, rows = step(at, now, true if always else going)
        filled = [put(node, stack, row, at) for stack, row in zip(held, rows, strict=True)]
        following = elementwise(g, "scalar_next", "a + 1", at)
        return [following.term, on.term, *(value.term for value in (*after, *filled))]

    names = ["i", "go", *(f"s{at}" for at in range(len(state))), *(f"c{at}" for at in range(len(stacks)))]
    initial = [zero, started, *state, *stacks]
    found = builder.loop("rounds", [value.term for value in initial], names, test, body)
    return [g.value(term) for term in found[2:]]


def put(node: Node, stack: Value, row: Value, at: Value) -> Value:
    """A stack of rows with one of them replaced."""
    every, sizes = [index(a) for a in range(stack.rank)], [size(a) for a in range(stack.rank)]
    body = f"{call('y', every)} = {call('x', every)}\np(z) = at where z in 0:1\n"
    body += f"{call('y', ['p(0)', *every[1:]])} = {call('row', every[1:])}"
    inputs = [("x", stack, sizes), ("row", row, sizes[1:]), ("at", at, [])]
    return node.g.define("put_row", inputs, [("y", stack.element, sizes)], body)


def scan(node: Node) -> list[Value]:
    """A loop over the slices of some inputs."""
    assert node.around is not None
    body, count = node("body"), node("num_scan_inputs")
    given = [value for value in node.given()]
    state, over = given[: len(given) - count], given[len(given) - count :]
    axes = node("scan_input_axes", [0] * count)
    backwards = node("scan_input_directions", [0] * count)
    collected = len(body.output) - len(state)
    out_axes = node("scan_output_axes", [0] * collected)
    out_backwards = node("scan_output_directions", [0] * collected)
    fronted = [_first(node, value, axis, bool(turn)) for value, axis, turn in zip(over, axes, backwards, strict=True)]
    rounds = fronted[0].dims[0]

    def step(at: Value, now: Sequence[Value], on: Value) -> tuple[Value, list[Value], list[Value]]:
        slices = [lookups.gather(node.g, value, at, 0) for value in fronted]
        found = node.around.branch(body, [*now, *slices])  # type: ignore[union-attr]
        return on, found[: len(state)], found[len(state) :]

    found = _run(node, rounds, None, None, True, state, collected, step)
    ended = found[: len(state)]
    for value, axis, turn in zip(found[len(state) :], out_axes, out_backwards, strict=True):
        turned = movement.flipped(node.g, value, [0]) if turn else value
        order = list(range(1, value.rank))
        order.insert(axis % value.rank, 0)
        ended.append(movement.transpose(node.g, turned, order))
    return ended


def _first(node: Node, value: Value, axis: int, turned: bool) -> Value:
    axis %= value.rank
    order = [axis, *(at for at in range(value.rank) if at != axis)]
    found = movement.transpose(node.g, value, order)
    return movement.flipped(node.g, found, [0]) if turned else found


WRITERS: dict[str, Writer] = {"If": conditional, "Loop": loop, "Scan": scan}
__all__ = ["WRITERS", "Dims"]
