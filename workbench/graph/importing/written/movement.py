"""Elements put elsewhere: transposed, reshaped, cut, joined, padded, repeated, turned round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import UnsupportedModel
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Dims, Value
from workbench.graph.importing.written.elementwise import index, literal, size
from workbench.graph.importing.written.reductions import call
from workbench.graph.terms.dimensions import Dimension, dimension, replaced, shown, shown_list, symbols


class Sizes:
    """Names of the sizes of one definition: numbers as they are, inputs' sizes by name, others given by the call."""

    def __init__(self) -> None:
        self.known: dict[Dimension, str] = {}
        self.given: dict[str, Dimension] = {}

    def told(self, dims: Dims) -> list[str]:
        """The sizes of an input."""
        found = []
        for dim in dims:
            if dim.constant is None and dim not in self.known:
                self.known[dim] = f"D{len(self.known)}"
            found.append(self.known[dim] if dim.constant is None else str(dim.constant))
        return found

    def wanted(self, dims: Sequence[Dimension]) -> list[str]:
        """The sizes of a result, in words of the inputs' where they are the same."""
        return [self.text(dim) for dim in dims]

    def text(self, dim: Dimension) -> str:
        if dim.constant is not None:
            return str(dim.constant)
        names = {shown(known): dimension(text) for known, text in self.known.items() if known.only_atom()}
        if dim not in self.known and symbols(dim) <= names.keys():
            return shown(replaced(dim, names))
        if dim not in self.known:
            self.known[dim] = f"E{len(self.given)}"
            self.given[self.known[dim]] = dim
        return self.known[dim]


def indices(count: int) -> list[str]:
    return [index(at) for at in range(count)]


def transpose(g: Emitter, value: Value, order: Sequence[int]) -> Value:
    """The axes in another order."""
    order = [axis % max(1, value.rank) for axis in order]
    if order == list(range(value.rank)):
        return value
    out = [size(axis) for axis in order]
    y = call("y", [index(axis) for axis in order])
    read = call("x", indices(value.rank))
    return g.define("transpose", [("x", value, [size(at) for at in range(value.rank)])], [("y", value.element, out)], f"{y} = {read}")  # noqa: E501


def product(dims: Sequence[Dimension]) -> Dimension:
    """The number of elements."""
    total = dimension(1)
    for dim in dims:
        total = total * dim
    return total


def reshape(g: Emitter, value: Value, dims: Dims) -> Value:
    """The same elements in the same order, in other dimensions."""
    if value.dims == dims:
        return value
    groups = regrouped(value.dims, dims)
    names = Sizes()
    sizes, out = names.told(value.dims), names.wanted(dims)
    if product(dims).constant == 0:
        return empty(g, value, dims)
    subscripts = ["0"] * value.rank
    for old, new in groups:
        linear, rest = _linear(new, dims, names), product([value.dims[at] for at in old])
        for at in old:
            dim = value.dims[at]
            rest = _quotient(rest, dim, value.dims, old, at)
            quotient = linear if rest.constant == 1 else f"({linear}) / {_factor(rest, names)}"
            first = at == old[0]
            subscripts[at] = quotient if first else f"({quotient}) % {names.text(dim)}"
    body = f"{call('y', indices(len(dims)))} = {call('x', subscripts)}"
    return g.define("reshape", [("x", value, sizes)], [("y", value.element, out)], body, sizes=names.given)


def empty(g: Emitter, like: Value, dims: Dims) -> Value:
    """A tensor without elements."""
    if any(dim.constant is None for dim in dims):
        raise UnsupportedModel(f"a tensor without elements whose other dimensions vary: {shown_list(dims)}")
    return g.constant(np.zeros([dim.constant for dim in dims], like.element.numpy), like.element)  # type: ignore[arg-type]


def _quotient(rest: Dimension, dim: Dimension, dims: Dims, old: list[int], at: int) -> Dimension:
    return product([dims[later] for later in old if later > at])


def _factor(of: Dimension, names: Sizes) -> str:
    return str(of.constant) if of.constant is not None else f"({_written(of, names)})"


def _written(of: Dimension, names: Sizes) -> str:
    """A product of sizes, in names of the definition."""
    if of in names.known:
        return names.known[of]
    return names.text(of)


