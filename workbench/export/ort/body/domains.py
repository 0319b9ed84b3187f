"""The instances of a statement: a box of axes, and a mask where the domain is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.export.ort.body.elementwise import Named
from workbench.export.ort.body.graph import Graph
from workbench.export.ort.body.values import Axis, Cells, Values
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Expr
from workbench.lang.operator import Range
from workbench.records import record

FAR = 1 << 62


@record(eq=False)
class Domain:
    """Values over a box; `mask` says which of its points are instances (None: all)."""

    values: Values
    mask: Named | None


def ranges_domain(
    graph: Graph, ranges: Sequence[Range], fixed: Mapping[str, str], memory: Mapping[str, Cells], condition: Expr | None
) -> Domain:
    """The domain of some ranges, in whose bounds earlier ones may stand; those in `fixed` have one value."""
    values = Values(graph, tuple(r.index for r in ranges if r.index not in fixed), fixed, memory)
    conditions = []
    for one in ranges:
        bounded = bool(one.bounding & values.axes.keys())
        if one.index not in fixed:
            start, length = hull(values, one)
            name = graph("Range", start, graph("Add", start, length), graph.constant(1))
            values.axes[one.index] = Axis(name, length, None if bounded else one)
        if bounded:
            conditions += _bounds(values, one)
    if condition is not None:
        conditions.append(values.value(condition))
    mask = None
    for each in conditions:
        mask = each if mask is None else values.write.binary("&&", mask, each)
    return Domain(values, mask)


def hull(values: Values, one: Range) -> tuple[str, str]:
    """The smallest value of an index, and how many there are up to its largest, whatever the axes are."""
    graph = values.graph
    lower, upper = values.exact(one.lower), values.exact(one.upper)
    start, stop = _extreme(graph, "ReduceMin", lower, FAR), _extreme(graph, "ReduceMax", upper, -FAR)
    return start, graph("Max", graph("Sub", stop, start), graph.constant(0))


def _extreme(graph: Graph, reduce: str, bound: Named, nothing: int) -> str:
    if not bound.axes:
        return bound.name
    row = graph("Reshape", bound.name, graph.constant([-1]))
    return graph(reduce, graph("Concat", row, graph.constant([nothing]), axis=0), graph.constant([0]), keepdims=0)


def _bounds(values: Values, one: Range) -> list[Named]:
    index, write = values.index(one.index), values.write
    lower = write.binary(">=", index, values.exact(one.lower), INT64)
    return [lower, write.binary("<", index, values.exact(one.upper), INT64)]
