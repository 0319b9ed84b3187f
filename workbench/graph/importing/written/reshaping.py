"""The same elements in the same order, in other dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import UnsupportedModel
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Dims, Value
from workbench.graph.importing.written.elementwise import axis_index
from workbench.graph.importing.written.reductions import cell
from workbench.graph.importing.written.sizes import Sizes, indices
from workbench.graph.terms.dimensions import Dimension, dimension, shown, shown_list


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
    body = f"{cell('y', indices(len(dims)))} = {cell('x', subscripts)}"
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
        parts.append(axis_index(at) if stride.constant == 1 else f"{axis_index(at)} * {_factor(stride, names)}")
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
        raise UnsupportedModel(
            f"a reshape from {shown_list(old)} to {shown_list(new)}, which hold different numbers of elements"
        )
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
