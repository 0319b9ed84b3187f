"""Nodes that put elements elsewhere."""

from __future__ import annotations

import numpy as np

from workbench.graph.importing.dimension_arithmetic import bounds, quotient
from workbench.graph.importing.onnx_nodes.node import Node, Writer, scalar_of
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import movement
from workbench.graph.importing.written.elementwise import axis_index, axis_size, broadcast, expand
from workbench.graph.importing.written.lookups import triangular_part
from workbench.graph.importing.written.movement import product
from workbench.graph.terms.dimensions import dimension


def reshape(node: Node) -> Value:
    """The same elements in other dimensions."""
    value = node.input(0)
    return movement.reshape(
        node.g, value, movement.resolved_shape(value, node.dims(1, "shape"), zero_copies=not node("allowzero", 0))
    )


def flatten(node: Node) -> Value:
    """A matrix: the axes before one, and those from it on."""
    value = node.input(0)
    axis = node("axis", 1)
    axis = axis + value.rank if axis < 0 else axis
    return movement.reshape(node.g, value, (product(value.dims[:axis]), product(value.dims[axis:])))


def squeeze(node: Node) -> Value:
    """Axes of size 1 left out."""
    value = node.input(0)
    return movement.reshape(node.g, value, movement.squeezed(value, node.axes("axes", 1)))


def unsqueeze(node: Node) -> Value:
    """Axes of size 1 put in."""
    value = node.input(0)
    return movement.reshape(node.g, value, movement.unsqueezed(value, node.axes("axes", 1) or []))


def transpose(node: Node) -> Value:
    """The axes in another order, the opposite one by default."""
    value = node.input(0)
    return movement.transpose(node.g, value, node("perm", list(range(value.rank))[::-1]))


def expanded(node: Node) -> Value:
    """Axes of size 1 repeated, by the rules of broadcasting."""
    value, dims = node.input(0), node.dims(1, "shape")
    together = broadcast([value.dims, dims])
    return expand(node.g, value, together)


def concat(node: Node) -> Value:
    """Tensors one after another; those without elements do not count."""
    values = [value for value in node.given()]
    axis = node("axis") % values[0].rank
    if len(values) > 1 and any(0 not in value.shape for value in values):
        values = [value for value in values if value.shape[axis] != 0 or None in value.shape] or values[:1]
    return movement.concatenated(node.g, values, axis)


