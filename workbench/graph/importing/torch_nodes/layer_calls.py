"""Layers of networks: products of matrices, convolutions, pooling, normalisations, recurrences, attention."""

from __future__ import annotations

import math
from functools import partial

from workbench.graph.importing.onnx_nodes.resampling_nodes import coordinates
from workbench.graph.importing.torch_nodes.call import Call, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import contractions, movement, normalisations, recurrences, resampling, windows
from workbench.graph.importing.written.elementwise import elementwise, literal
from workbench.graph.importing.written.lookups import triangle
from workbench.graph.importing.written.normalisations import Along, last_axes, normalised
from workbench.graph.importing.written.recurrences import Layer
from workbench.graph.importing.written.reductions import reduce, softmax
from workbench.graph.importing.written.windows import Window
from workbench.graph.terms.dimensions import dimension
from workbench.lang.dtypes import BOOL


def product(call: Call) -> Value:
    """A product of matrices, of batches of them, or with vectors."""
    b = call("mat2", call("other", call("vec", call("tensor"))))
    return contractions.matmul(call.g, call.value("self"), b)


def add_product(call: Call) -> Value:
    """`beta · C + alpha · A B`."""
    left, right = (("batch1", "batch2") if call.name == "baddbmm" else ("mat1", "mat2"))
    if call.name == "addmv":
        left, right = "mat", "vec"
    found = contractions.matmul(call.g, call.value(left), call.value(right))
    alpha, beta = call("alpha", 1), call("beta", 1)
    scaled = "b" if alpha == 1 else f"{literal(alpha)} * b"
    added = "a" if beta == 1 else f"{literal(beta)} * a"
    return elementwise(call.g, "add" if alpha == beta == 1 else "add_scaled", f"{added} + {scaled}", call.value("self"), found)


def linear(call: Call) -> Value:
    """`x Wᵀ + b`."""
    x, w, bias = call.value("input"), call.value("weight"), call.optional("bias")
    found = contractions.einsum(call.g, "...k,nk->...n", [x, w])
    return found if bias is None else elementwise(call.g, "add", "a + b", found, bias)


def window_of(call: Call, count: int) -> Window:
    padding = call.numbers("padding", count, [0] * count)
    stride = call.numbers("stride", count) or call.numbers("kernel_size", count)
    dilation = call.numbers("dilation", count, [1] * count)
    return Window(tuple(stride), tuple(padding), tuple(padding), tuple(dilation), bool(call("ceil_mode", False)))


def convolution(call: Call) -> Value:
    x, w, bias = call.value("input"), call.value("weight"), call.optional("bias")
    window, groups = window_of(call, x.rank - 2), call("groups", 1)
    if call("transposed", False):
        more = call.numbers("output_padding", x.rank - 2)
        return windows.transposed(call.g, x, w, bias, window, groups, more)
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
    window = window_of(call, count)
    y = _unbatched(call, windows.max_pool(call.g, batched, kernel, window), x)
    if "indices" not in call.name:
        return y
    return y, None


