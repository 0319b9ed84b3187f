"""Gathers and scatters by indices that are data, selections, places."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import UnsupportedModel
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.elementwise import axis_index, axis_size, broadcast
from workbench.graph.importing.written.reductions import cell, working
from workbench.graph.terms.dimensions import Dimension
from workbench.lang.dtypes import BOOL, INT64

REDUCTIONS = {"none": "=", "add": "+=", "mul": "*=", "max": "max=", "min": "min="}


def _places(indices: Value, subscripts: Sequence[str], extent: str, ranges: str = "") -> tuple[str, str]:
    """The statement that counts negative indices from the end, and how its result is read."""
    read, target = cell("ix", subscripts), cell("p", subscripts)
    if not subscripts:
        target, ranges = "p(z)", " where z in 0:1"
    wrapped = f"{read} < 0 ? {read} + {extent} : {read}" if indices.element.kind == "int" else read
    return f"{target} = {wrapped}{ranges}\n", target if subscripts else "p(0)"


def gather(g: Emitter, table: Value, indices: Value, axis: int) -> Value:
    """Slices of a table along an axis, where indices say; those below 0 count from the end."""
    axis %= table.rank
    own = [axis_size(at) for at in range(table.rank)]
    theirs, at_theirs = [f"M{at}" for at in range(indices.rank)], [f"m{at}" for at in range(indices.rank)]
    before, after = [axis_index(at) for at in range(axis)], [axis_index(at) for at in range(axis + 1, table.rank)]
    line, place = _places(indices, at_theirs, own[axis])
    y = cell("y", [*before, *at_theirs, *after])
    out = [*own[:axis], *theirs, *own[axis + 1 :]]
    inputs = [("x", table, own), ("ix", indices, theirs)]
    return g.define("gather", inputs, [("y", table.element, out)], f"{line}{y} = {cell('x', [*before, place, *after])}")


def gather_elements(g: Emitter, table: Value, indices: Value, axis: int) -> Value:
    """`y[i, j] = x[ix[i, j], j]` along an axis."""
    axis %= table.rank
    own, theirs = [axis_size(at) for at in range(table.rank)], [f"M{at}" for at in range(table.rank)]
    at = [axis_index(a) for a in range(table.rank)]
    line, place = _places(indices, at, own[axis])
    subscripts = [*at]
    subscripts[axis] = place
    inputs = [("x", table, own), ("ix", indices, theirs)]
    body = f"{line}{cell('y', at)} = {cell('x', subscripts)}"
    return g.define("gather_elements", inputs, [("y", table.element, theirs)], body)


def gather_nd(g: Emitter, table: Value, indices: Value, batch: int) -> Value:
    """Slices of a table at places of several coordinates, which are the last axis of the indices."""
    depth = _depth(indices)
    own = [axis_size(at) for at in range(table.rank)]
    outer = [axis_index(at) for at in range(batch)]
    over = [*outer, *(f"m{at}" for at in range(batch, indices.rank - 1))]
    sizes = [*own[:batch], *(f"M{at}" for at in range(batch, indices.rank - 1))]
    rest = [axis_index(at) for at in range(batch + depth, table.rank)]
    lines, places = _coordinates(indices, over, own[batch : batch + depth])
    y = cell("y", [*over, *rest])
    inputs = [("x", table, own), ("ix", indices, [*sizes, str(depth)])]
    body = f"{lines}{y} = {cell('x', [*outer, *places, *rest])}"
    return g.define("gather_nd", inputs, [("y", table.element, [*sizes, *own[batch + depth :]])], body)


def _depth(indices: Value) -> int:
    depth = indices.dims[-1].constant if indices.rank else None
    if depth is None:
        raise UnsupportedModel("indices whose last axis, the number of coordinates, varies")
    return depth


def _coordinates(indices: Value, over: Sequence[str], extents: Sequence[str]) -> tuple[str, list[str]]:
    lines, places = "", []
    signed = indices.element.kind == "int"
    for at, extent in enumerate(extents):
        read = cell("ix", [*over, str(at)])
        target = cell(f"p{at}", over) if over else f"p{at}(z)"
        ranges = "" if over else " where z in 0:1"
        lines += f"{target} = {f'{read} < 0 ? {read} + {extent} : {read}' if signed else read}{ranges}\n"
        places.append(target if over else f"p{at}(0)")
    return lines, places


def scatter_elements(g: Emitter, x: Value, indices: Value, updates: Value, axis: int, reduction: str) -> Value:
    """`y[ix[i, j], j] = u[i, j]` along an axis over a copy of `x`; the last one stays where several meet."""
    axis %= x.rank
    own, theirs = [axis_size(at) for at in range(x.rank)], [f"M{at}" for at in range(x.rank)]
    at = [axis_index(a) for a in range(x.rank)]
    line, place = _places(indices, at, own[axis])
    subscripts = [*at]
    subscripts[axis] = place
    body = f"{cell('y', at)} = {cell('x', at)}\n{line}{cell('y', subscripts)} {REDUCTIONS[reduction]} {cell('u', at)}"
    inputs = [("x", x, own), ("ix", indices, theirs), ("u", updates, theirs)]
    return g.define("scatter_elements", inputs, [("y", x.element, own)], body)


def scatter_nd(g: Emitter, x: Value, indices: Value, updates: Value, reduction: str) -> Value:
    """Slices put at places of several coordinates over a copy of `x`."""
    depth = _depth(indices)
    own = [axis_size(at) for at in range(x.rank)]
    over, sizes = [f"m{at}" for at in range(indices.rank - 1)], [f"M{at}" for at in range(indices.rank - 1)]
    rest = [axis_index(at) for at in range(depth, x.rank)]
    lines, places = _coordinates(indices, over, own[:depth])
    every = [axis_index(at) for at in range(x.rank)]
    body = f"{cell('y', every)} = {cell('x', every)}\n{lines}"
    body += f"{cell('y', [*places, *rest])} {REDUCTIONS[reduction]} {cell('u', [*over, *rest])}"
    inputs = [("x", x, own), ("ix", indices, [*sizes, str(depth)]), ("u", updates, [*sizes, *own[depth:]])]
    return g.define("scatter_nd", inputs, [("y", x.element, own)], body)


def index_many(g: Emitter, x: Value, places: Sequence[Value | None]) -> Value:
    """NumPy's indexing by several index tensors that are broadcast; None leaves an axis as it is."""
    given = [at for at, place in enumerate(places) if place is not None]
    dims = broadcast([place.dims for place in places if place is not None])
    names, sizes = [f"m{at}" for at in range(len(dims))], [f"M{at}" for at in range(len(dims))]
    own = [axis_size(at) for at in range(x.rank)]
    inputs, lines, subscripts = [("x", x, own)], "", [axis_index(at) for at in range(x.rank)]
    for at in given:
        place = places[at]
        assert place is not None
        shift = len(dims) - place.rank
        ones = [dim.constant == 1 and dims[n + shift].constant != 1 for n, dim in enumerate(place.dims)]
        read = cell(f"ix{at}", ["0" if one else names[n + shift] for n, one in enumerate(ones)])
        inputs.append((f"ix{at}", place, ["1" if one else sizes[n + shift] for n, one in enumerate(ones)]))
        target = cell(f"p{at}", names) if names else f"p{at}(z)"
        ranges = [f"{n} in 0:{s}" for n, s in zip(names, sizes, strict=True)] or ["z in 0:1"]
        lines += f"{target} = {read} < 0 ? {read} + {own[at]} : {read} where {', '.join(ranges)}\n"
        subscripts[at] = target if names else f"p{at}(0)"
    together = given == list(range(given[0], given[-1] + 1))
    start = given[0] if together else 0
    kept = [at for at in range(x.rank) if at not in given]
    before, after = [at for at in kept if at < start], [at for at in kept if at >= start]
    y = [*(axis_index(at) for at in before), *names, *(axis_index(at) for at in after)]
    out = [*(own[at] for at in before), *sizes, *(own[at] for at in after)]
    return g.define("index", inputs, [("y", x.element, out)], f"{lines}{cell('y', y)} = {cell('x', subscripts)}")


