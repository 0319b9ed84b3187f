"""Nodes that make or follow sizes: what they give is known while the model is taken over, where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.graph.importing.dimension_arithmetic import combined_dimensions, joined, total
from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.values import Array, Value, symbolic
from workbench.graph.importing.written.elementwise import expand
from workbench.graph.importing.written.movement import product
from workbench.lang.dtypes import INT64, from_numpy

SMALL = 64  # elements: a constant is written out


def shape(node: Node) -> Value:
    """The sizes of a tensor, or some of them."""
    dims = node.input(0).dims
    return node.g.contents(symbolic(list(dims[node("start", 0) : node("end", len(dims))])))


def count(node: Node) -> Value:
    """The number of elements."""
    return node.g.contents(symbolic(product(node.input(0).dims)))


def constant(node: Node) -> Value:
    """A constant, in one of the ways in which it may be written."""
    for name, kind in (
        ("value_float", np.float32),
        ("value_floats", np.float32),
        ("value_int", np.int64),
        ("value_ints", np.int64),
    ):
        if name in node.attributes:
            return node.g.constant(np.asarray(node(name), kind))
    if "value" not in node.attributes:
        node.refuse(f"a constant that is no tensor of numbers: {', '.join(node.attributes)}")
    array = node("value")
    if from_numpy(array.dtype) is None:
        node.refuse(f"a constant of type {array.dtype}, which is none of the workbench's element types")
    return node.g.constant(array)


def constant_of_shape(node: Node) -> Value:
    """A tensor of a shape with the same number everywhere."""
    fill = node("value")
    number = np.zeros((), np.float32) if fill is None else np.asarray(fill).reshape(())
    dims = node.dims(0, "shape")
    sizes = [dim.constant for dim in dims if dim.constant is not None]
    if len(sizes) == len(dims) and int(np.prod(sizes)) <= SMALL:
        return node.g.constant(np.full(sizes, number))
    return expand(node.g, node.g.constant(number), dims)


def count_up(node: Node) -> Value:
    """Numbers from a start on, before a limit, in equal steps."""
    start, limit, step = node.input(0), node.input(1), node.input(2)
    if all(each.array is not None for each in (start, limit, step)):
        found = np.arange(*(np.asarray(each.array).reshape(()).item() for each in (start, limit, step)))
        return node.g.constant(found.astype(start.element.numpy), start.element)
    if int(node.array(2, "step").reshape(())) != 1 or start.element != INT64:
        node.refuse("a range whose ends vary, in steps, or of other numbers than int64")
    (first,), (end,) = node.dims(0, "start"), node.dims(1, "limit")
    base = node.g.contents(symbolic(first))
    body = "y(i) = a + int64(i) where i in 0:E"
    return node.g.define("count_up", [("a", base, [])], [("y", INT64, ["E"])], body, sizes={"E": end - first})


def eye(node: Node) -> Value:
    """Ones on a diagonal."""
    value = node.input(0)
    of = node.element(node("dtype")) if "dtype" in node.attributes else value.element
    if None in value.shape:
        node.refuse("the sizes vary")
    return node.g.constant(np.eye(*value.shape, k=node("k", 0), dtype=of.numpy), of)  # type: ignore[arg-type]


WRITERS: dict[str, Writer] = {
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "EyeLike": eye,
    "Range": count_up,
    "Shape": shape,
    "Size": count,
}


# --- arithmetic on sizes


def _gathered(node: Node, arrays: list[Array]) -> Array:
    return np.take(arrays[0], np.asarray(arrays[1], np.int64), axis=node("axis", 0))


def _cut(node: Node, arrays: list[Array]) -> Array:
    starts, ends = node.integers(1, "starts"), node.integers(2, "ends")
    step = node.integers(4, "steps")[0] if node.optional(4) is not None else 1
    return arrays[0][slice(starts[0], None if ends[0] < -len(arrays[0]) else ends[0], step)]


def _squeezed(node: Node, arrays: list[Array]) -> Array:
    return arrays[0].reshape(()) if arrays[0].size == 1 else arrays[0]


def _unsqueezed(node: Node, arrays: list[Array]) -> Array:
    return arrays[0].reshape((1,) * (arrays[0].ndim + len(node.axes("axes", 1) or [])))


def _reshaped(node: Node, arrays: list[Array]) -> Array:
    return arrays[0].reshape(node.integers(1, "shape"))


def _joined(node: Node, arrays: list[Array]) -> Array:
    return joined(arrays)


def _whole(node: Node, arrays: list[Array]) -> Array:
    return arrays[0]


def _chosen(node: Node, arrays: list[Array]) -> Array:
    return np.where(np.asarray(arrays[0], bool), arrays[1], arrays[2])


FOLDED: dict[str, Callable[[Node, list[Array]], Array]] = {
    "Add": lambda node, arrays: combined_dimensions("+", *arrays),
    "Cast": _whole,
    "Concat": _joined,
    "Div": lambda node, arrays: combined_dimensions("/", *arrays),
    "Gather": _gathered,
    "Identity": _whole,
    "Max": lambda node, arrays: combined_dimensions("max", *arrays),
    "Min": lambda node, arrays: combined_dimensions("min", *arrays),
    "Mul": lambda node, arrays: combined_dimensions("*", *arrays),
    "ReduceProd": lambda node, arrays: total("*", arrays[0]),
    "ReduceSum": lambda node, arrays: total("+", arrays[0]),
    "Reshape": _reshaped,
    "Slice": _cut,
    "Squeeze": _squeezed,
    "Sub": lambda node, arrays: combined_dimensions("-", *arrays),
    "Unsqueeze": _unsqueezed,
    "Where": _chosen,
}


def folded_shape(node: Node) -> Value | None:
    """The result of arithmetic on sizes that are known by name; None for what is no such thing."""
    writer = FOLDED.get(node.type)
    arrays: list[Any] = [value.contents for value in node.given()]
    if writer is None or not any(array is not None and array.dtype == object for array in arrays):
        return None
    if any(array is None for array in arrays) or max(array.ndim for array in arrays) > 1:
        return None
    if node.type == "Cast" and node.element(node("to")).is_float:
        return None
    return node.g.contents(symbolic(writer(node, arrays)))