def average_pool(call: Call, count: int) -> Value:
    x = call.value("self")
    batched = _batched(call, x, count)
    kernel = call.numbers("kernel_size", count)
    border = bool(call.arguments.get("count_include_pad", True))
    y = windows.average_pool(
        call.g, batched, kernel, window_of(call, count), count_border=border, divisor=call("divisor_override")
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
        size = call.numbers("output_size")[at] if sizes else int(math.floor(extent * factors[at]))
        scale = factors[at] if factors and not call("align_corners", False) else size / extent
        if size == extent:
            continue
        if mode == "nearest":
            places = coordinates("asymmetric", extent, size, scale, (0, 1))
            by = resampling.nearest(places, extent, lambda x: x // 1)
        else:
            how = "align_corners" if call("align_corners", False) else "half_pixel"
            places = coordinates(how, extent, size, size / extent if how == "align_corners" else scale, (0, 1))
            kernel = resampling.linear if mode == "linear" else resampling.cubic(-0.75)
            places = places.clip(0, extent - 1) if mode == "linear" else places
            by = resampling.table(places, extent, kernel, 1 if mode == "linear" else 2, 1.0, exclude=False)
        x = resampling.resampled(call.g, x, axis, by)
    return x


def batch_norm(call: Call) -> tuple[Value | None, ...]:
    x = call.value("input")
    mean, variance = call.value("running_mean"), call.value("running_var")
    channels = x.dims[1]
    one, zero = (movement.filled(call.g, (channels,), call.g.scalar(number, x.element)) for number in (1, 0))
    scale, bias = call.optional("weight") or one, call.optional("bias") or zero
    return normalisations.batch_norm(call.g, x, scale, bias, mean, variance, call("eps", 1e-5)), None, None


def batch_statistics(call: Call) -> tuple[Value | None, ...]:
    """Normalisation by the batch's own statistics, as in an instance normalisation; running ones would change state."""
    x, scale, bias = call.value("input"), call.optional("weight"), call.optional("bias")
    if call("running_mean") is not None:
        call.refuse("a batch normalisation while training changes its statistics; call .eval()")
    axes = [at for at in range(x.rank) if at != 1]
    y = normalised(
        call.g, "batch_norm_training", x, axes, call("eps", 1e-5), scale=Along(scale, (1,)) if scale else None,
        bias=Along(bias, (1,)) if bias else None,
    )  # fmt: skip
    return y, None, None


def adaptive_max(call: Call) -> tuple[Value, None]:
    """The largest elements of windows that cover the picture evenly."""
    x, wanted = call.value("self"), call.numbers("output_size", 2)
    extents = [dim.constant for dim in x.dims[-2:]]
    if None in extents or any(extent % size for extent, size in zip(extents, wanted, strict=True)):  # type: ignore[operator]
        call.refuse("adaptive pooling into a size that does not divide the picture's")
    kernel = [extent // size for extent, size in zip(extents, wanted, strict=True)]  # type: ignore[operator]
    window = Window(tuple(kernel), (0, 0), (0, 0), (1, 1))
    return _unbatched(call, windows.max_pool(call.g, _batched(call, x, 2), kernel, window), x), None


def layer_norm(call: Call) -> tuple[Value | None, ...] | Value:
    x, shape = call.value("input"), call("normalized_shape")
    scale, bias = call.optional("weight"), call.optional("bias")
    axes = list(range(x.rank - len(shape), x.rank))
    y = normalised(
        call.g, "layer_norm", x, axes, call("eps", 1e-5), scale=last_axes(scale, x) if scale else None,
        bias=last_axes(bias, x) if bias else None,
    )  # fmt: skip
    return (y, None, None) if call.name.startswith("native") else y


def rms_norm(call: Call) -> Value | tuple[Value | None, ...]:
    x, shape, scale = call.value("input"), call("normalized_shape"), call.optional("weight")
    epsilon = call("eps")
    if epsilon is None:
        import numpy as np

        epsilon = float(np.finfo(x.element.numpy).eps)
    axes = list(range(x.rank - len(shape), x.rank))
    y = normalised(call.g, "rms_norm", x, axes, epsilon, scale=last_axes(scale, x) if scale else None, centred=False)
    return (y, None) if call.name.startswith("_fused") else y


def group_norm(call: Call) -> tuple[Value | None, ...] | Value:
    x, groups = call.value("input"), call("group", call("num_groups"))
    scale, bias = call.optional("weight"), call.optional("bias")
    n, c = x.dims[:2]
    per = movement.divided(c, dimension(groups))
    parted = movement.reshape(call.g, x, (n, dimension(groups), per, *x.dims[2:]))
    along = [
        Along(movement.reshape(call.g, each, (dimension(groups), per)), (1, 2)) if each is not None else None
        for each in (scale, bias)
    ]
    axes = list(range(2, parted.rank))
    y = normalised(call.g, "group_norm", parted, axes, call("eps", 1e-5), scale=along[0], bias=along[1])
    y = movement.reshape(call.g, y, x.dims)
    return (y, None, None) if call.name.startswith("native") else y


def attention(call: Call) -> Value | tuple[Value | None, ...]:
    """Scaled dot-product attention as products and a softmax."""
    g, q, k, v = call.g, call.value("query"), call.value("key"), call.value("value")
    if call("dropout_p", 0.0):
        call.refuse("attention with dropout is random; call .eval()")
    if q.dims[-3:-2] != k.dims[-3:-2] and call("enable_gqa", False):
        k, v = (_repeated_heads(call, each, q) for each in (k, v))
    depth = q.dims[-1].constant
    scale = call("scale")
    if scale is None and depth is None:
        call.refuse("attention whose size of a head varies")
    scale = scale if scale is not None else 1 / math.sqrt(depth or 1)
    order = [*range(k.rank - 2), k.rank - 1, k.rank - 2]
    scores = contractions.matmul(g, q, movement.transpose(g, k, order))
    scores = elementwise(g, "scaled", f"{literal(scale, scores.element)} * a", scores)
    mask = call.optional("attn_mask")
    if call("is_causal", False):
        every = movement.filled(g, scores.dims[-2:], g.constant(_true(), BOOL))
        mask = triangle(g, every, 0, upper=False)
    if mask is not None and mask.element == BOOL:
        scores = elementwise(g, "masked", "b ? a : -inf", scores, mask)
    elif mask is not None:
        scores = elementwise(g, "add", "a + b", scores, mask)
    found = contractions.matmul(g, softmax(g, scores, -1), v)
    return (found, *[None] * (len(call.result) - 1)) if isinstance(call.result, tuple | list) else found


def _true() -> object:
    import numpy as np

    return np.ones((), bool)


def _repeated_heads(call: Call, value: Value, q: Value) -> Value:
    times = movement.divided(q.dims[-3], value.dims[-3])
    dims = (*value.dims[:-2], dimension(1), *value.dims[-2:])
    raised = movement.reshape(call.g, value, dims)
    repeats = [dimension(1)] * len(dims)
    repeats[-3] = times
    tiled = movement.tiled(call.g, raised, repeats)
    return movement.reshape(call.g, tiled, (*value.dims[:-3], q.dims[-3], *value.dims[-2:]))


def recurrent(call: Call, kind: str) -> tuple[Value, ...]:
    """A recurrent network of some layers, in one direction or two."""
    g, x = call.g, call.value("input")
    states = call("hx")
    states = list(states) if isinstance(states, list | tuple) else [states]
    parameters, biased = list(call("params")), bool(call("has_biases"))
    if call("batch_first", False):
        x = movement.transpose(g, x, [1, 0, 2])
    directions, count = (2 if call("bidirectional", False) else 1), 4 if biased else 2
    if call("train", False) and call("dropout", 0.0):
        call.refuse("dropout between layers is random; call .eval()")
    ended: list[list[Value]] = [[] for _ in states]
    for number in range(call("num_layers")):
        outputs = []
        for turn in range(directions):
            at = number * directions + turn
            own = parameters[at * count : (at + 1) * count]
            initial = [_row(call, state, at) for state in states]
            found = _one(call, kind, x, own, initial, backwards=turn == 1)
            outputs.append(found[0])
            for each, last in zip(ended, found[1:], strict=True):
                each.append(movement.reshape(g, last, (dimension(1), *last.dims)))
        x = movement.concatenated(g, outputs, 2)
    x = movement.transpose(g, x, [1, 0, 2]) if call("batch_first", False) else x
    return x, *(movement.concatenated(g, each, 0) for each in ended)


def _row(call: Call, value: Value, at: int) -> Value:
    part = movement.sliced(call.g, value, 0, dimension(at), dimension(1), 1)
    return movement.reshape(call.g, part, part.dims[1:])


# Order of the gates here → where PyTorch has them.
GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2)}


def _one(call: Call, kind: str, x: Value, own: list[Value], initial: list[Value], *, backwards: bool) -> tuple[Value, ...]:
    g = call.g
    parts = [_reordered(call, each, GATES[kind]) if kind in GATES else each for each in own]
    w, r, *biases = parts
    wb, rb = biases or (None, None)
    sigmoid, tanh = (lambda t: f"sigmoid({t})"), (lambda t: f"tanh({t})")
    if kind == "lstm":
        return recurrences.lstm(g, Layer(x, w, r, wb, rb, initial, (sigmoid, tanh, tanh), backwards))
    if kind == "gru":
        return recurrences.gru(g, Layer(x, w, r, wb, rb, initial, (sigmoid, tanh), backwards), reset_after=True)
    act = tanh if kind == "rnn_tanh" else (lambda t: f"max({t}, 0.0)")
    return recurrences.rnn(g, Layer(x, w, r, wb, rb, initial, (act,), backwards))


def _reordered(call: Call, value: Value, order: tuple[int, ...]) -> Value:
    size = movement.divided(value.dims[0], dimension(len(order)))
    rows = [movement.sliced(call.g, value, 0, size * at, size, 1) for at in order]
    return movement.concatenated(call.g, rows, 0)


WRITERS: dict[str, Writer] = {
    "_adaptive_avg_pool2d": partial(adaptive_average, count=2),
    "adaptive_avg_pool1d": partial(adaptive_average, count=1),
    "_fused_rms_norm": rms_norm,
    "_native_batch_norm_legit": batch_statistics,
    "_native_batch_norm_legit_functional": batch_statistics,
    "adaptive_max_pool2d": adaptive_max,
    "_native_batch_norm_legit_no_training": batch_norm,
    "_scaled_dot_product_flash_attention_for_cpu": attention,
    "addbmm": add_product,
    "addmm": add_product,
    "addmv": add_product,
    "avg_pool1d": partial(average_pool, count=1),
    "avg_pool2d": partial(average_pool, count=2),
    "avg_pool3d": partial(average_pool, count=3),
    "baddbmm": add_product,
    "bmm": product,
    "convolution": convolution,
    "dot": product,
    "gru": partial(recurrent, kind="gru"),
    "linear": linear,
    "lstm": partial(recurrent, kind="lstm"),
    "matmul": product,
    "max_pool2d_with_indices": partial(max_pool, count=2),
    "max_pool3d_with_indices": partial(max_pool, count=3),
    "mm": product,
    "mv": product,
    "native_group_norm": group_norm,
    "native_layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "rnn_relu": partial(recurrent, kind="rnn_relu"),
    "rnn_tanh": partial(recurrent, kind="rnn_tanh"),
    "scaled_dot_product_attention": attention,
    "upsample_bicubic2d": partial(upsample, mode="cubic"),
    "upsample_bilinear2d": partial(upsample, mode="linear"),
    "upsample_linear1d": partial(upsample, mode="linear"),
    "upsample_nearest1d": partial(upsample, mode="nearest"),
    "upsample_nearest2d": partial(upsample, mode="nearest"),
    "upsample_nearest3d": partial(upsample, mode="nearest"),
}
