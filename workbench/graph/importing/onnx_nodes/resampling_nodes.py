"""Resampling of pictures."""

from __future__ import annotations

import numpy as np

from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.values import Array, Value
from workbench.graph.importing.written import movement, resampling
from workbench.graph.importing.written.elementwise import elementwise, literal
from workbench.graph.importing.written.resampling import MODES, Table, sample_coordinates
from workbench.graph.terms.dimensions import dimension
from workbench.lang.dtypes import BOOL

ROUNDINGS = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def resize(node: Node) -> Value:
    """A picture in another size, axis by axis."""
    x = node.input(0)
    axes = [axis % x.rank for axis in node("axes", list(range(x.rank)))]
    mode = node("coordinate_transformation_mode", "half_pixel")
    if mode not in MODES:
        node.refuse(f"coordinate_transformation_mode {mode!r}; known: {', '.join(MODES)}")
    scales, counts = _sizes(node, x, axes)
    regions = _regions(node, axes, mode)
    outside: list[tuple[int, Array]] = []
    for axis, scale, count in zip(axes, scales, counts, strict=True):
        extent = x.dims[axis].constant
        if scale == 1 and count == extent and mode != "tf_crop_and_resize":
            continue
        if extent is None:
            if scale == 1:
                continue
            node.refuse(f"the size of axis {axis} varies, and it is resized by {scale}")
        at = sample_coordinates(mode, extent, count, scale, regions[axis])
        x = resampling.resampled(node.g, x, axis, _table(node, at, extent, scale))
        if mode == "tf_crop_and_resize":
            outside.append((axis, (at < 0) | (at > extent - 1)))
    for axis, mask in outside:
        if mask.any():
            dims = [dimension(1)] * x.rank
            dims[axis] = dimension(len(mask))
            chosen = movement.reshape(node.g, node.g.constant(mask, BOOL), tuple(dims))
            fill = literal(node("extrapolation_value", 0.0), x.element)
            x = elementwise(node.g, "fill_outside", f"b ? {fill} : a", x, chosen)
    return x


def _sizes(node: Node, x: Value, axes: list[int]) -> tuple[list[float], list[int]]:
    """The scale and the size of each axis that is resized."""
    given = node.optional(2)
    if given is not None and given.shape != (0,):
        scales = [float(each) for each in node.array(2, "scales")]
        counts = [int(np.floor((x.dims[axis].constant or 0) * s)) for axis, s in zip(axes, scales, strict=True)]
        return scales, counts
    wanted = node.integers(3, "sizes")
    extents = [x.dims[axis].constant for axis in axes]
    if None in extents:
        node.refuse("it gives sizes, where those of its input vary")
    scales = [float(np.float32(w) / np.float32(e)) if False else w / e for w, e in zip(wanted, extents, strict=True)]  # type: ignore[operator]
    policy = node("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        scale = min(scales) if policy == "not_larger" else max(scales)
        scales = [scale] * len(scales)
        wanted = [int(np.floor(scale * e + 0.5)) for e in extents]  # type: ignore[operator]
    return scales, wanted


def _regions(node: Node, axes: list[int], mode: str) -> dict[int, tuple[float, float]]:
    if mode != "tf_crop_and_resize":
        return dict.fromkeys(axes, (0.0, 1.0))
    roi = [float(each) for each in node.array(1, "region")]
    half = len(roi) // 2
    return {axis: (roi[at], roi[at + half]) for at, axis in enumerate(axes)}


def _table(node: Node, at: Array, extent: int, scale: float) -> Table:
    mode, exclude = node("mode", "nearest"), bool(node("exclude_outside", 0))
    narrow = min(scale, 1.0) if node("antialias", 0) else 1.0
    if mode == "nearest":
        return resampling.nearest(at, extent, ROUNDINGS[node("nearest_mode", "round_prefer_floor")])
    if mode == "linear":
        return resampling.kernel_table(at, extent, resampling.linear, 1, narrow, exclude=exclude)
    if mode == "cubic":
        kernel = resampling.cubic(node("cubic_coeff_a", -0.75))
        return resampling.kernel_table(at, extent, kernel, 2, narrow, exclude=exclude)
    node.refuse(f"mode {mode!r}; known: nearest, linear, cubic")


def upsample(node: Node) -> Value:
    """The early form of Resize."""
    as_resize = Node(
        "Resize", node.place, [node.input(0), None, node.optional(1)],
        {"mode": node("mode", "nearest"), "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        node.opset, node.g,
    )  # fmt: skip
    return resize(as_resize)


WRITERS: dict[str, Writer] = {"Resize": resize, "Upsample": upsample}
