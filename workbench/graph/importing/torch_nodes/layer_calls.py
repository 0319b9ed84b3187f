"""Layers of networks: products of matrices, normalisations, recurrences, attention."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from workbench.graph.importing.torch_nodes.call import Call, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import contractions, movement, normalisations, recurrences
from workbench.graph.importing.written.elementwise import elementwise, literal
from workbench.graph.importing.written.lookups import triangular_part
from workbench.graph.importing.written.normalisations import Along, last_axes, normalised
from workbench.graph.importing.written.recurrences import Layer
from workbench.graph.importing.written.reductions import softmax
from workbench.graph.terms.dimensions import dimension
from workbench.lang.dtypes import BOOL


def product(call: Call) -> Value:
    """A product of matrices, of batches of them, or with vectors."""
    b = call("mat2", call("other", call("vec", call("tensor"))))
    return contractions.matmul(call.g, call.value("self"), b)


def add_product(call: Call) -> Value:
    """`beta · C + alpha · A B`."""
    left, right = ("batch1", "batch2") if call.name == "baddbmm" else ("mat1", "mat2")
    if call.name == "addmv":
        left, right = "mat", "vec"
    found = contractions.matmul(call.g, call.value(left), call.value(right))
    alpha, beta = call("alpha", 1), call("beta", 1)
    scaled = "b" if alpha == 1 else f"{literal(alpha)} * b"
    added = "a" if beta == 1 else f"{literal(beta)} * a"
    return elementwise(
        call.g, "add" if alpha == beta == 1 else "add_scaled", f"{added} + {scaled}", call.value("self"), found
    )


def linear(call: Call) -> Value:
    """`x Wᵀ + b`."""
    x, w, bias = call.value("input"), call.value("weight"), call.optional("bias")
    found = contractions.einsum(call.g, "...k,nk->...n", [x, w])
    return found if bias is None else elementwise(call.g, "add", "a + b", found, bias)


def batch_norm(call: Call) -> tuple[Value | None, ...]:
    """Normalisation of each channel by statistics that are given."""
    x = call.value("input")
    mean, variance = call.value("running_mean"), call.value("running_var")
    channels = x.dims[1]
    one, zero = (movement.constant_tensor(call.g, (channels,), call.g.scalar(number, x.element)) for number in (1, 0))
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


def layer_norm(call: Call) -> tuple[Value | None, ...] | Value:
    """Normalisation over the last axes."""
    x, shape = call.value("input"), call("normalized_shape")
    scale, bias = call.optional("weight"), call.optional("bias")
    axes = list(range(x.rank - len(shape), x.rank))
    y = normalised(
        call.g, "layer_norm", x, axes, call("eps", 1e-5), scale=last_axes(scale, x) if scale else None,
        bias=last_axes(bias, x) if bias else None,
    )  # fmt: skip
    return (y, None, None) if call.name.startswith("native") else y


def rms_norm(call: Call) -> Value | tuple[Value | None, ...]:
    """Division by the root mean square over the last axes."""
    x, shape, scale = call.value("input"), call("normalized_shape"), call.optional("weight")
    epsilon = call("eps")
    if epsilon is None:
        epsilon = float(np.finfo(x.element.numpy).eps)
    axes = list(range(x.rank - len(shape), x.rank))
    y = normalised(call.g, "rms_norm", x, axes, epsilon, scale=last_axes(scale, x) if scale else None, centred=False)
    return (y, None) if call.name.startswith("_fused") else y


def group_norm(call: Call) -> tuple[Value | None, ...] | Value:
    """Normalisation of groups of channels."""
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
        every = movement.constant_tensor(g, scores.dims[-2:], g.constant(np.ones((), bool), BOOL))
        mask = triangular_part(g, every, 0, upper=False)
    if mask is not None and mask.element == BOOL:
        scores = elementwise(g, "masked", "b ? a : -inf", scores, mask)
    elif mask is not None:
        scores = elementwise(g, "add", "a + b", scores, mask)
    found = contractions.matmul(g, softmax(g, scores, -1), v)
    return (found, *[None] * (len(call.result) - 1)) if isinstance(call.result, tuple | list) else found


def _repeated_heads(call: Call, value: Value, q: Value) -> Value:
    times = movement.divided(q.dims[-3], value.dims[-3])
    dims = (*value.dims[:-2], dimension(1), *value.dims[-2:])
    raised = movement.reshape(call.g, value, dims)
    repeats = [dimension(1)] * len(dims)
    repeats[-3] = times
    tiled = movement.repeated(call.g, raised, repeats)
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


def _one(
    call: Call, kind: str, x: Value, own: list[Value], initial: list[Value], *, backwards: bool
) -> tuple[Value, ...]:
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
    "_fused_rms_norm": rms_norm,
    "_native_batch_norm_legit": batch_statistics,
    "_native_batch_norm_legit_functional": batch_statistics,
    "_native_batch_norm_legit_no_training": batch_norm,
    "_scaled_dot_product_flash_attention_for_cpu": attention,
    "addbmm": add_product,
    "addmm": add_product,
    "addmv": add_product,
    "baddbmm": add_product,
    "bmm": product,
    "dot": product,
    "gru": partial(recurrent, kind="gru"),
    "linear": linear,
    "lstm": partial(recurrent, kind="lstm"),
    "matmul": product,
    "mm": product,
    "mv": product,
    "native_group_norm": group_norm,
    "native_layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "rnn_relu": partial(recurrent, kind="rnn_relu"),
    "rnn_tanh": partial(recurrent, kind="rnn_tanh"),
    "scaled_dot_product_attention": attention,
}
