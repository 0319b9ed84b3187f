"""The operators as ONNX graphs, run by ONNX Runtime on its CPU provider; NumPy arrays in and out of the session.

A function gets the graph `g` and the names of its inputs (numbers as they are): `g("Relu", x)` adds a node.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

OPSET = 21
Name = str


class Graph:
    """Nodes and constants, in the order they are asked for; `shapes` are those of the inputs."""

    def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
        self.shapes = shapes
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def __call__(self, kind: str, *inputs: Any, **attributes: Any) -> Name:
        """The output of a new node; inputs that are arrays become constants."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [self._named(i) for i in inputs], [name], **attributes))
        return name

    def _named(self, value: Any) -> Name:
        if isinstance(value, str):
            return value
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name


def prepare(name: str, arguments: list[Any], threads: int) -> tuple[Any, Any, str]:
    """(what to call, how to see its results, what it is)."""
    arrays = {f"in{n}": a for n, a in enumerate(arguments) if isinstance(a, np.ndarray)}
    graph = Graph({n: a.shape for n, a in arrays.items()})
    made = globals()[name](graph, *(f"in{n}" if f"in{n}" in arrays else a for n, a in enumerate(arguments)))
    outputs = list(made) if isinstance(made, tuple) else [made]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(_model(graph, arrays, outputs), options, ["CPUExecutionProvider"])
    about = f"onnxruntime {onnxruntime.__version__}, opset {OPSET}, intra_op_num_threads={threads}"
    return partial(session.run, None, arrays), list, about


def _model(graph: Graph, arrays: dict[str, Any], outputs: list[str]) -> bytes:
    inputs = [_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in arrays.items()]
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    made = helper.make_graph(graph.nodes, "peer", inputs, results, graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    return onnx.shape_inference.infer_shapes(model).SerializeToString()


def _info(name: str, kind: int, shape: Any) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def _axes(*axes: int) -> Any:
    return np.array(axes, np.int64)


def matmul(g: Graph, A: Name, B: Name) -> Name:
    return g("MatMul", A, B)


def tmm(g: Graph, A: Name, B: Name) -> Name:
    return g("Gemm", A, B, transB=1)


def batched_matmul(g: Graph, X: Name, Y: Name) -> Name:
    return g("MatMul", X, Y)


def matvec(g: Graph, A: Name, x: Name) -> Name:
    return g("MatMul", A, x)


def matmul_int8(g: Graph, A: Name, B: Name) -> Name:
    return g("MatMulInteger", A, B)


def trmm(g: Graph, L: Name, B: Name) -> Name:
    return g("MatMul", g("Trilu", L, upper=0), B)


def conv2d(g: Graph, images: Name, K: Name, stride: int, pad: int, dilation: int) -> Name:
    return g("Conv", images, K, strides=[stride] * 2, pads=[pad] * 4, dilations=[dilation] * 2)


def conv_block(g: Graph, images: Name, K: Name, b: Name, s: Name) -> Name:
    scale = g("Reshape", s, _axes(-1, 1, 1))
    return g("Relu", g("Mul", g("Conv", images, K, b, pads=[1] * 4), scale))


def depthwise_conv2d(g: Graph, images: Name, K: Name, stride: int, pad: int) -> Name:
    filters = g("Unsqueeze", K, _axes(1))
    return g("Conv", images, filters, strides=[stride] * 2, pads=[pad] * 4, group=g.shapes[K][0])


def mlp1(g: Graph, inputs: Name, W: Name, c: Name) -> Name:
    return g("Relu", g("Gemm", inputs, W, c))


def mlp3(g: Graph, inputs: Name, W1: Name, b1: Name, W2: Name, b2: Name, W3: Name, b3: Name) -> Name:
    first = g("Relu", g("Gemm", inputs, W1, b1, transB=1))
    second = g("Relu", g("Gemm", first, W2, b2, transB=1))
    return g("Relu", g("Gemm", second, W3, b3, transB=1))


def attention(g: Graph, Q: Name, K: Name, V: Name) -> Name:
    scores = g("MatMul", Q, g("Transpose", K, perm=[0, 2, 1]))
    size = np.sqrt(np.float32(g.shapes[Q][2]))
    return g("MatMul", g("Softmax", g("Div", scores, size), axis=2), V)


def softmax(g: Graph, X: Name) -> Name:
    return g("Softmax", X, axis=1)


def layer_norm(g: Graph, X: Name, gamma: Name, beta: Name, eps: float) -> Name:
    return g("LayerNormalization", X, gamma, beta, epsilon=float(eps))


def bias_relu(g: Graph, X: Name, b: Name) -> Name:
    return g("Relu", g("Add", X, b))


def bias_gelu(g: Graph, X: Name, b: Name) -> Name:
    return g("Gelu", g("Add", X, b))


def moments(g: Graph, table: Name) -> tuple[Name, Name]:
    mean = g("ReduceMean", table, _axes(1), keepdims=1)
    away = g("Sub", table, mean)
    return g("Squeeze", mean, _axes(1)), g("ReduceMean", g("Mul", away, away), _axes(1), keepdims=0)


def column_sum(g: Graph, A: Name) -> Name:
    return g("ReduceSum", A, _axes(0), keepdims=0)


def argmax(g: Graph, A: Name) -> tuple[Name, Name]:
    return g("ReduceMax", A, _axes(1), keepdims=0), g("ArgMax", A, axis=1, keepdims=0)


def cumsum(g: Graph, X: Name) -> Name:
    return g("CumSum", X, np.array(1, np.int64))


def transpose(g: Graph, A: Name) -> Name:
    return g("Transpose", A, perm=[1, 0])


def channels_last(g: Graph, images: Name) -> Name:
    return g("Transpose", images, perm=[0, 2, 3, 1])


def embedding(g: Graph, table: Name, idx: Name) -> Name:
    return g("Gather", table, idx)


def lookup(g: Graph, table: Name, places: Name) -> Name:
    return g("ReduceSum", g("Gather", table, places), _axes(1), keepdims=0)


def max_pool2d(g: Graph, images: Name, k: int, stride: int, pad: int) -> Name:
    return g("MaxPool", images, kernel_shape=[k] * 2, strides=[stride] * 2, pads=[pad] * 4)