def split(node: Node) -> list[Value]:
    """Parts along an axis: of given sizes, or as equal as can be."""
    value = node.input(0)
    axis = node("axis", 0) % value.rank
    whole = value.dims[axis]
    if node.optional(1) is not None:
        parts = list(node.dims(1, "split"))
    elif "split" in node.attributes:
        parts = [dimension(each) for each in node("split")]
    else:
        count = node("num_outputs", node.outputs)
        if whole.constant is None:
            each = quotient(whole + (count - 1), dimension(count))
            parts = [each] * (count - 1) + [whole - each * (count - 1)]
        else:
            each_size = -(-whole.constant // count)
            parts = [dimension(max(0, min(each_size, whole.constant - at * each_size))) for at in range(count)]
    found, start = [], dimension(0)
    for part in parts:
        found.append(movement.sliced(node.g, value, axis, start, part, 1))
        start = start + part
    return found


def cut(node: Node) -> Value:
    """Slices as NumPy has them."""
    value = node.input(0)
    starts, ends = node.dims(1, "starts"), node.dims(2, "ends")
    axes = node.integers(3, "axes") if node.optional(3) is not None else range(len(starts))
    steps = node.integers(4, "steps") if node.optional(4) is not None else [1] * len(starts)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        first, number = bounds(value.dims[axis], start, end, step)
        value = movement.sliced(node.g, value, axis % value.rank, first, number, step)
    return value


def pad(node: Node) -> Value:
    """A border around."""
    value = node.input(0)
    pads = node.integers(1, "pads")
    axes = (
        [axis % value.rank for axis in node.integers(3, "axes")] if node.optional(3) is not None else range(value.rank)
    )
    before, after = [0] * value.rank, [0] * value.rank
    for at, axis in enumerate(axes):
        before[axis], after[axis] = pads[at], pads[at + len(pads) // 2]
    mode, fill = node("mode", "constant"), node.optional(2)
    if mode not in ("constant", *movement.BORDER):
        node.refuse(f"mode {mode!r}; known: constant, {', '.join(movement.BORDER)}")
    number = scalar_of(fill) if fill is not None else 0
    return movement.padded_tensor(
        node.g, value, before, after, mode=mode,
        fill=number if number is not None else movement.reshape(node.g, node.input(2), ()),
    )  # fmt: skip


def tile(node: Node) -> Value:
    """The whole tensor repeated."""
    return movement.repeated(node.g, node.input(0), node.dims(1, "repeats"))


def trilu(node: Node) -> Value:
    """The upper or lower triangle."""
    offset = node.optional(1)
    shift: Value | int = 0
    if offset is not None:
        number = scalar_of(offset)
        if number is None:
            node.unknown(1, "diagonal")
        shift = int(np.clip(number, -(1 << 30), 1 << 30))
    return triangular_part(node.g, node.input(0), shift, upper=bool(node("upper", 1)))


def reverse_sequence(node: Node) -> Value:
    """The first elements of each sequence turned round, as many as its length says."""
    value, lengths = node.input(0), node.input(1)
    batch, time = node("batch_axis", 1), node("time_axis", 0)
    at, sizes = [axis_index(a) for a in range(value.rank)], [axis_size(a) for a in range(value.rank)]
    read, length = [*at], f"n({at[batch]})"
    read[time] = f"p({at[batch]},{at[time]})"
    ranges = f"{at[batch]} in 0:{sizes[batch]}, {at[time]} in 0:{sizes[time]}"
    turned = f"{at[time]} < {length} ? {length} - 1 - {at[time]} : int64({at[time]})"
    body = f"p({at[batch]},{at[time]}) = {turned} where {ranges}\ny({','.join(at)}) = x({','.join(read)})"
    inputs = [("x", value, sizes), ("n", lengths, [sizes[batch]])]
    return node.g.define("reverse_sequence", inputs, [("y", value.element, sizes)], body)


def depth_to_space(node: Node) -> Value:
    """Blocks of channels become blocks of the picture."""
    b = node("blocksize")
    x = node.input(0)
    n, c, h, w = x.dims
    inner = quotient(c, dimension(b * b))
    if node("mode", "DCR") == "DCR":
        parts, order = (n, dimension(b), dimension(b), inner, h, w), [0, 3, 4, 1, 5, 2]
    else:
        parts, order = (n, inner, dimension(b), dimension(b), h, w), [0, 1, 4, 2, 5, 3]
    moved = movement.transpose(node.g, movement.reshape(node.g, x, parts), order)
    return movement.reshape(node.g, moved, (n, inner, h * b, w * b))


def space_to_depth(node: Node) -> Value:
    """Blocks of the picture become channels; in mode CRD those of one channel stay together."""
    b = node("blocksize")
    x = node.input(0)
    n, c, h, w = x.dims
    parts = (n, c, quotient(h, dimension(b)), dimension(b), quotient(w, dimension(b)), dimension(b))
    moved = movement.transpose(
        node.g,
        movement.reshape(node.g, x, parts),
        [0, 3, 5, 1, 2, 4] if node("mode", "DCR") == "DCR" else [0, 1, 3, 5, 2, 4],
    )
    return movement.reshape(node.g, moved, (n, c * (b * b), parts[2], parts[4]))


def center_crop_pad(node: Node) -> Value:
    """The middle of each axis, cut or with zeros around."""
    value = node.input(0)
    wanted = node.integers(1, "shape")
    axes = [axis % value.rank for axis in node("axes", list(range(value.rank)))]
    before, after = [0] * value.rank, [0] * value.rank
    for axis, to in zip(axes, wanted, strict=True):
        have = value.dims[axis].constant
        if have is None:
            node.refuse(f"the size of axis {axis} varies")
        if to < have:
            value = movement.sliced(node.g, value, axis, dimension((have - to) // 2), dimension(to), 1)
        else:
            before[axis] = (to - have) // 2
            after[axis] = to - have - before[axis]
    return movement.padded_tensor(node.g, value, before, after)


WRITERS: dict[str, Writer] = {
    "CenterCropPad": center_crop_pad,
    "Concat": concat,
    "DepthToSpace": depth_to_space,
    "Expand": expanded,
    "Flatten": flatten,
    "Pad": pad,
    "Reshape": reshape,
    "ReverseSequence": reverse_sequence,
    "Slice": cut,
    "SpaceToDepth": space_to_depth,
    "Split": split,
    "Squeeze": squeeze,
    "Tile": tile,
    "Transpose": transpose,
    "Trilu": trilu,
    "Unsqueeze": unsqueeze,
}