def one_hot(g: Emitter, indices: Value, depth: int, off: Value, on: Value, axis: int) -> Value:
    """`on` where the place along a new axis is the index, else `off`."""
    axis %= indices.rank + 1
    theirs, at = [axis_size(a) for a in range(indices.rank)], [axis_index(a) for a in range(indices.rank)]
    y, out = [*at], [*theirs]
    y.insert(axis, "k")
    out.insert(axis, str(depth))
    read = cell("ix", at)
    hit = f"{read} == k || {read} + {depth} == k" if indices.element.kind != "uint" else f"{read} == k"
    if indices.element.is_float:
        hit = f"int64({read}) == k || int64({read}) + {depth} == k"
    half = on.element.name if on.element.is_half else ""
    inputs = [("ix", indices, theirs), ("off", off, []), ("on", on, [])]
    return g.define(
        "one_hot", inputs, [("y", on.element, out)], f"{cell('y', y)} = {half}({hit} ? on : off) where k in 0:{depth}"
    )


def top_k(g: Emitter, x: Value, count: Dimension, axis: int, *, largest: bool) -> tuple[Value, Value]:
    """The largest (smallest) elements along an axis in order, and their places; of equal ones the first comes first."""
    axis %= x.rank
    at, own = [axis_index(a) for a in range(x.rank)], [axis_size(a) for a in range(x.rank)]
    free = [each for n, each in enumerate(at) if n != axis]
    here = at[axis]
    identity, better = ("-inf", "v > w") if largest else ("inf", "v < w")
    name = "largest_left" if largest else "smallest_left"
    before = (
        f"monoid {name}<T>(T value, int8 left, int32 index) {{\n    identity ({identity}, 0, 2147483647)\n"
        f"    combine (v, a, i), (w, b, j) -> (first ? v : w, first ? a : b, first ? i : j)\n"
        f"        where first = a > b || (a == b && ({better} || (v == w && i < j)))\n}}\n\n"
    )
    out, with_r = [*own], [*at]
    out[axis] = str(count.constant) if count.constant is not None else "E"
    with_r[axis] = "r"
    within = working(x.element)
    read = cell("x", at) if within == x.element else f"{within.name}({cell('x', at)})"
    ranges = ", ".join(f"{i} in 0:{s}" for i, s in zip(at, own, strict=True))
    picked = cell("q", with_r)
    v, any_left = cell("v", with_r), cell("l", with_r)
    body = f"{cell('left', at)} = int8(1) where {ranges}\nfor r in 0:{out[axis]} {{\n"
    body += f"({v}, {any_left}, {picked}) {name}=! ({read}, {cell('left', at)}, {here})\n"
    body += f"{cell('left', at)} = {here} == {picked} ? int8(0) : {cell('left', at)}\n}}\n"
    body += f"{cell('y', at)} = {x.element.name}({cell('v', at)})\n{cell('o', at)} = int64({cell('q', at)})"
    del free
    sizes = {} if count.constant is not None else {"E": count}
    found = g.several(
        f"top_{'k' if largest else 'k_least'}", [("x", x, own)], [("y", x.element, out), ("o", INT64, out)], body,
        sizes=sizes, before=before,
    )  # fmt: skip
    return found[0], found[1]


def triangular_part(g: Emitter, x: Value, offset: Value | int, *, upper: bool) -> Value:
    """The upper or lower triangle of the last two axes; 0 elsewhere."""
    at, own = [axis_index(a) for a in range(x.rank)], [axis_size(a) for a in range(x.rank)]
    inputs = [("x", x, own)]
    shift = (
        f"+ {offset}"
        if isinstance(offset, int) and offset >= 0
        else f"- {-offset}"
        if isinstance(offset, int)
        else "+ k"
    )
    if isinstance(offset, Value):
        inputs.append(("k", offset, []))
    inside = f"{at[-1]} {'>=' if upper else '<='} {at[-2]} {shift}"
    zero = "false" if x.element == BOOL else f"{x.element.name}(0)"
    half = x.element.name if x.element.is_half else ""
    ranges = ", ".join(f"{i} in 0:{s}" for i, s in zip(at, own, strict=True))
    body = f"{cell('y', at)} = {half}({inside} ? {cell('x', at)} : {zero}) where {ranges}"
    return g.define("triangle_upper" if upper else "triangle_lower", inputs, [("y", x.element, own)], body)
