"""The engine `onnxruntime`: a region as a model of ONNX.

What one operator of ONNX is shown to compute, such as a convolution, is that operator; any other has the exporter's
body of plain ONNX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnxruntime
from onnx import FunctionProto, ModelProto, TensorProto, helper, numpy_helper

from workbench.errors import CodegenError, WorkbenchError
from workbench.export.dispatch import Family
from workbench.export.engines.onnx_layers import CONTRIB, nodes_of
from workbench.export.ort.body.function import onnx_function
from workbench.export.ort.model import IR, OPSET, onnx_type
from workbench.export.ort.signature import Port, node_inputs
from workbench.graph.engines.engine_records import Answer, engine
from workbench.graph.engines.sites import Site
from workbench.graph.engines.subgraphs import Step, Subgraph
from workbench.graph.evaluation.operators import inputs_of as parameters_of
from workbench.lang.operator import Operator
from workbench.runtime.host.machine import thread_count

DOMAIN = "workbench.region"
ELEMENTS = ("float32", "float64", "int32", "int64", "bool")


def _supports(site: Site) -> Answer:
    odd = [name for name in site.dtypes if name not in ELEMENTS]
    if odd:
        return f"elements of {odd[0]}"
    if site.operator.promises:
        return "it promises something about data, which is checked by the host"
    if nodes_of(site) is not None:
        return True
    try:
        onnx_function(_family_of(site.operator))
    except (CodegenError, WorkbenchError) as reason:
        return str(reason).splitlines()[0]
    return True


def _family_of(op: Operator) -> Family:
    """An operator as the exporter takes it, without schedules and programs: a body needs none."""
    return Family(op, (), ())


@engine("onnxruntime", supports=_supports, version=f"2, onnxruntime {onnxruntime.__version__}")
def onnxruntime_session(region: Subgraph) -> Callable[..., Any]:
    """A session of ONNX Runtime on the processor; it takes and gives NumPy arrays."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        _model_of(region).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [_name(each) for each in region.inputs]
    outputs = [each.name for each in session.get_outputs()]
    return lambda *arrays: tuple(session.run(outputs, dict(zip(names, arrays, strict=True))))


def _model_of(region: Subgraph) -> ModelProto:
    """The region as a model: its steps are nodes, its constants initialisers, its operators functions."""
    functions: dict[Operator, FunctionProto] = {}
    nodes, sizes = [], {}
    for step in region.steps:
        own = nodes_of(step.site)
        if own is not None:
            nodes += own([_name(each) for each in step.arguments], _name(step.results[0]))
            continue
        function = functions.get(step.operator)
        if function is None:
            function = functions[step.operator] = _function(step.operator, len(functions))
        nodes.append(_node(step, function, sizes))
    results = [f"result{at}" for at in range(len(region.results))]
    nodes += [helper.make_node("Identity", [_name(n)], [r]) for n, r in zip(region.results, results, strict=True)]
    initialisers = [numpy_helper.from_array(each, _name(number)) for number, each in region.constants.items()]
    initialisers += [helper.make_tensor(name, TensorProto.INT64, [], [value]) for name, value in sizes.items()]
    graph = helper.make_graph(
        nodes, region.name, [_value(region, each, _name(each)) for each in region.inputs],
        [_value(region, number, name) for number, name in zip(region.results, results, strict=True)], initialisers,
    )  # fmt: skip
    opsets = [helper.make_opsetid(domain, version) for domain, version in (("", OPSET), (DOMAIN, 1), (CONTRIB, 1))]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR, functions=list(functions.values()))


def _name(number: int) -> str:
    return f"v{number}"


def _value(region: Subgraph, number: int, name: str) -> Any:
    of = region.types[number]
    return helper.make_tensor_value_info(name, onnx_type(of.dtype), [int(each) for each in of.shape])


def _function(op: Operator, number: int) -> FunctionProto:
    """The body of an operator under a name of its own: two may have one name, in different types."""
    found = onnx_function(_family_of(op))
    found.domain, found.name = DOMAIN, f"{op.name}_{number}"
    return found


def _node(step: Step, function: FunctionProto, sizes: dict[str, int]) -> Any:
    """A call; sizes that it gives by name are scalars."""
    op = step.operator
    updated = [name for name in op.outputs if op.tensors[name].role == "inout"]
    known = {name: _name(at) for name, at in zip((*parameters_of(op), *updated), step.arguments, strict=True)}
    inputs = [_input(port, known, step.sizes, sizes) for port in node_inputs(_family_of(op))]
    return helper.make_node(function.name, inputs, [_name(each) for each in step.results], domain=DOMAIN)


def _input(port: Port, known: dict[str, str], given: dict[str, int], sizes: dict[str, int]) -> str:
    if port.kind != "s":
        return known[port.of]
    name = f"size_{given[port.of]}"
    sizes[name] = given[port.of]
    return name
