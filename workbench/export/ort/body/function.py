"""The body of an operator as a function of ONNX: sizes from shapes, then its statements."""

from __future__ import annotations

from onnx import FunctionProto, helper

from workbench.export.dispatch import Family
from workbench.export.ort.body.elementwise import computing_type
from workbench.export.ort.body.graph import Graph
from workbench.export.ort.body.statements import Body, zero_tensor
from workbench.export.ort.body.values import Cells, Values
from workbench.export.ort.model import OPSET, onnx_type
from workbench.export.ort.signature import Port, node_domain, node_inputs, outputs_of
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr, Size, size_names, substitute


def onnx_function(family: Family) -> FunctionProto:
    """The operator in operators of plain ONNX; CodegenError where there is something ONNX has none for.

    It checks nothing: neither sizes that do not fit one another nor promises about data.
    """
    op, graph = family.op, Graph()
    inputs, outputs = node_inputs(family), outputs_of(family)
    given = {p.of: _computed(graph, p) for p in inputs if p.kind != "s"}
    memory = {n: Cells(given.get(n, ""), t.dtype, t.lower, t.extent) for n, t in op.tensors.items()}
    body = Body(op, graph, _sizes(family, graph, inputs), memory)
    for name in memory:
        if not memory[name].name:
            zero_tensor(body, name)
    body.steps(op.body)
    for port in outputs:
        result = [body.memory[port.of].name]
        graph.nodes.append(helper.make_node("Cast", result, [port.name], to=onnx_type(port.dtype)))
    taken, made = ([p.name for p in ports] for ports in (inputs, outputs))
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_function(
        node_domain(op.name), op.name, taken, made, graph.living(made), opsets, doc_string=op.text
    )


def _computed(graph: Graph, port: Port) -> str:
    """An input in the type it is computed in."""
    own = computing_type(port.dtype)
    return port.name if own == port.dtype else graph("Cast", port.name, to=onnx_type(own))


# -- sizes


def _sizes(family: Family, graph: Graph, inputs: tuple[Port, ...]) -> dict[str, str]:
    """Every size as a scalar: given, a dimension, or what a dimension that is arithmetic is solved for."""
    found = {p.of: p.name for p in inputs if p.kind == "s"}
    dimensions = [(p.name, d, e) for p in inputs for d, e in enumerate(p.extents)]
    for name, d, extent in dimensions:
        if isinstance(extent, Size) and extent.name not in found:
            found[extent.name] = _dimension(graph, name, d)
    left = len(family.op.size_names) + 1
    while left > (left := len(set(family.op.size_names) - found.keys())):
        for name, d, extent in dimensions:
            unknown = size_names(extent) - found.keys()
            if len(unknown) == 1:
                (size,) = unknown
                found[size] = _root(graph, found, _dimension(graph, name, d), extent, size)
    return found


def _dimension(graph: Graph, tensor: str, dimension: int) -> str:
    shape = graph("Shape", tensor, start=dimension, end=dimension + 1)
    return graph("Squeeze", shape, graph.constant([0]))


def _root(graph: Graph, known: dict[str, str], found: str, extent: Expr, name: str) -> str:
    """What a size is where an extent that grows with it evenly has a value."""
    values = Values(graph, (), known, {})
    at_0, at_1 = (values.exact(substitute(extent, {name: Const(n, INT64)})).name for n in range(2))
    return graph("Div", graph("Sub", found, at_0), graph("Sub", at_1, at_0))
