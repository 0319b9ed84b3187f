"""Resampling along axes: each element of the result is a weighted sum of a few elements, by tables of places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Array, Value
from workbench.graph.importing.written.elementwise import axis_index, axis_size
from workbench.graph.importing.written.reductions import cell, working
from workbench.lang.dtypes import INT32
from workbench.records import record


@record(slots=True, eq=False)
class Table:
    """For every element of the result along an axis: places [out, taps] and weights [out, taps] of what it is made of.

    `outside` says where the result has no place in the input at all.
    """

    places: Array
    weights: Array
    outside: Array


MODES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
)


def sample_coordinates(mode: str, extent: int, count: int, scale: float, region: tuple[float, float]) -> Array:
    """Where the elements of the result lie in the input, along an axis."""
    x = np.arange(count, dtype=np.float64)
    exact = scale * extent
    match mode:
        case "half_pixel":
            return (x + 0.5) / scale - 0.5
        case "half_pixel_symmetric":
            return extent / 2 * (1 - count / exact) + (x + 0.5) / scale - 0.5
        case "pytorch_half_pixel":
            return (x + 0.5) / scale - 0.5 if exact != 1 else np.full(count, -0.5)
        case "align_corners":
            return x * (extent - 1) / (exact - 1) if exact != 1 else np.zeros(count)
        case "asymmetric":
            return x / scale
        case _:
            start, end = region
            if exact == 1:
                return np.full(count, 0.5 * (start + end) * (extent - 1))
            return start * (extent - 1) + x * (end - start) * (extent - 1) / (exact - 1)


def linear(distance: Array) -> Array:
    """The triangle."""
    return np.clip(1 - np.abs(distance), 0, None)


def cubic(a: float) -> Callable[[Array], Array]:
    """Keys' cubic convolution (1981)."""

    def kernel(distance: Array) -> Array:
        x = np.abs(distance)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))

    return kernel


def kernel_table(
    coordinates: Array, extent: int, kernel: Callable[[Array], Array], reach: int, scale: float, *, exclude: bool
) -> Table:
    """The table of a kernel around coordinates; `scale` < 1 widens it, `exclude` drops what is beyond the border."""
    wide = int(np.ceil(reach / scale))
    offsets = np.arange(-wide + 1, wide + 1)
    places = np.floor(coordinates)[:, None].astype(np.int64) + offsets[None, :]
    weights = kernel((places - coordinates[:, None]) * scale)
    if exclude:
        weights = np.where((places < 0) | (places >= extent), 0.0, weights)
    if exclude or scale < 1:
        weights = weights / weights.sum(axis=1, keepdims=True)
    used = np.any(weights != 0, axis=0)
    used[np.argmax(used)] = True
    return Table(np.clip(places[:, used], 0, extent - 1), weights[:, used], np.zeros(len(coordinates), bool))


def nearest(coordinates: Array, extent: int, rounding: Callable[[Array], Array]) -> Table:
    """The table of nearest neighbours."""
    places = np.clip(rounding(coordinates).astype(np.int64), 0, extent - 1)[:, None]
    return Table(places, np.ones(places.shape), np.zeros(len(coordinates), bool))


def resampled(g: Emitter, x: Value, axis: int, by: Table) -> Value:
    """A tensor resampled along one axis."""
    at, own = [axis_index(a) for a in range(x.rank)], [axis_size(a) for a in range(x.rank)]
    count = len(by.places)
    out = [*own]
    out[axis] = "N"
    places = g.constant(by.places.astype(np.int32), INT32)
    within = working(x.element)
    read = [*at]
    if by.places.shape[1] == 1 and np.all(by.weights == 1):
        step = by.places[1, 0] if count > 1 else 0
        del step
        places = g.constant(by.places[:, 0].astype(np.int32), INT32)
        read[axis] = f"p({at[axis]})"
        body = f"{cell('y', at)} = {cell('x', read)}"
        return g.define("pick", [("x", x, own), ("p", places, ["N"])], [("y", x.element, out)], body)
    weights = g.constant(by.weights.astype(within.numpy), within)
    read[axis] = f"p({at[axis]},k)"
    value = cell("x", read)
    product = f"w({at[axis]},k) * {value if within == x.element else f'{within.name}({value})'}"
    body = f"{cell('t', at)} +=! {product}\n{cell('y', at)} = {x.element.name}({cell('t', at)})"
    if within == x.element:
        body = f"{cell('y', at)} +=! {product}"
    inputs = [("x", x, own), ("p", places, ["N", "K"]), ("w", weights, ["N", "K"])]
    return g.define("resample", inputs, [("y", x.element, out)], body)
