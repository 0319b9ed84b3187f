"""Recurrent layers: one definition with a sequential axis for the whole sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.movement import transpose
from workbench.records import record

Activation = Callable[[str], str]
INPUTS = "a(t, b, k) +=! x(t, b, i) * w(k, i) where t in 0:T"


@record(slots=True, eq=False)
class Layer:
    """One direction of a recurrent layer.

    `x` [T, B, I], `w` [G·H, I], `r` [G·H, H]; `wb` and `rb` [G·H]; `initial` states [B, H]; `activations` of the gates.
    """

    x: Value
    w: Value
    r: Value
    wb: Value | None
    rb: Value | None
    initial: Sequence[Value]
    activations: Sequence[Activation]
    backwards: bool = False
    peepholes: Value | None = None


def lstm(g: Emitter, layer: Layer) -> tuple[Value, ...]:
    """All outputs [T, B, H], the last output and the last cell [B, H] (Hochreiter and Schmidhuber, 1997).

    Gates stand in the order input, output, forget, cell.
    """
    f, inner, out = layer.activations
    p = (lambda at: f" + p({at}*H + j) * c(t, b, j)") if layer.peepholes is not None else (lambda at: "")
    late = " + p(H + j) * c(t+1, b, j)" if layer.peepholes is not None else ""
    a = _gate(layer)
    step = [
        _recurrent(4),
        f"c(t+1, b, j) = {f(a(2) + p(2))} * c(t, b, j) + {f(a(0) + p(0))} * {inner(a(3))}",
        f"h(t+1, b, j) = {f(a(1) + late)} * {out('c(t+1, b, j)')}",
    ]
    lines = [INPUTS, "h(0, b, j) = h_first(b, j)", "c(0, b, j) = c_first(b, j)"]
    lines += _loop(step)
    lines += [_outputs(layer), "h_last(b, j) = h(T, b, j)", "c_last(b, j) = c(T, b, j)"]
    return _defined(g, "lstm", layer, lines, 4, ("h_last", "c_last"))


def gru(g: Emitter, layer: Layer, *, reset_after: bool) -> tuple[Value, ...]:
    """All outputs and the last one (Cho et al., 2014); gates stand in the order update, reset, hidden."""
    f, inner = layer.activations
    a, now = _gate(layer), _now(layer)
    if reset_after:
        hidden = f"(u(t, b, 2*H + j){_bias(layer.rb, 'rb', 2)})"
        mixed = f"a({now}, b, 2*H + j) + {f(a(1))} * {hidden}{_bias(layer.wb, 'wb', 2)}"
        step = [_recurrent(3)]
    else:
        mixed = f"a({now}, b, 2*H + j) + v(t, b, j){_bias(layer.rb, 'rb', 2)}{_bias(layer.wb, 'wb', 2)}"
        step = [
            "u(t, b, k) +=! h(t, b, m) * r(m, k) where k in 0:2*H",
            f"q(t, b, j) = {f(a(1))} * h(t, b, j) where j in 0:H",
            "v(t, b, j) +=! q(t, b, m) * r(m, 2*H + j) where j in 0:H",
        ]
    step.append(f"z(t, b, j) = {f(a(0))} where j in 0:H")
    step.append(f"h(t+1, b, j) = (1.0 - z(t, b, j)) * {inner(mixed)} + z(t, b, j) * h(t, b, j)")
    lines = [INPUTS, "h(0, b, j) = h_first(b, j)", *_loop(step), _outputs(layer), "h_last(b, j) = h(T, b, j)"]
    return _defined(g, "gru", layer, lines, 3, ("h_last",))


def rnn(g: Emitter, layer: Layer) -> tuple[Value, ...]:
    """All outputs and the last one of Elman's network."""
    (f,) = layer.activations
    step = [_recurrent(1), f"h(t+1, b, j) = {f(_gate(layer)(0))}"]
    lines = [INPUTS, "h(0, b, j) = h_first(b, j)", *_loop(step), _outputs(layer), "h_last(b, j) = h(T, b, j)"]
    return _defined(g, "rnn", layer, lines, 1, ("h_last",))


def _gate(layer: Layer) -> Callable[[int], str]:
    now = _now(layer)

    def gate(at: int) -> str:
        k = "j" if at == 0 else f"{at}*H + j" if at > 1 else "H + j"
        return f"a({now}, b, {k}) + u(t, b, {k}){_bias(layer.wb, 'wb', at)}{_bias(layer.rb, 'rb', at)}"

    return gate


def _bias(value: Value | None, name: str, at: int) -> str:
    return f" + {name}({at}*H + j)" if value is not None else ""


def _now(layer: Layer) -> str:
    """The place in the sequence that step t is at: the product of all inputs is in their own order."""
    return "T - 1 - t" if layer.backwards else "t"


def _recurrent(gates: int) -> str:
    return f"u(t, b, k) +=! h(t, b, m) * r(m, k) where k in 0:{gates}*H"


def _outputs(layer: Layer) -> str:
    return f"y(t, b, j) = h({'T - t' if layer.backwards else 't + 1'}, b, j) where t in 0:T"


def _loop(step: Sequence[str]) -> list[str]:
    return ["for t in 0:T {", *step, "}"]


def _defined(
    g: Emitter, name: str, layer: Layer, lines: list[str], gates: int, last: tuple[str, ...]
) -> tuple[Value, ...]:
    rows, of = f"{gates}*H" if gates > 1 else "H", layer.x.element
    # Of weights that are transposed the sums over states run in lanes; where they are constants, that is done once.
    r = transpose(g, layer.r, [1, 0])
    inputs = [("x", layer.x, ["T", "B", "I"]), ("w", layer.w, [rows, "I"]), ("r", r, ["H", rows])]
    inputs += [(n, value, [rows]) for n, value in (("wb", layer.wb), ("rb", layer.rb)) if value is not None]
    inputs += [("p", layer.peepholes, ["3*H"])] if layer.peepholes is not None else []
    inputs += [(n, value, ["B", "H"]) for n, value in zip(("h_first", "c_first"), layer.initial, strict=False)]
    outputs = [("y", of, ["T", "B", "H"]), *((each, of, ["B", "H"]) for each in last)]
    return g.several(name, inputs, outputs, "\n".join(lines))
