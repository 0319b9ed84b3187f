"""Layers of networks: products of matrices, normalisations, dropout."""

from __future__ import annotations

import numpy as np

from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.onnx_nodes.window_nodes import shifted
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import contractions, movement, normalisations
from workbench.graph.importing.written.elementwise import elementwise, expand, literal
from workbench.graph.importing.written.normalisations import Along, channels, last_axes, normalised
from workbench.graph.importing.written.reductions import reduce
from workbench.graph.terms.dimensions import dimension
from workbench.lang.dtypes import BOOL


def gemm(node: Node) -> Value:
    """`alpha · A B + beta · C`, each of the matrices as it is or transposed."""
    a, b, c = node.input(0), node.input(1), node.optional(2)
    a = movement.transpose(node.g, a, [1, 0]) if node("transA", 0) else a
    b = movement.transpose(node.g, b, [1, 0]) if node("transB", 0) else b
    found = contractions.matmul(node.g, a, b)
    alpha, beta = node("alpha", 1.0), node("beta", 1.0)
    if alpha != 1:
        found = elementwise(node.g, "scaled", f"{_factor(alpha, found)} * a", found)
    if c is None or beta == 0:
        return found
    added = "a + b" if beta == 1 else f"a + {_factor(beta, found)} * b"
    return elementwise(node.g, "add" if beta == 1 else "add_scaled", added, found, c)


def _factor(value: float, of: Value) -> str:
    return literal(value, of.element)


def product_of_integers(node: Node) -> Value:
    """A product of matrices of bytes around their zero points, summed in int32."""
    point = node.optional(2)
    if point is not None and point.rank == 1 and point.shape != (1,):
        node.inputs[2] = movement.reshape(node.g, point, (point.dims[0], dimension(1)))
    return contractions.matmul(node.g, shifted(node, 0, 2), shifted(node, 1, 3))


def batch_norm(node: Node) -> list[Value]:
    """Normalisation of each channel by statistics that are given, or in training by those of the batch."""
    x, scale, bias, mean, variance = (node.input(at) for at in range(5))
    epsilon = node("epsilon", 1e-5)
    if not node("training_mode", 0):
        return [normalisations.batch_norm(node.g, x, scale, bias, mean, variance, epsilon)]
    axes = [at for at in range(x.rank) if at != 1]
    y = normalised(node.g, "batch_norm_training", x, axes, epsilon, scale=channels(scale), bias=channels(bias))
    centre = reduce(node.g, "reduce_mean", "+", x, axes, keep=False, finish="s / n")
    column = movement.reshape(node.g, centre, movement.unsqueezed(centre, list(range(1, x.rank - 1))))
    difference = elementwise(node.g, "subtract", "a - b", x, column)
    spread = reduce(node.g, "mean_square", "+", difference, axes, keep=False, each="a * a", finish="s / n")
    keep = literal(node("momentum", 0.9), mean.element)
    rest = literal(1 - node("momentum", 0.9), mean.element)
    moved = f"a * {keep} + b * {rest}"
    return [y, *(elementwise(node.g, "running", moved, old, new) for old, new in ((mean, centre), (variance, spread)))]


def layer_norm(node: Node) -> list[Value]:
    """Normalisation over the last axes; its mean and inverse deviation too, if they are asked for."""
    x, scale, bias = node.input(0), node.input(1), node.optional(2)
    axes = list(range(node("axis", -1) % x.rank, x.rank))
    epsilon = node("epsilon", 1e-5)
    y = normalised(
        node.g, "layer_norm", x, axes, epsilon, scale=last_axes(scale, x), bias=last_axes(bias, x) if bias else None
    )
    if node.outputs == 1:
        return [y]
    mean = reduce(node.g, "reduce_mean", "+", x, axes, keep=True, finish="s / n")
    centred = elementwise(node.g, "subtract", "a - b", x, mean)
    ended = f"rsqrt(s / n + {literal(epsilon, x.element)})"
    spread = reduce(node.g, "inverse_deviation", "+", centred, axes, keep=True, each="a * a", finish=ended)
    return [y, mean, spread]


def rms_norm(node: Node) -> Value:
    """Division by the root mean square over the last axes."""
    x, scale = node.input(0), node.input(1)
    axes = list(range(node("axis", -1) % x.rank, x.rank))
    return normalised(node.g, "rms_norm", x, axes, node("epsilon", 1e-5), scale=last_axes(scale, x), centred=False)


def instance_norm(node: Node) -> Value:
    """Normalisation of each channel of each picture."""
    x, scale, bias = (node.input(at) for at in range(3))
    return normalised(
        node.g,
        "instance_norm",
        x,
        list(range(2, x.rank)),
        node("epsilon", 1e-5),
        scale=channels(scale),
        bias=channels(bias),
    )


def group_norm(node: Node) -> Value:
    """Normalisation of groups of channels; early versions scale each group, later ones each channel."""
    x, scale, bias = (node.input(at) for at in range(3))
    groups = node("num_groups")
    n, c = x.dims[:2]
    per = movement.divided(c, dimension(groups))
    parted = movement.reshape(node.g, x, (n, dimension(groups), per, *x.dims[2:]))
    each = list(range(2, parted.rank))
    if node.opset >= 21:
        scale, bias = (movement.reshape(node.g, value, (dimension(groups), per)) for value in (scale, bias))
        along = (1, 2)
    else:
        along = (1,)
    y = normalised(
        node.g, "group_norm", parted, each, node("epsilon", 1e-5), scale=Along(scale, along), bias=Along(bias, along)
    )
    return movement.reshape(node.g, y, x.dims)


def local_response(node: Node) -> Value:
    """Normalisation by neighbours in other channels."""
    x = node.input(0)
    return normalisations.local_response(
        node.g, x, node("size"), node("alpha", 1e-4), node("beta", 0.75), node("bias", 1.0)
    )


def dropout(node: Node) -> list[Value]:
    """Nothing at inference; in training it is random, and refused."""
    x, training = node.input(0), node.optional(2)
    ratio = node.optional(1)
    trained = training is not None and bool(node.array(2, "training_mode").reshape(()))
    if trained and (ratio is None or float(node.array(1, "ratio").reshape(())) != 0):
        node.refuse("dropout while training is random; the workbench's operators are functions")
    true = node.g.constant(np.ones((), bool), BOOL)
    return [x, *([expand(node.g, true, x.dims)] if node.outputs > 1 else [])]


def einsum(node: Node) -> Value:
    """A contraction in Einstein's notation."""
    return contractions.einsum(node.g, node("equation"), node.given())


WRITERS: dict[str, Writer] = {
    "BatchNormalization": batch_norm,
    "Dropout": dropout,
    "Einsum": einsum,
    "Gemm": gemm,
    "GroupNormalization": group_norm,
    "InstanceNormalization": instance_norm,
    "LRN": local_response,
    "LayerNormalization": layer_norm,
    "MatMul": lambda node: contractions.matmul(node.g, node.input(0), node.input(1)),
    "MatMulInteger": product_of_integers,
    "RMSNormalization": rms_norm,
}