def _linear(new: list[int], dims: Dims, names: Sizes) -> str:
    """The place within a group of axes of the result, as text."""
    parts = []
    for at in new:
        stride = product([dims[later] for later in new if later > at])
        parts.append(index(at) if stride.constant == 1 else f"{index(at)} * {_factor(stride, names)}")
    return " + ".join(parts) or "0"


def regrouped(old: Dims, new: Dims) -> list[tuple[list[int], list[int]]]:
    """Axes of both sides in groups that hold equally many elements; axes of size 1 belong to none."""
    befores = [at for at, dim in enumerate(old) if dim.constant != 1]
    afters = [at for at, dim in enumerate(new) if dim.constant != 1]
    ends: dict[Dimension, int] = {}
    for count in range(1, len(afters) + 1):
        ends[product([new[at] for at in afters[:count]])] = count
    groups, start, done = [], 0, 0
    for count in range(1, len(befores) + 1):
        total = product([old[at] for at in befores[:count]])
        if total in ends:
            groups.append((befores[start:count], afters[done : ends[total]]))
            start, done = count, ends[total]
    if product(old) != product(new):
        raise UnsupportedModel(f"a reshape from {shown_list(old)} to {shown_list(new)}, which hold different numbers of elements")  # noqa: E501
    return groups


def resolved_shape(value: Value, wanted: Sequence[Dimension], *, zero_copies: bool) -> Dims:
    """The dimensions a reshape gives: 0 stands for the same as before, -1 for what is left."""
    dims = [value.dims[at] if zero_copies and dim.constant == 0 else dim for at, dim in enumerate(wanted)]
    open_axes = [at for at, dim in enumerate(dims) if dim.constant == -1]
    if open_axes:
        others = product([dim for dim in dims if dim.constant != -1])
        dims[open_axes[0]] = divided(product(value.dims), others)
    return tuple(dims)


def divided(whole: Dimension, by: Dimension) -> Dimension:
    """An exact quotient of two numbers of elements; UnsupportedModel if it is none."""
    if by.constant == 0:
        return dimension(0)
    left = dict(whole.terms)
    if len(by.coefficients) != 1:
        return _same_or_refused(whole, by)
    ((atoms, factor),) = by.terms
    found = {}
    for monomial, coefficient in left.items():
        rest = list(monomial)
        for each in atoms:
            if each not in rest:
                return _same_or_refused(whole, by)
            rest.remove(each)
        if coefficient % factor:
            return _same_or_refused(whole, by)
        found[tuple(rest)] = coefficient // factor
    return Dimension(found)


def _same_or_refused(whole: Dimension, by: Dimension) -> Dimension:
    if whole == by:
        return dimension(1)
    raise UnsupportedModel(f"a reshape of {shown(whole)} elements into parts of {shown(by)}, which need not divide it")


def unsqueezed(value: Value, axes: Sequence[int]) -> Dims:
    """Dimensions with axes of size 1 put in where the result has them."""
    rank = value.rank + len(axes)
    places = {axis % rank for axis in axes}
    rest = iter(value.dims)
    return tuple(dimension(1) if at in places else next(rest) for at in range(rank))


def squeezed(value: Value, axes: Sequence[int] | None) -> Dims:
    """Dimensions without axes of size 1: those given, or all."""
    if axes is None:
        if any(dim.constant is None for dim in value.dims):
            raise UnsupportedModel("a squeeze of all axes of size 1, where it varies which those are")
        places = {at for at, dim in enumerate(value.dims) if dim.constant == 1}
    else:
        places = {axis % value.rank for axis in axes}
    return tuple(dim for at, dim in enumerate(value.dims) if at not in places)


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
    along = index(axis) if step == 1 else f"{step} * {index(axis)}" if step > 0 else f"({step}) * {index(axis)}"
    subscripts[axis] = along if start.constant == 0 else f"{along} + {names.text(start)}"
    if 0 in (dim.constant for dim in dims):
        return empty(g, value, tuple(dims))
    body = f"{call('y', indices(value.rank))} = {call('x', subscripts)} where {index(axis)} in 0:{out[axis]}"
    return g.define("slice", [("x", value, sizes)], [("y", value.element, out)], body, sizes=names.given)


