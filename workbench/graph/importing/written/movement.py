"""Elements put elsewhere: transposed, cut, joined, padded, repeated, turned round."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Dims, Value
from workbench.graph.importing.written.elementwise import axis_index, axis_size, expand, literal
from workbench.graph.importing.written.reductions import cell
from workbench.graph.importing.written.reshaping import (
    divided,
    empty,
    product,
    regrouped,
    reshape,
    resolved_shape,
    squeezed,
    unsqueezed,
)
from workbench.graph.importing.written.sizes import Sizes, indices
from workbench.graph.terms.dimensions import Dimension


def transpose(g: Emitter, value: Value, order: Sequence[int]) -> Value:
    """The axes in another order."""
    order = [axis % max(1, value.rank) for axis in order]
    if order == list(range(value.rank)):
        return value
    out = [axis_size(axis) for axis in order]
    y = cell("y", [axis_index(axis) for axis in order])
    read = cell("x", indices(value.rank))
    return g.define(
        "transpose",
        [("x", value, [axis_size(at) for at in range(value.rank)])],
        [("y", value.element, out)],
        f"{y} = {read}",
    )


def sliced(g: Emitter, value: Value, axis: int, start: Dimension, count: Dimension, step: int) -> Value:
    """`count` elements along an axis from `start` on, each `step` further."""
    if start.constant == 0 and step == 1 and count == value.dims[axis]:
        return value
    names = Sizes()
    sizes = names.told(value.dims)
    dims = [*value.dims]
    dims[axis] = count
    out = names.wanted(dims)
    subscripts = indices(value.rank)
    own = axis_index(axis)
    along = own if step == 1 else f"{step} * {own}" if step > 0 else f"({step}) * {own}"
    subscripts[axis] = along if start.constant == 0 else f"{along} + {names.text(start)}"
    if 0 in (dim.constant for dim in dims):
        return empty(g, value, tuple(dims))
    body = f"{cell('y', indices(value.rank))} = {cell('x', subscripts)} where {axis_index(axis)} in 0:{out[axis]}"
    return g.define("slice", [("x", value, sizes)], [("y", value.element, out)], body, sizes=names.given)


def put(g: Emitter, value: Value, source: Value, axis: int, start: Dimension, step: int) -> Value:
    """A tensor in which the elements along an axis from `start` on, each `step` further, are those of `source`."""
    names = Sizes()
    sizes = names.told(value.dims)
    theirs = names.told(source.dims)
    target = indices(value.rank)
    target[axis] = (axis_index(axis) if step == 1 else f"{step} * {axis_index(axis)}") + f" + {names.text(start)}"
    every = indices(value.rank)
    ranges = f" where {axis_index(axis)} in 0:{theirs[axis]}"
    body = f"{cell('y', every)} = {cell('x', every)}\n{cell('y', target)} = {cell('u', every)}{ranges}"
    inputs = [("x", value, sizes), ("u", source, theirs)]
    return g.define("put_slice", inputs, [("y", value.element, sizes)], body, sizes=names.given)


def concatenated(g: Emitter, values: Sequence[Value], axis: int) -> Value:
    """Tensors one after another along an axis."""
    axis %= values[0].rank
    if len(values) == 1:
        return values[0]
    others = [axis_size(at) for at in range(values[0].rank)]
    inputs, lines, offset = [], [], ""
    for at, value in enumerate(values):
        sizes = [*others]
        sizes[axis] = f"L{at}"
        inputs.append((f"x{at}", value, sizes))
        target = indices(value.rank)
        target[axis] += f" + {offset}" if offset else ""
        lines.append(f"{cell('y', target)} = {cell(f'x{at}', indices(value.rank))}")
        offset = f"{offset} + L{at}" if offset else f"L{at}"
    others[axis] = offset
    return g.define("concatenate", inputs, [("y", values[0].element, others)], "\n".join(lines))


def padded_tensor(
    g: Emitter, value: Value, before: Sequence[int], after: Sequence[int], *, mode: str = "constant",
    fill: float | Value = 0,
) -> Value:  # fmt: skip
    """More elements around (fewer where negative): a constant, or those of the border (edge, reflect, wrap)."""
    if not any(before) and not any(after):
        return value
    of, inputs = value.element, [("x", value, [axis_size(at) for at in range(value.rank)])]
    text = literal(fill, of) if not isinstance(fill, Value) else "c"
    if isinstance(fill, Value):
        inputs.append(("c", fill, []))
    out, subscripts, inside = [], [], []
    for at, (low, high) in enumerate(zip(before, after, strict=True)):
        here, extent = axis_index(at), axis_size(at)
        grown = low + high
        out.append(extent if not grown else f"{extent} + {grown}" if grown > 0 else f"{extent} - {-grown}")
        source = here if not low else f"{here} - {low}" if low > 0 else f"{here} + {-low}"
        if mode == "constant":
            if low > 0:
                inside.append(f"{here} >= {low}")
            if high > 0:
                inside.append(f"{source} < {extent}")
        elif low > 0 or high > 0:
            source = BORDER[mode].format(i=source, n=extent)
        subscripts.append(source)
    read = cell("x", subscripts)
    ranges = ", ".join(f"{axis_index(at)} in 0:{extent}" for at, extent in enumerate(out))
    constant = text if of.name == "bool" or isinstance(fill, Value) else f"{of.name}({text})"
    chosen = f"{' && '.join(inside)} ? {read} : {constant}" if inside else read
    body = f"{cell('y', indices(value.rank))} = " + (f"{of.name}({chosen})" if of.is_half and inside else chosen)
    return g.define(f"pad_{mode}", inputs, [("y", of, out)], f"{body} where {ranges}")


BORDER = {
    "edge": "min(max({i}, 0), {n} - 1)",
    "reflect": "min(max(({i}), -({i})), 2 * ({n} - 1) - max(({i}), -({i})))",
    "wrap": "({i}) % {n}",
}


def repeated(g: Emitter, value: Value, times: Sequence[Dimension]) -> Value:
    """The whole tensor repeated along each axis."""
    names = Sizes()
    sizes = names.told(value.dims)
    out = names.wanted([dim * count for dim, count in zip(value.dims, times, strict=True)])
    subscripts = [
        i if count.constant == 1 else f"{i} % {s}"
        for i, s, count in zip(indices(value.rank), sizes, times, strict=True)
    ]
    return g.define(
        "tile",
        [("x", value, sizes)],
        [("y", value.element, out)],
        f"{cell('y', indices(value.rank))} = {cell('x', subscripts)}",
        sizes=names.given,
    )


def flipped(g: Emitter, value: Value, axes: Sequence[int]) -> Value:
    """The order of elements along axes turned round."""
    turned = {axis % value.rank for axis in axes}
    every = map(axis_index, range(value.rank))
    subscripts = [f"{axis_size(at)} - 1 - {own}" if at in turned else own for at, own in enumerate(every)]
    sizes = [axis_size(at) for at in range(value.rank)]
    return g.define(
        "flip",
        [("x", value, sizes)],
        [("y", value.element, sizes)],
        f"{cell('y', indices(value.rank))} = {cell('x', subscripts)}",
    )


def constant_tensor(g: Emitter, dims: Dims, fill: Value) -> Value:
    """A tensor with the same number everywhere."""
    return expand(g, fill, dims)


__all__ = [
    "concatenated",
    "constant_tensor",
    "divided",
    "empty",
    "flipped",
    "padded_tensor",
    "product",
    "put",
    "regrouped",
    "repeated",
    "reshape",
    "resolved_shape",
    "sliced",
    "squeezed",
    "transpose",
    "unsqueezed",
]
