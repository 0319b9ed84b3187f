"""Sums of products as contractions, without a tensor over all axes."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from onnx import helper

from workbench.export.ort.body.elementwise import Named
from workbench.export.ort.body.graph import graph_value
from workbench.export.ort.body.values import Values
from workbench.export.ort.model import onnx_type

MOST_AXES = len(ascii_letters)


def contraction(values: Values, operands: Sequence[Named], kept: tuple[str, ...]) -> Named:
    """The sum of the product of tensors along all axes but some.

    ONNX Runtime divides by zero in its Einsum where an axis is empty: there it is not run.
    """
    graph, dtype = values.graph, operands[0].dtype
    axes = sorted({a for o in operands for a in o.axes}, key=values.order.index)
    letters = dict(zip(axes, ascii_letters, strict=False))
    terms = ",".join("".join(letters[a] for a in o.axes) for o in operands)
    nothing, something = graph.inner(), graph.inner()
    zero = values.write.constant(0, dtype).name
    results = [
        nothing("Expand", zero, values.lengths(kept)),
        something("Einsum", *(o.name for o in operands), equation=f"{terms}->{''.join(letters[a] for a in kept)}"),
    ]
    branches = [
        inner.proto(graph.fresh("branch"), [], [graph_value(inner.result(result), onnx_type(dtype), len(kept))])
        for inner, result in zip((nothing, something), results, strict=True)
    ]
    least = graph("ReduceMin", values.lengths(axes), graph.constant([0]), keepdims=0)
    found = graph.fresh("If")
    empty = graph("Equal", least, graph.constant(0))
    graph.nodes.append(helper.make_node("If", [empty], [found], then_branch=branches[0], else_branch=branches[1]))
    return Named(found, kept, dtype)
