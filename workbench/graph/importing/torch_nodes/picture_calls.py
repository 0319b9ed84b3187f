"""Convolutions, pooling and resampling of pictures."""

from __future__ import annotations

import math
from functools import partial

from workbench.graph.importing.torch_nodes.call import Call, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import movement, resampling, transposed_windows, windows
from workbench.graph.importing.written.reductions import reduce
from workbench.graph.importing.written.windows import Window
from workbench.graph.terms.dimensions import dimension


def _window_of(call: Call, count: int) -> Window:
    """The window that the arguments of a call describe."""
    padding = call.numbers("padding", count, [0] * count)
    stride = call.numbers("stride", count) or call.numbers("kernel_size", count)
    dilation = call.numbers("dilation", count, [1] * count)
    return Window(tuple(stride), tuple(padding), tuple(padding), tuple(dilation), bool(call("ceil_mode", False)))


def convolution(call: Call) -> Value:
    """A convolution or a transposed one, with groups and a bias."""
    x, w, bias = call.value("input"), call.value("weight"), call.optional("bias")
    window, groups = _window_of(call, x.rank - 2), call("groups", 1)
    if call("transposed", False):
        more = call.numbers("output_padding", x.rank - 2)
        return transposed_windows.transposed_convolution(call.g, x, w, bias, window, groups, more)
    return windows.convolution(call.g, x, w, bias, window, groups)


def _batched(call: Call, x: Value, count: int) -> Value:
    """A picture without an axis for the batch gets one."""
    return x if x.rank == count + 2 else movement.reshape(call.g, x, (dimension(1), *x.dims))


def _unbatched(call: Call, y: Value, x: Value) -> Value:
    return y if y.rank == x.rank else movement.reshape(call.g, y, y.dims[1:])


def max_pool(call: Call, count: int) -> tuple[Value, Value | None] | Value:
    """The largest elements of windows; their places too, if somebody asks for them."""
    x = call.value("self")
    batched = _batched(call, x, count)
    kernel = call.numbers("kernel_size", count)
    window = _window_of(call, count)
    y = _unbatched(call, windows.max_pool(call.g, batched, kernel, window), x)
    if "indices" not in call.name:
        return y
    return y, None


def average_pool(call: Call, count: int) -> Value:
    """The mean of each window."""
    x = call.value("self")
    batched = _batched(call, x, count)
    kernel = call.numbers("kernel_size", count)
    border = bool(call.arguments.get("count_include_pad", True))
    y = windows.average_pool(
        call.g, batched, kernel, _window_of(call, count), count_border=border, divisor=call("divisor_override")
    )
    return _unbatched(call, y, x)


def adaptive_average(call: Call, count: int) -> Value:
    """Means of windows that cover the picture evenly."""
    x, wanted = call.value("self"), call.numbers("output_size", count)
    if all(size == 1 for size in wanted):
        axes = list(range(x.rank - count, x.rank))
        return reduce(call.g, "global_average_pool", "+", x, axes, keep=True, finish="s / n")
    extents = [dim.constant for dim in x.dims[-count:]]
    if None in extents or any(extent % size for extent, size in zip(extents, wanted, strict=True)):  # type: ignore[operator]
        call.refuse("adaptive pooling into a size that does not divide the picture's")
    kernel = [extent // size for extent, size in zip(extents, wanted, strict=True)]  # type: ignore[operator]
    zeros = (0,) * count
    window = Window(tuple(kernel), zeros, zeros, (1,) * count)
    y = windows.average_pool(call.g, _batched(call, x, count), kernel, window, count_border=True)
    return _unbatched(call, y, x)


def upsample(call: Call, mode: str) -> Value:
    """A picture in another size, each of whose axes has a factor or a size."""
    x = call.value("self") if "self" in call.arguments else call.value("input")
    count = x.rank - 2
    sizes, factors = call("output_size"), call("scale_factors")
    for at in range(count):
        axis, extent = at + 2, x.dims[at + 2].constant
        if extent is None:
            call.refuse(f"the size of axis {axis} varies, and it is resampled")
        size = call.numbers("output_size")[at] if sizes else math.floor(extent * factors[at])
        scale = factors[at] if factors and not call("align_corners", False) else size / extent
        if size == extent:
            continue
        if mode == "nearest":
            places = resampling.sample_coordinates("asymmetric", extent, size, scale, (0, 1))
            by = resampling.nearest(places, extent, lambda x: x // 1)
        else:
            how = "align_corners" if call("align_corners", False) else "half_pixel"
            places = resampling.sample_coordinates(
                how, extent, size, size / extent if how == "align_corners" else scale, (0, 1)
            )
            kernel = resampling.linear if mode == "linear" else resampling.cubic(-0.75)
            places = places.clip(0, extent - 1) if mode == "linear" else places
            by = resampling.kernel_table(places, extent, kernel, 1 if mode == "linear" else 2, 1.0, exclude=False)
        x = resampling.resampled(call.g, x, axis, by)
    return x


def adaptive_max(call: Call) -> tuple[Value, None]:
    """The largest elements of windows that cover the picture evenly."""
    x, wanted = call.value("self"), call.numbers("output_size", 2)
    extents = [dim.constant for dim in x.dims[-2:]]
    if None in extents or any(extent % size for extent, size in zip(extents, wanted, strict=True)):  # type: ignore[operator]
        call.refuse("adaptive pooling into a size that does not divide the picture's")
    kernel = [extent // size for extent, size in zip(extents, wanted, strict=True)]  # type: ignore[operator]
    window = Window(tuple(kernel), (0, 0), (0, 0), (1, 1))
    return _unbatched(call, windows.max_pool(call.g, _batched(call, x, 2), kernel, window), x), None


WRITERS: dict[str, Writer] = {
    "_adaptive_avg_pool2d": partial(adaptive_average, count=2),
    "adaptive_avg_pool1d": partial(adaptive_average, count=1),
    "adaptive_max_pool2d": adaptive_max,
    "avg_pool1d": partial(average_pool, count=1),
    "avg_pool2d": partial(average_pool, count=2),
    "avg_pool3d": partial(average_pool, count=3),
    "convolution": convolution,
    "max_pool2d_with_indices": partial(max_pool, count=2),
    "max_pool3d_with_indices": partial(max_pool, count=3),
    "upsample_bicubic2d": partial(upsample, mode="cubic"),
    "upsample_bilinear2d": partial(upsample, mode="linear"),
    "upsample_linear1d": partial(upsample, mode="linear"),
    "upsample_nearest1d": partial(upsample, mode="nearest"),
    "upsample_nearest2d": partial(upsample, mode="nearest"),
    "upsample_nearest3d": partial(upsample, mode="nearest"),
}
