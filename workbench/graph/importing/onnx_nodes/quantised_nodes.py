"""Nodes of quantised networks."""

from __future__ import annotations

from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.onnx_nodes.window_nodes import kernel_of, shifted, window_of
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import contractions, movement, windows
from workbench.graph.importing.written.elementwise import elementwise
from workbench.graph.importing.written.reductions import reduce
from workbench.graph.terms.dimensions import dimension
from workbench.lang.dtypes import UINT8, DType

ROUNDED = "q - remainder(q, 1.0)"  # of the quotient q, half to even


def _limits(of: DType) -> tuple[int, int]:
    """The ends of a type of whole numbers."""
    return (0, (1 << of.bits) - 1) if of.kind == "uint" else (-(1 << (of.bits - 1)), (1 << (of.bits - 1)) - 1)


def saturated(of: DType) -> str:
    """A float rounded to the nearest whole number, half to even, around a zero point `c`, cut to the type's ends."""
    low, high = _limits(of)
    return f"{of.name}(min(max({ROUNDED} + float32(c), {low}.0), {high}.0))"


def along(node: Node, parameter: Value, value: Value, axis: int) -> Value:
    """A scale or zero point that belongs to each slice along an axis, or each block of it, with the value's rank."""
    if parameter.rank == 0 or parameter.shape == (1,):
        return movement.reshape(node.g, parameter, ())
    if parameter.rank == 1:
        dims = [dimension(1)] * value.rank
        dims[axis] = parameter.dims[0]
        return movement.reshape(node.g, parameter, tuple(dims))
    return _repeated(node, parameter, axis, node("block_size", 1), value)


def _repeated(node: Node, parameter: Value, axis: int, block: int, value: Value) -> Value:
    at, sizes = [f"i{a}" for a in range(value.rank)], [f"D{a}" for a in range(value.rank)]
    read, out = [*at], [*sizes]
    read[axis] = f"{at[axis]} / {block}"
    out[axis] = f"{value.dims[axis].constant}"
    body = f"y({','.join(at)}) = x({','.join(read)})"
    return node.g.define("repeat_blocks", [("x", parameter, sizes)], [("y", parameter.element, out)], body)


def quantize(node: Node) -> Value:
    """Whole numbers in place of floats: divided by a scale, rounded half to even, cut to the type's ends."""
    x, point = node.input(0), node.optional(2)
    axis = node("axis", 1)
    axis = axis % x.rank if x.rank else 0
    wanted = node.element(node("output_dtype")) if node("output_dtype", 0) else UINT8
    to = point.element if point is not None else wanted
    if not to.is_integral:
        node.refuse(f"it quantises to {to.name}")
    scale = along(node, node.input(1), x, axis)
    zero = along(node, point, x, axis) if point is not None else node.g.scalar(0, to)
    inner = "float32(a) / float32(b)"
    return elementwise(node.g, f"quantize_{to.name}", saturated(to), x, scale, zero, element=to, first=inner)


def dequantize(node: Node) -> Value:
    """Floats of whole numbers, a scale and a zero point."""
    x, scale, point = node.input(0), node.input(1), node.optional(2)
    axis = node("axis", 1)
    axis = axis % x.rank if x.rank else 0
    of = node.element(node("output_dtype")) if node("output_dtype", 0) else scale.element
    factor = along(node, scale, x, axis)
    if point is None:
        return elementwise(node.g, "dequantize", "float32(a) * float32(b)", x, factor, element=of)
    zero = along(node, point, x, axis)
    body = "float32(int32(a) - int32(c)) * float32(b)"
    return elementwise(node.g, "dequantize", body, x, factor, zero, element=of)


def dynamic_quantize(node: Node) -> list[Value]:
    """Bytes, with the scale and zero point that the data ask for."""
    x = node.input(0)
    every = list(range(x.rank))
    low = reduce(node.g, "least_or_zero", "min", x, every, keep=False, finish="min(s, 0.0)")
    high = reduce(node.g, "largest_or_zero", "max", x, every, keep=False, finish="max(s, 0.0)")
    scale = elementwise(node.g, "quantised_scale", "(a - b) / 255.0", high, low)
    point = elementwise(
        node.g, "quantised_zero", f"uint8(min(max({ROUNDED}, 0.0), 255.0))", low, scale, element=UINT8,
        first="b == 0 ? 0.0 : -a / b",
    )  # fmt: skip
    inner = "float32(a) / float32(b)"
    y = elementwise(node.g, "quantize_uint8", saturated(UINT8), x, scale, point, element=UINT8, first=inner)
    return [y, scale, point]


def product(node: Node) -> Value:
    """A product of quantised matrices, quantised again."""
    g = node.g
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (node.input(at) for at in range(8))
    rows = Node(node.type, node.place, [a, b, _column(node, a_zero), b_zero], {}, node.opset, g)
    total = contractions.matmul(g, shifted(rows, 0, 2), shifted(rows, 1, 3))
    return _again(node, total, [_column(node, a_scale), b_scale], _column(node, y_scale), _column(node, y_zero))


def _column(node: Node, value: Value) -> Value:
    return (
        value
        if value.rank != 1 or value.shape == (1,)
        else movement.reshape(node.g, value, (value.dims[0], dimension(1)))
    )


def _again(node: Node, total: Value, scales: list[Value], scale: Value, zero: Value) -> Value:
    return elementwise(
        node.g, "requantize", saturated(zero.element), total, _flat(node, scale), _flat(node, zero),
        *(_flat(node, s) for s in scales), element=zero.element,
        first="float32(a) * (float32(d) * float32(e)) / float32(b)",
    )  # fmt: skip


def _flat(node: Node, value: Value) -> Value:
    return movement.reshape(node.g, value, ()) if value.shape == (1,) else value


def convolution(node: Node) -> Value:
    """A convolution of quantised pictures, quantised again."""
    g = node.g
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = (node.input(at) for at in range(8))
    inner = Node(node.type, node.place, [x, w, x_zero, w_zero], node.attributes, node.opset, g)
    window = window_of(node, x, kernel_of(node, w))
    total = windows.convolution(
        g, shifted(inner, 0, 2), shifted(inner, 1, 3, channel=0), node.optional(8), window, node("group", 1)
    )
    if w_scale.rank == 1 and w_scale.shape != (1,):
        w_scale = movement.reshape(g, w_scale, (w_scale.dims[0], *[dimension(1)] * (x.rank - 2)))
    return _again(node, total, [x_scale, w_scale], y_scale, y_zero)


WRITERS: dict[str, Writer] = {
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": dynamic_quantize,
    "QLinearConv": convolution,
    "QLinearMatMul": product,
    "QuantizeLinear": quantize,
}
