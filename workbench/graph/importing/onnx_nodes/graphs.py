"""Graphs of ONNX, node by node, into a builder; nodes without a definition of ours by the function that ONNX gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.errors import ModelError, UnsupportedModel
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.onnx_nodes.node import Node, element_of
from workbench.graph.importing.onnx_nodes.shape_nodes import folded_shape
from workbench.graph.importing.onnx_nodes.writers import CONTROL, RANDOM, SHAPED_BY_DATA, WRITERS
from workbench.graph.importing.values import Value

OLDEST = 18
# Definitions since this version are understood as well: what changed up to 18 are element types, and attributes that
# became inputs.  Of some types those that are older still, for the same reason.
UNDERSTOOD = 13
EARLIER = {
    "Constant": 1,
    "Dropout": 7,
    "Identity": 1,
    "If": 1,
    "Loop": 1,
    "Max": 8,
    "Min": 8,
    "ReduceMax": 11,
    "ReduceMin": 11,
    "Upsample": 9,
}
Values = dict[str, Value | None]


@dataclass(eq=False)
class Graph:
    """A graph that is taken over: the names of its values, with those of the graphs around it.

    `attributes` are those of the call that a function's nodes may refer to; `place` is where it stands, for messages.
    """

    g: Emitter
    opsets: Mapping[str, int]
    values: Values = field(default_factory=dict)
    outer: Graph | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""

    def find(self, name: str) -> Value | None:
        """The value of a name; None where an input is left out."""
        if not name:
            return None
        around: Graph | None = self
        while around is not None:
            if name in around.values:
                return around.values[name]
            around = around.outer
        raise UnsupportedModel(f"{self.place}no node or input gives {name!r}")

    def run(self, nodes: Sequence[onnx.NodeProto]) -> None:
        """Take over nodes in order."""
        for at, proto in enumerate(nodes):
            self._node(proto, f"{self.place}node {proto.name or at!r} ({proto.op_type})")

    def initializers(self, graph: onnx.GraphProto) -> None:
        """Make constants of what a graph holds."""
        if graph.sparse_initializer:
            name = graph.sparse_initializer[0].values.name
            raise UnsupportedModel(f"{self.place}initializer {name!r}: a sparse tensor")
        for tensor in graph.initializer:
            if element_of(tensor.data_type) is None:
                name = onnx.TensorProto.DataType.Name(tensor.data_type)
                raise UnsupportedModel(f"{self.place}initializer {tensor.name!r}: {name} is no element type here")
            self.values[tensor.name] = self.g.constant(numpy_helper.to_array(tensor))

    def branch(self, graph: onnx.GraphProto, inputs: Sequence[Value]) -> list[Value]:
        """The results of a graph that stands inside a node."""
        inner = Graph(self.g, self.opsets, {}, self, self.attributes, self.place)
        inner.initializers(graph)
        for formal, value in zip(graph.input, inputs, strict=True):
            inner.values[formal.name] = value
        inner.run(graph.node)
        return [inner.must(output.name) for output in graph.output]

    def must(self, name: str) -> Value:
        """The value of a name that is not left out."""
        found = self.find(name)
        if found is None:
            raise UnsupportedModel(f"{self.place}no node gives the output {name!r}")
        return found

    # --- one node

    def _node(self, proto: onnx.NodeProto, place: str) -> None:
        inputs = [self.find(name) for name in proto.input]
        opset = self.opsets.get(proto.domain if proto.domain != "ai.onnx" else "", 0)
        wanted = tuple(bool(name) for name in proto.output)
        node = Node(
            proto.op_type, place, inputs, self._attributes(proto, place), opset, self.g, len(wanted), self, wanted
        )
        self.g.label = proto.name or proto.op_type
        try:
            results = self._results(node, proto)
        except UnsupportedModel as error:
            raise error.at(place) from None
        except ModelError as error:
            raise UnsupportedModel(f"{place}: {error}") from None
        if len(results) < len(proto.output):
            node.refuse(f"its output {proto.output[len(results)]!r} (number {len(results)}) is not given here")
        self.values |= {name: value for name, value in zip(proto.output, results, strict=False) if name}

    def _results(self, node: Node, proto: onnx.NodeProto) -> Sequence[Value | None]:
        if proto.domain not in ("", "ai.onnx"):
            return self._function(node, proto)
        known = folded_shape(node)
        if known is not None:
            return [known]
        if node.type in SHAPED_BY_DATA:
            node.refuse(f"the shape of its result depends on data: {SHAPED_BY_DATA[node.type]}")
        if node.type in RANDOM:
            node.refuse("its result is random; the workbench's operators are functions")
        writer = CONTROL.get(node.type) or WRITERS.get(node.type)
        if writer is None:
            return self._function(node, proto)
        _current(node, proto)
        found = writer(node)
        return [found] if isinstance(found, Value) else list(found)

    def _attributes(self, proto: onnx.NodeProto, place: str) -> dict[str, Any]:
        found = {}
        for attribute in proto.attribute:
            if attribute.ref_attr_name:
                if attribute.ref_attr_name in self.attributes:
                    found[attribute.name] = self.attributes[attribute.ref_attr_name]
            else:
                found[attribute.name] = _plain(attribute, place)
        return found

    # --- functions that ONNX gives

    def _function(self, node: Node, proto: onnx.NodeProto) -> Sequence[Value | None]:
        body = self._body(node, proto)
        opsets = {**self.opsets, **{each.domain: each.version for each in body.opset_import}}
        attributes = {**{each.name: _plain(each, node.place) for each in body.attribute_proto}, **node.attributes}
        attributes = {**_defaults(proto, node.opset), **attributes}
        inner = Graph(self.g, opsets, {}, None, attributes, f"{node.place}, ")
        for at, name in enumerate(body.input):
            inner.values[name] = node.inputs[at] if at < len(node.inputs) else None
        inner.run(body.node)
        return [inner.find(name) if wanted else None for name, wanted in zip(body.output, node.wanted, strict=False)]

    def _body(self, node: Node, proto: onnx.NodeProto) -> onnx.FunctionProto:
        try:
            # Any: the stubs of onnx lack what a schema says of its function.
            schema: Any = onnx.defs.get_schema(proto.op_type, node.opset or 1, proto.domain)
        except onnx.defs.SchemaError:
            known = ", ".join(sorted({*WRITERS, *CONTROL}))
            domain = f" of domain {proto.domain!r}" if proto.domain else ""
            raise UnsupportedModel(f"{node.place}: unknown type of node{domain}; known: {known}") from None
        if schema.has_function:
            return schema.function_body
        if schema.has_context_dependent_function:
            types = [_type_proto(value).SerializeToString() for value in node.inputs]
            found = onnx.FunctionProto()
            stripped = _without_references(proto, node)
            found.ParseFromString(schema.get_context_dependent_function(stripped.SerializeToString(), types))
            if found.node:
                return found
        node.refuse("this type of node has no definition here, and ONNX gives none in terms of others")


def _current(node: Node, proto: onnx.NodeProto) -> None:
    """Refuse a node whose definition at its version is older than that of opset 18."""
    if node.opset >= OLDEST:
        return
    here = onnx.defs.get_schema(proto.op_type, node.opset, "").since_version
    try:
        then: int = onnx.defs.get_schema(proto.op_type, UNDERSTOOD, "").since_version
    except onnx.defs.SchemaError:
        return
    if here < min(then, EARLIER.get(proto.op_type, then)):
        node.refuse(
            f"its definition is that of opset {here}, and those from {OLDEST} on are known; "
            f"convert the model: onnx.version_converter.convert_version(model, {OLDEST})"
        )


def _plain(attribute: onnx.AttributeProto, place: str) -> Any:
    """An attribute as Python has it: text, numbers, lists, arrays, graphs."""
    found = onnx.helper.get_attribute_value(attribute)
    if isinstance(found, bytes):
        return found.decode("utf-8", "replace")
    if isinstance(found, onnx.TensorProto):
        if element_of(found.data_type) is None:
            name = onnx.TensorProto.DataType.Name(found.data_type)
            raise UnsupportedModel(f"{place}: attribute {attribute.name!r}: {name} is no element type here")
        return numpy_helper.to_array(found)
    return list(found) if isinstance(found, Sequence) and not isinstance(found, str) else found


def _defaults(proto: onnx.NodeProto, opset: int) -> dict[str, Any]:
    schema = onnx.defs.get_schema(proto.op_type, opset or 1, proto.domain)
    given = {name: each.default_value for name, each in schema.attributes.items() if each.default_value.name}
    return {name: _plain(value, proto.op_type) for name, value in given.items()}


def _without_references(proto: onnx.NodeProto, node: Node) -> onnx.NodeProto:
    """The node with the attributes that it refers to written out."""
    if not any(attribute.ref_attr_name for attribute in proto.attribute):
        return proto
    found = onnx.NodeProto()
    found.CopyFrom(proto)
    del found.attribute[:]
    for name, value in node.attributes.items():
        if isinstance(value, np.ndarray):
            value = numpy_helper.from_array(value)
        found.attribute.append(onnx.helper.make_attribute(name, value))
    return found


def _type_proto(value: Value | None) -> onnx.TypeProto:
    if value is None:
        return onnx.TypeProto()
    number = onnx.helper.np_dtype_to_tensor_dtype(value.element.numpy)
    sizes = [dim if dim is not None else f"d{at}" for at, dim in enumerate(value.shape)]
    return onnx.helper.make_tensor_type_proto(number, sizes)
