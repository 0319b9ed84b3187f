"""Models of one node: the custom operator, or with a body of plain ONNX beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import onnx
from onnx import FunctionProto, ModelProto, TensorProto, helper

from workbench.export.dispatch import Family
from workbench.export.ort.signature import VERSION, Port, node_domain, node_inputs, outputs_of
from workbench.lang.dtypes import DType

OPSET = 18
IR = 9  # of the oldest ONNX Runtime that loads the library
_TYPES = {"float32": "FLOAT", "float64": "DOUBLE"}


def onnx_type(dtype: DType) -> int:
    """ONNX's number of an element type."""
    return TensorProto.DataType.Value(_TYPES.get(dtype.name, dtype.name.upper()))


def model_of(family: Family, functions: Sequence[FunctionProto] = ()) -> ModelProto:
    """A model of one node; `functions` say what it does where no library does."""
    name, inputs, outputs = family.op.name, node_inputs(family), outputs_of(family)
    taken, made = ([p.name for p in ports] for ports in (inputs, outputs))
    node = helper.make_node(name, taken, made, name=name, domain=node_domain(name))
    graph = helper.make_graph([node], name, list(map(_value, inputs)), list(map(_value, outputs)))
    graph.doc_string = family.op.text
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(node_domain(name), VERSION)]
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=IR, functions=list(functions), producer_name="Tensor Workbench"
    )


def write_onnx(model: ModelProto, path: Path) -> Path:
    """Write a model; whoever has the old file open keeps it."""
    staged = path.with_name(f".{os.getpid()}.{path.name}")
    onnx.save(model, str(staged))
    return staged.replace(path)


def _value(port: Port) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(port.name, onnx_type(port.dtype), port.shape)
