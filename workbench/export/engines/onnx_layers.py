"""Calls that ONNX has one operator for, as far as definitions show it: convolutions, products, layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onnx import NodeProto, TensorProto, helper

from workbench.graph.engines.arrays.layers import Layer, Product, is_reshape, layer_of, product_of
from workbench.graph.engines.arrays.windows import Window, window_of
from workbench.graph.engines.sites import Site

CONTRIB = "com.microsoft"
"""The domain of what ONNX Runtime computes beyond ONNX."""

Nodes = Callable[[Sequence[str], str], list[NodeProto]]
"""The nodes that compute a call, of the names of its arguments and of its result."""

LAYERS: dict[str, dict[str, Any]] = {
    "relu": {"op_type": "Relu"},
    "gelu": {"op_type": "Gelu", "domain": CONTRIB},
    "softmax": {"op_type": "Softmax", "axis": -1},
    "log_softmax": {"op_type": "LogSoftmax", "axis": -1},
}


def nodes_of(site: Site) -> Nodes | None:
    """The nodes of a call of known shapes; None where its exporter's body has to do."""
    if not all(each.is_concrete and 0 not in each.shape for each in (*site.arguments, *site.results)):
        return None
    if site.operator.promises or site.dtypes not in (("float32",), ("float64",)):
        return None
    layer = layer_of(site)
    if layer is not None:
        return _layer(layer, site.dtypes[0])
    if is_reshape(site):
        return lambda given, result: _reshape(site, given, result)
    product = product_of(site)
    if product is not None:
        return lambda given, result: _product(product, given, result)
    window = window_of(site)
    if window is None or window.is_largest or site.dtypes != ("float32",):
        return None  # its MaxPool takes the least finite number for -inf, and it has no Conv of float64
    return lambda given, result: [_convolution(window, given, result)]


def _layer(layer: Layer, element: str) -> Nodes | None:
    if layer.kind == "layer_norm":
        options: dict[str, Any] = {"op_type": "LayerNormalization", "axis": -1, "epsilon": layer.epsilon}
    elif layer.kind in LAYERS and not (LAYERS[layer.kind].get("domain") and element != "float32"):
        options = LAYERS[layer.kind]
    else:
        return None
    return lambda given, result: [helper.make_node(inputs=list(given), outputs=[result], **options)]


def _reshape(site: Site, given: Sequence[str], result: str) -> list[NodeProto]:
    extents = [int(n) for n in site.results[0].shape]
    name = f"{result}_shape"
    value = helper.make_tensor("shape", TensorProto.INT64, [len(extents)], extents)
    constant = helper.make_node("Constant", [], [name], value=value)
    return [constant, helper.make_node("Reshape", [*given, name], [result])]


def _product(of: Product, given: Sequence[str], result: str) -> list[NodeProto]:
    """Both operands with their axes where a product has them: of a constant, ONNX Runtime does that beforehand."""
    nodes, names = [], []
    for place, order in zip(of.operands, of.orders, strict=True):
        name = given[place]
        if list(order) != sorted(order):
            name = f"{result}_{place}"
            nodes.append(helper.make_node("Transpose", [given[place]], [name], perm=list(order)))
        names.append(name)
    return [*nodes, helper.make_node("MatMul", names, [result])]


def _convolution(of: Window, given: Sequence[str], result: str) -> NodeProto:
    names = [given[each] for each in of.operands]
    options: dict[str, Any] = {"kernel_shape": of.extents, "strides": of.strides, "dilations": of.dilations}
    return helper.make_node("Conv", names, [result], **options, pads=(*of.before, *of.after), group=of.groups)
