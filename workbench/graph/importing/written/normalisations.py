"""Normalisations: statistics over some axes, then a scale and a bias along others."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.elementwise import axis_index, axis_size, literal
from workbench.graph.importing.written.reductions import cell, count_of, positive, working
from workbench.records import record


@record(slots=True, eq=False)
class Along:
    """A tensor that lies along some axes of another, as a scale of each channel does."""

    value: Value
    axes: tuple[int, ...]

    def input(self, name: str) -> tuple[str, Value, list[str]]:
        ones = [dim.constant == 1 for dim in self.value.dims]
        sizes = ["1" if one else axis_size(at) for one, at in zip(ones, self.axes, strict=True)]
        return name, self.value, sizes

    def read(self, name: str) -> str:
        ones = [dim.constant == 1 for dim in self.value.dims]
        subscripts = ["0" if one else axis_index(at) for one, at in zip(ones, self.axes, strict=True)]
        return cell(name, subscripts)


def last_axes(value: Value, of: Value) -> Along:
    """A tensor aligned at the right with another."""
    return Along(value, tuple(range(of.rank - value.rank, of.rank)))


def channels(value: Value) -> Along:
    """A vector along axis 1."""
    return Along(value, (1,))


def normalised(
    g: Emitter, name: str, x: Value, axes: Sequence[int], epsilon: float, *, scale: Along | None = None,
    bias: Along | None = None, centred: bool = True,
) -> Value:  # fmt: skip
    """`(x - mean) / sqrt(variance + epsilon) · scale + bias` over axes; without a centre by the mean square."""
    axes, within = positive(axes, x.rank), working(x.element)
    every = [axis_index(at) for at in range(x.rank)]
    free = [i for at, i in enumerate(every) if at not in axes]
    count, sizes = count_of(axes), [axis_size(at) for at in range(x.rank)]
    read = cell("x", every)
    read = read if within == x.element else f"{within.name}({read})"
    mean, spread, d = cell("mean", free), cell("spread", free), cell("d", every)
    lines = []
    if centred:
        lines += [f"{mean} +=! {read}", f"{mean} = {mean} / ({count})", f"{d} = {read} - {mean}"]
    else:
        lines += [f"{d} = {read}"]
    lines += [f"{spread} +=! {d} * {d}", f"{spread} = rsqrt({spread} / ({count}) + {literal(epsilon, within)})"]
    value, inputs = f"{d} * {spread}", [("x", x, sizes)]
    for sign, along, called in (("*", scale, "scale"), ("+", bias, "bias")):
        if along is not None:
            other = along.read(called)
            value += f" {sign} " + (other if along.value.element == within else f"{within.name}({other})")
            inputs.append(along.input(called))
    value = value if within == x.element else f"{x.element.name}({value})"
    lines.append(f"{cell('y', every)} = {value}")
    return g.define(name, inputs, [("y", x.element, sizes)], "\n".join(lines))


def batch_norm(g: Emitter, x: Value, scale: Value, bias: Value, mean: Value, variance: Value, epsilon: float) -> Value:
    """Batch normalisation by statistics that are given."""
    every = [axis_index(at) for at in range(x.rank)]
    sizes, within = [axis_size(at) for at in range(x.rank)], working(x.element)
    parts = {
        "x": cell("x", every),
        "scale": "scale(i1)",
        "bias": "bias(i1)",
        "mean": "mean(i1)",
        "variance": "variance(i1)",
    }
    values = {"x": x, "scale": scale, "bias": bias, "mean": mean, "variance": variance}
    cast = {n: text if values[n].element == within else f"{within.name}({text})" for n, text in parts.items()}
    value = (
        f"({cast['x']} - {cast['mean']}) * rsqrt({cast['variance']} + {literal(epsilon, within)})"
        f" * {cast['scale']} + {cast['bias']}"
    )
    value = value if within == x.element else f"{x.element.name}({value})"
    inputs = [("x", x, sizes), *((n, values[n], [axis_size(1)]) for n in ("scale", "bias", "mean", "variance"))]
    return g.define("batch_norm", inputs, [("y", x.element, sizes)], f"{cell('y', every)} = {value}")


def local_response(g: Emitter, x: Value, count: int, alpha: float, beta: float, bias: float) -> Value:
    """Each element divided by a power of the squares of its neighbours in other channels (Krizhevsky et al., 2012)."""
    every, sizes = [axis_index(at) for at in range(x.rank)], [axis_size(at) for at in range(x.rank)]
    low = (count - 1) // 2
    near = [*every]
    near[1] = f"{every[1]} + k - {low}"
    inside = f"{near[1]} >= 0 && {near[1]} < {sizes[1]}"
    ranges = ", ".join([f"{i} in 0:{s}" for i, s in zip(every, sizes, strict=True)] + [f"k in 0:{count}"])
    square = f"{cell('x', near)} * {cell('x', near)}"
    body = f"{cell('s', every)} +=! {inside} ? {square} : 0 where {ranges}\n"
    scaled = f"{literal(bias, x.element)} + {literal(alpha / count, x.element)} * {cell('s', every)}"
    body += f"{cell('y', every)} = {cell('x', every)} / pow({scaled}, {literal(beta, x.element)})"
    return g.define("local_response", [("x", x, sizes)], [("y", x.element, sizes)], body)
