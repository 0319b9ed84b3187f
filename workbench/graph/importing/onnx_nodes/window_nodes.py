"""Convolutions and pooling."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import transposed_windows, windows
from workbench.graph.importing.written.elementwise import elementwise
from workbench.graph.importing.written.reductions import reduce
from workbench.graph.importing.written.windows import Window
from workbench.lang.dtypes import INT32


def window_of(node: Node, x: Value, kernel: Sequence[int]) -> Window:
    """The window that a node's attributes describe."""
    rank = x.rank - 2
    strides, dilations = node("strides", [1] * rank), node("dilations", [1] * rank)
    pads = node("pads", [0] * 2 * rank)
    before, after = pads[:rank], pads[rank:]
    auto = node("auto_pad", "NOTSET")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        before, after = _same(node, x, kernel, strides, dilations, lower=auto == "SAME_LOWER")
    elif auto == "VALID":
        before, after = [0] * rank, [0] * rank
    return Window(tuple(strides), tuple(before), tuple(after), tuple(dilations), bool(node("ceil_mode", 0)))


def _same(
    node: Node, x: Value, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], *, lower: bool
) -> tuple[list[int], list[int]]:
    before, after = [], []
    for dim, k, step, d in zip(x.dims[2:], kernel, strides, dilations, strict=True):
        if dim.constant is None and step != 1:
            node.refuse("auto_pad with a stride, where the size of the picture varies")
        reach = d * (k - 1) + 1
        size = dim.constant or 0
        total = reach - 1 if step == 1 else max(0, (-(-size // step) - 1) * step + reach - size)
        small, large = total // 2, total - total // 2
        before.append(large if lower else small)
        after.append(small if lower else large)
    return before, after


def kernel_of(node: Node, w: Value) -> list[int]:
    """The sizes of a filter."""
    sizes = node("kernel_shape") or [dim.constant for dim in w.dims[2:]]
    found = [size for size in sizes if size is not None]
    if len(found) < len(sizes):
        node.refuse("the size of the window varies")
    return found


def convolution(node: Node) -> Value:
    """A convolution, with groups and a bias."""
    x, w = node.input(0), node.input(1)
    return windows.convolution(node.g, x, w, node.optional(2), window_of(node, x, kernel_of(node, w)), node("group", 1))


def convolution_of_integers(node: Node) -> Value:
    """A convolution of bytes around their zero points, summed in int32."""
    x, w = shifted(node, 0, 2), shifted(node, 1, 3, channel=0)
    return windows.convolution(node.g, x, w, None, window_of(node, x, kernel_of(node, w)), node("group", 1))


def shifted(node: Node, at: int, zero: int, channel: int | None = None) -> Value:
    """A quantised input in int32 around its zero point, which may be one for each channel."""
    value, point = node.input(at), node.optional(zero)
    if point is None:
        return elementwise(node.g, "widened", "int32(a)", value, element=INT32)
    if point.rank == 1 and point.shape != (1,) and channel is not None:
        from workbench.graph.importing.written import movement
        from workbench.graph.terms.dimensions import dimension

        dims = [dimension(1)] * value.rank
        dims[channel] = point.dims[0]
        point = movement.reshape(node.g, point, tuple(dims))
    return elementwise(node.g, "around_zero_point", "int32(a) - int32(b)", value, point, element=INT32)


def transposed(node: Node) -> Value:
    """The transposed convolution; `output_shape` overrides the border."""
    x, w = node.input(0), node.input(1)
    kernel = kernel_of(node, w)
    rank = x.rank - 2
    strides, dilations = node("strides", [1] * rank), node("dilations", [1] * rank)
    more = list(node("output_padding", [0] * rank))
    pads = node("pads", [0] * 2 * rank)
    before, after = list(pads[:rank]), list(pads[rank:])
    auto = node("auto_pad", "NOTSET")
    if "output_shape" in node.attributes or auto in ("SAME_UPPER", "SAME_LOWER"):
        sizes = x.shape[2:]
        if None in sizes:
            node.refuse("output_shape or auto_pad, where the size of the picture varies")
        wanted = node("output_shape") or [size * step for size, step in zip(sizes, strides, strict=True)]  # type: ignore[operator]
        for at in range(rank):
            reach = (kernel[at] - 1) * dilations[at] + 1
            total = strides[at] * (sizes[at] - 1) + more[at] + reach - wanted[-rank:][at]  # type: ignore[operator]
            small = total // 2
            before[at], after[at] = (total - small, small) if auto == "SAME_LOWER" else (small, total - small)
            if auto == "NOTSET":
                before[at], after[at] = total - total // 2, total // 2
            if total < 0:
                before[at], after[at] = 0, 0
                more[at] -= total
    elif auto == "VALID":
        before, after = [0] * rank, [0] * rank
    window = Window(tuple(strides), tuple(before), tuple(after), tuple(dilations))
    return transposed_windows.transposed_convolution(node.g, x, w, node.optional(2), window, node("group", 1), more)


def max_pool(node: Node) -> list[Value]:
    """The largest element of each window, and its place if that is asked for."""
    x, kernel = node.input(0), node("kernel_shape")
    window = window_of(node, x, kernel)
    found = [windows.max_pool(node.g, x, kernel, window)]
    if node.outputs > 1:
        found.append(windows.max_pool_places(node.g, x, kernel, window, columns=bool(node("storage_order", 0))))
    return found


def average_pool(node: Node) -> Value:
    """The mean of each window."""
    x, kernel = node.input(0), node("kernel_shape")
    counted = bool(node("count_include_pad", 0))
    return windows.average_pool(node.g, x, kernel, window_of(node, x, kernel), count_border=counted)


def power_pool(node: Node) -> Value:
    """The p-norm of each window."""
    x, kernel = node.input(0), node("kernel_shape")
    return windows.power_pool(node.g, x, kernel, window_of(node, x, kernel), node("p", 2))


def global_pool(node: Node, name: str, sign: str, finish: str) -> Value:
    """A reduction of each channel of each picture."""
    x = node.input(0)
    return reduce(node.g, name, sign, x, list(range(2, x.rank)), keep=True, finish=finish)


def global_power_pool(node: Node) -> Value:
    """The p-norm of each channel of each picture."""
    x, power = node.input(0), node("p", 2)
    axes = list(range(2, x.rank))
    each = f"pow(abs(a), {float(power)})"
    return reduce(node.g, "global_power_pool", "+", x, axes, keep=True, each=each, finish=f"pow(s, {1 / power!r})")


WRITERS: dict[str, Writer] = {
    "AveragePool": average_pool,
    "Conv": convolution,
    "ConvInteger": convolution_of_integers,
    "ConvTranspose": transposed,
    "GlobalAveragePool": lambda node: global_pool(node, "global_average_pool", "+", "s / n"),
    "GlobalLpPool": global_power_pool,
    "GlobalMaxPool": lambda node: global_pool(node, "global_max_pool", "max", "s"),
    "LpPool": power_pool,
    "MaxPool": max_pool,
}
