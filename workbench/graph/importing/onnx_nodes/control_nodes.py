"""Control flow: branches, and loops as functions that call themselves."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph.importing.loops import Rounds
from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.values import Value, as_dims
from workbench.graph.importing.written import lookups, movement
from workbench.graph.terms.dimensions import Dimension, dimension, shown_list


def conditional(node: Node) -> list[Value]:
    """`if`; only the branch that is taken, where the condition is known."""
    test = _scalar(node, node.input(0))
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
    return f"{value.element.name}{shown_list(value.dims)}"


def _scalar(node: Node, value: Value) -> Value:
    """A value of one element without axes."""
    return value if value.rank == 0 else movement.reshape(node.g, value, ())


def loop(node: Node) -> list[Value]:
    """A loop with a count, a condition, or both; what it collects has a row for each round, so those must be known."""
    assert node.around is not None
    body = node("body")
    count, go = node.optional(0), node.optional(1)
    carried = [value for value in node.inputs[2:] if value is not None]
    if len(carried) < len(node.inputs[2:]):
        node.refuse("a state without an initial value")
    collected = len(body.output) - 1 - len(carried)
    rounds = _rounds(node, count)
    if collected and rounds is None:
        if count is None:
            node.refuse("it collects a row in each round, and how many there are is data of a run")
        node.unknown(0, "count of rounds")
    if go is not None and go.array is not None and not bool(go.array.reshape(())):
        rounds = dimension(0)

    def step(at: Value, state: Sequence[Value], on: Value) -> tuple[Value, list[Value], list[Value]]:
        found = node.around.branch(body, [at, on, *state])  # type: ignore[union-attr]
        return _scalar(node, found[0]), found[1 : 1 + len(state)], found[1 + len(state) :]

    start = _scalar(node, go) if go is not None else None
    limit = _scalar(node, count) if count is not None else None
    return Rounds(node, step, carried, collected, rounds, limit, start).results()


def _rounds(node: Node, count: Value | None) -> Dimension | None:
    known = as_dims(count) if count is not None else None
    return known[0] if known else None


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

    found = Rounds(node, step, state, collected, rounds).results()
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