def put(g: Emitter, value: Value, source: Value, axis: int, start: Dimension, step: int) -> Value:
    """A tensor in which the elements along an axis from `start` on, each `step` further, are those of `source`."""
    names = Sizes()
    sizes = names.told(value.dims)
    theirs = names.told(source.dims)
    target = indices(value.rank)
    target[axis] = (index(axis) if step == 1 else f"{step} * {index(axis)}") + f" + {names.text(start)}"
    every = indices(value.rank)
    ranges = f" where {index(axis)} in 0:{theirs[axis]}"
    body = f"{call('y', every)} = {call('x', every)}\n{call('y', target)} = {call('u', every)}{ranges}"
    inputs = [("x", value, sizes), ("u", source, theirs)]
    return g.define("put_slice", inputs, [("y", value.element, sizes)], body, sizes=names.given)


def concatenated(g: Emitter, values: Sequence[Value], axis: int) -> Value:
    """Tensors one after another along an axis."""
    axis %= values[0].rank
    if len(values) == 1:
        return values[0]
    others = [size(at) for at in range(values[0].rank)]
    inputs, lines, offset = [], [], ""
    for at, value in enumerate(values):
        sizes = [*others]
        sizes[axis] = f"L{at}"
        inputs.append((f"x{at}", value, sizes))
        target = indices(value.rank)
        target[axis] += f" + {offset}" if offset else ""
        lines.append(f"{call('y', target)} = {call(f'x{at}', indices(value.rank))}")
        offset = f"{offset} + L{at}" if offset else f"L{at}"
    others[axis] = offset
    return g.define("concatenate", inputs, [("y", values[0].element, others)], "\n".join(lines))


def padded(
    g: Emitter, value: Value, before: Sequence[int], after: Sequence[int], *, mode: str = "constant",
    fill: float | Value = 0,
) -> Value:  # fmt: skip
    """More elements around (fewer where negative): a constant, or those of the border (edge, reflect, wrap)."""
    if not any(before) and not any(after):
        return value
    of, inputs = value.element, [("x", value, [size(at) for at in range(value.rank)])]
    text = literal(fill, of) if not isinstance(fill, Value) else "c"
    if isinstance(fill, Value):
        inputs.append(("c", fill, []))
    out, subscripts, inside = [], [], []
    for at, (low, high) in enumerate(zip(before, after, strict=True)):
        here, extent = index(at), size(at)
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
    read = call("x", subscripts)
    ranges = ", ".join(f"{index(at)} in 0:{extent}" for at, extent in enumerate(out))
    constant = text if of.name == "bool" or isinstance(fill, Value) else f"{of.name}({text})"
    chosen = f"{' && '.join(inside)} ? {read} : {constant}" if inside else read
    body = f"{call('y', indices(value.rank))} = " + (f"{of.name}({chosen})" if of.is_half and inside else chosen)
    return g.define(f"pad_{mode}", inputs, [("y", of, out)], f"{body} where {ranges}")


BORDER = {
    "edge": "min(max({i}, 0), {n} - 1)",
    "reflect": "min(max(({i}), -({i})), 2 * ({n} - 1) - max(({i}), -({i})))",
    "wrap": "({i}) % {n}",
}


def tiled(g: Emitter, value: Value, times: Sequence[Dimension]) -> Value:
    """The whole tensor repeated along each axis."""
    names = Sizes()
    sizes = names.told(value.dims)
    out = names.wanted([dim * count for dim, count in zip(value.dims, times, strict=True)])
    subscripts = [
        i if count.constant == 1 else f"{i} % {s}" for i, s, count in zip(indices(value.rank), sizes, times, strict=True)
    ]
    return g.define("tile", [("x", value, sizes)], [("y", value.element, out)], f"{call('y', indices(value.rank))} = {call('x', subscripts)}", sizes=names.given)  # noqa: E501


def flipped(g: Emitter, value: Value, axes: Sequence[int]) -> Value:
    """The order of elements along axes turned round."""
    turned = {axis % value.rank for axis in axes}
    subscripts = [f"{size(at)} - 1 - {index(at)}" if at in turned else index(at) for at in range(value.rank)]
    sizes = [size(at) for at in range(value.rank)]
    return g.define("flip", [("x", value, sizes)], [("y", value.element, sizes)], f"{call('y', indices(value.rank))} = {call('x', subscripts)}")  # noqa: E501


def filled(g: Emitter, dims: Dims, fill: Value) -> Value:
    """A tensor with the same number everywhere."""
    from workbench.graph.importing.written.elementwise import expand

    return expand(g, fill, dims)
