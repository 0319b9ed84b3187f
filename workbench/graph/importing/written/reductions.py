"""Sums, products, extrema over axes, the places of extrema, running sums, softmax."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.elementwise import axis_index, axis_size
from workbench.lang.dtypes import BOOL, FLOAT32, INT64, DType


def working(of: DType) -> DType:
    """The type in which values of a type are added up."""
    return FLOAT32 if of.is_half else of


def positive(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the front, in order, each once."""
    return sorted({axis % rank if rank else 0 for axis in axes})


def count_of(axes: Sequence[int]) -> str:
    """How many elements there are along axes, as text."""
    return " * ".join(axis_size(axis) for axis in axes) or "1"


def cell(name: str, subscripts: Sequence[str]) -> str:
    """A tensor with subscripts; a scalar has none."""
    return f"{name}({','.join(subscripts)})" if subscripts else name


def reduce(
    g: Emitter, name: str, sign: str, value: Value, axes: Sequence[int], *, keep: bool, each: str = "a",
    finish: str = "s", element: DType | None = None, inner: DType | None = None,
) -> Value:  # fmt: skip
    """`s sign=! each` over `a` along axes, then `finish` of the sum `s` and the number of elements `n`.

    `inner` is the type in which it is reduced; `keep` leaves axes of size 1.
    """
    axes, of = positive(axes, value.rank), element or value.element
    within = inner or working(value.element)
    indices = [axis_index(at) for at in range(value.rank)]
    free = [i for at, i in enumerate(indices) if at not in axes]
    kept = [i for at, i in enumerate(indices) if keep or at not in axes]
    sizes = [axis_size(at) for at in range(value.rank)]
    left = [s if at not in axes else "1" for at, s in enumerate(sizes) if keep or at not in axes]
    term = each.replace("a", cell("x", indices)) if each == "a" else _substituted(each, "a", cell("x", indices))
    term = term if within in (value.element, BOOL) and each == "a" else f"{within.name}({term})"
    total = cell("t", free)
    body = f"{total} {sign}=! {term}\n" if axes else f"{total} = {term}\n"
    ended = _substituted(_substituted(finish, "s", total), "n", f"({count_of(axes)})")
    ended = ended if finish == "s" and within == of else f"{of.name}({ended})" if of != BOOL else ended
    ones = [f"{indices[at]} in 0:1" for at in axes] if keep else []
    body += f"{cell('y', kept)} = {ended}" + (f" where {', '.join(ones)}" if ones else "")
    return g.define(name, [("x", value, sizes)], [("y", of, left)], body)


def _substituted(text: str, name: str, value: str) -> str:
    import re

    return re.sub(rf"\b{name}\b", value, text)


ARG = {
    "max": ("-inf", "v > w"),
    "min": ("inf", "v < w"),
}


def arg_extremum(g: Emitter, which: str, value: Value, axis: int, *, keep: bool, last: bool = False) -> Value:
    """The place of the largest or smallest element along an axis, the first one or the last one."""
    identity, better = ARG[which]
    inner = working(value.element)
    tie = "i > j" if last else "i < j"
    none = "-1" if last else "2147483647"
    before = (
        f"monoid {'last' if last else 'first'}_{which}<T>(T value, int32 index) {{\n    identity ({identity}, {none})\n"
        f"    combine (v, i), (w, j) -> (first ? v : w, first ? i : j)\n"
        f"        where first = {better} || (v == w && {tie})\n}}\n\n"
    )
    axis %= value.rank
    indices = [axis_index(at) for at in range(value.rank)]
    free = [i for at, i in enumerate(indices) if at != axis]
    kept = [i for at, i in enumerate(indices) if keep or at != axis]
    sizes = [axis_size(at) for at in range(value.rank)]
    out = ["1" if at == axis else s for at, s in enumerate(sizes) if keep or at != axis]
    read = cell("x", indices)
    read = read if inner == value.element else f"{inner.name}({read})"
    monoid = f"{'last' if last else 'first'}_{which}"
    targets = f"({cell('v', free)}, {cell('p', free)}) {monoid}=! ({read}, {indices[axis]})\n"
    if not free:
        targets = f"(v, p) {monoid}=! ({read}, {indices[axis]})\n"
    ones = f" where {indices[axis]} in 0:1" if keep else ""
    body = targets + f"{cell('y', kept)} = int64({cell('p', free)}){ones}"
    return g.define(
        f"arg{which}_{monoid.split('_')[0]}" if last else f"arg{which}",
        [("x", value, sizes)],
        [("y", INT64, out)],
        body,
        before=before,
    )


def softmax(g: Emitter, value: Value, axis: int, *, logarithm: bool = False) -> Value:
    """Softmax along an axis, or its logarithm, without overflow."""
    if not value.rank:
        axis, rank = 0, 0
    else:
        axis, rank = axis % value.rank, value.rank
    indices = [axis_index(at) for at in range(rank)]
    free = cell("top", [i for at, i in enumerate(indices) if at != axis])
    total = free.replace("top", "total", 1)
    sizes = [axis_size(at) for at in range(rank)]
    inner = working(value.element)
    x, z, y = (cell(name, indices) for name in "xzy")
    x = x if inner == value.element else f"{inner.name}({x})"
    body = f"{free} max=! {x}\n{z} = {x} - {free}\n{total} +=! exp({z})\n"
    ended = f"{z} - log({total})" if logarithm else f"exp({z}) / {total}"
    ended = ended if inner == value.element else f"{value.element.name}({ended})"
    name = "log_softmax" if logarithm else "softmax"
    return g.define(name, [("x", value, sizes)], [("y", value.element, sizes)], body + f"{y} = {ended}")


def running(g: Emitter, name: str, sign: str, value: Value, axis: int, *, exclusive: bool, backwards: bool) -> Value:
    """The reductions of all elements up to each place along an axis."""
    axis %= value.rank
    sizes, indices = [axis_size(at) for at in range(value.rank)], [axis_index(at) for at in range(value.rank)]
    here, inner = indices[axis], working(value.element)
    others = [*indices]
    others[axis] = "k"
    low, high = (
        (f"{here}{' + 1' * exclusive}", sizes[axis]) if backwards else ("0", f"{here}{' + 1' * (not exclusive)}")
    )
    t, y = cell("t", indices), cell("y", indices)
    ranges = [f"{i} in 0:{s}" for i, s in zip(indices, sizes, strict=True)]
    body = f"{t} {sign}=! {inner.name}({cell('x', others)}) where {', '.join([*ranges, f'k in {low}:{high}'])}\n"
    body += f"{y} = {value.element.name}({t})"
    return g.define(name, [("x", value, sizes)], [("y", value.element, sizes)], body)
