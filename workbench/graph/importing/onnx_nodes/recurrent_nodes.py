"""Recurrent layers, in one direction or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import movement, recurrences
from workbench.graph.importing.written.elementwise import expand, literal
from workbench.graph.importing.written.recurrences import Activation, Layer
from workbench.graph.terms.dimensions import dimension

# Name of an activation → its definition over `{x}`, and the defaults of its attributes.
ACTIVATIONS: dict[str, tuple[str, float, float]] = {
    "affine": ("({alpha} * ({x}) + {beta})", 1.0, 0.0),
    "elu": ("(({x}) < 0.0 ? {alpha} * expm1({x}) : ({x}))", 1.0, 0.0),
    "hardsigmoid": ("max(0.0, min(1.0, {alpha} * ({x}) + {beta}))", 0.2, 0.5),
    "leakyrelu": ("(({x}) < 0.0 ? {alpha} * ({x}) : ({x}))", 0.01, 0.0),
    "relu": ("max({x}, 0.0)", 0.0, 0.0),
    "scaledtanh": ("({alpha} * tanh({beta} * ({x})))", 1.0, 1.0),
    "sigmoid": ("sigmoid({x})", 0.0, 0.0),
    "softplus": ("log1p(exp({x}))", 0.0, 0.0),
    "softsign": ("(({x}) / (1.0 + abs({x})))", 0.0, 0.0),
    "tanh": ("tanh({x})", 0.0, 0.0),
    "thresholdedrelu": ("(({x}) > {alpha} ? ({x}) : 0.0)", 1.0, 0.0),
}


def activations(node: Node, defaults: Sequence[str], directions: int) -> list[list[Activation]]:
    """The activations of each direction."""
    names = [name.lower() for name in node("activations", list(defaults) * directions)]
    clip = node("clip")
    each = [_activation(node, name, at, clip) for at, name in enumerate(names)]
    count = len(defaults)
    return [each[at * count : (at + 1) * count] for at in range(directions)]


def _activation(node: Node, name: str, at: int, clip: float | None) -> Activation:
    if name not in ACTIVATIONS:
        node.refuse(f"unknown activation {name!r}; known: {', '.join(ACTIVATIONS)}")
    text, alpha, beta = ACTIVATIONS[name]
    alphas, betas = node("activation_alpha", []), node("activation_beta", [])
    a, b = (literal(given[at] if at < len(given) else default) for given, default in ((alphas, alpha), (betas, beta)))

    def apply(x: str) -> str:
        cut = f"min(max({x}, -{literal(clip)}), {literal(clip)})" if clip else x
        return text.format(x=cut, alpha=a, beta=b)

    return apply


def recurrent(node: Node, gates: int, defaults: Sequence[str], apply: Callable[..., Sequence[Value]]) -> list[Value]:
    """A layer: the outputs of both directions beside each other, then their last states."""
    x = node.input(0)
    batch_first = bool(node("layout", 0))
    x = movement.transpose(node.g, x, [1, 0, 2]) if batch_first else x
    _check_lengths(node, x)
    direction = node("direction", "forward")
    count = 2 if direction == "bidirectional" else 1
    found = []
    for at, chosen in enumerate(activations(node, defaults, count)):
        layer = _layer(node, x, at, gates, chosen, backwards=direction == "reverse" or at == 1, batch_first=batch_first)
        found.append(apply(node, layer))
    outputs = []
    for number, parts in enumerate(zip(*found, strict=True)):
        axis = 1 if number == 0 else 0
        raised = [movement.reshape(node.g, each, movement.unsqueezed(each, [axis])) for each in parts]
        joined = movement.concatenated(node.g, raised, axis)
        if batch_first:
            joined = movement.transpose(node.g, joined, [2, 0, 1, 3] if number == 0 else [1, 0, 2])
        outputs.append(joined)
    return outputs


def _check_lengths(node: Node, x: Value) -> None:
    lengths = node.optional(4)
    if lengths is None:
        return
    if lengths.array is None or any(int(each) != x.dims[0].constant for each in lengths.array.reshape(-1)):
        node.refuse("sequences of different lengths (input 4)")


def _layer(
    node: Node, x: Value, at: int, gates: int, chosen: list[Activation], *, backwards: bool, batch_first: bool
) -> Layer:
    g = node.g
    w, r = (_picked(node, node.input(place), at, 0) for place in (1, 2))
    bias, rows = node.optional(3), w.dims[0]
    wb = rb = None
    if bias is not None:
        both = _picked(node, bias, at, 0)
        wb = movement.sliced(g, both, 0, dimension(0), rows, 1)
        rb = movement.sliced(g, both, 0, rows, rows, 1)
    hidden = r.dims[1]
    states = []
    for place in (5, 6):
        given = node.optional(place)
        if given is None:
            states.append(expand(g, g.scalar(0, x.element), (x.dims[1], hidden)))
        else:
            states.append(_picked(node, given, at, 1 if batch_first else 0))
    del gates
    holes = node.optional(7)
    peepholes = _picked(node, holes, at, 0) if holes is not None else None
    return Layer(x, w, r, wb, rb, states, chosen, backwards, peepholes)


def _picked(node: Node, value: Value, at: int, axis: int) -> Value:
    part = movement.sliced(node.g, value, axis, dimension(at), dimension(1), 1)
    return movement.reshape(node.g, part, movement.squeezed(part, [axis]))


def _lstm(node: Node, layer: Layer) -> Sequence[Value]:
    if node("input_forget", 0):
        node.refuse("coupled input and forget gates (input_forget=1)")
    return recurrences.lstm(node.g, layer)


def _gru(node: Node, layer: Layer) -> Sequence[Value]:
    single = Layer(layer.x, layer.w, layer.r, layer.wb, layer.rb, layer.initial[:1], layer.activations, layer.backwards)
    return recurrences.gru(node.g, single, reset_after=bool(node("linear_before_reset", 0)))


def _rnn(node: Node, layer: Layer) -> Sequence[Value]:
    single = Layer(layer.x, layer.w, layer.r, layer.wb, layer.rb, layer.initial[:1], layer.activations, layer.backwards)
    return recurrences.rnn(node.g, single)


WRITERS: dict[str, Writer] = {
    "GRU": lambda node: recurrent(node, 3, ("Sigmoid", "Tanh"), _gru),
    "LSTM": lambda node: recurrent(node, 4, ("Sigmoid", "Tanh", "Tanh"), _lstm),
    "RNN": lambda node: recurrent(node, 1, ("Tanh",), _rnn),
}
