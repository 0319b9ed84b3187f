"""Calls that PyTorch has one function for: convolutions, pooling, layers, as far as their definitions show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

from workbench.graph.engines.arrays.layers import Layer, is_reshape, layer_of
from workbench.graph.engines.arrays.windows import Window, window_of
from workbench.graph.engines.sites import Site

Run = Callable[..., torch.Tensor]
CONVOLUTIONS: dict[int, Run] = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
POOLS: dict[int, Run] = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
# Its exact gelu of infinity is no number, so that one is computed as it is written.
LAYERS: dict[str, Run] = {
    "relu": torch.relu,
    "gelu tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
}


def torch_function(site: Site) -> Run | None:
    """PyTorch's function of a call's arguments; None where it has none that is known to be the same."""
    if not all(each.is_concrete for each in (*site.arguments, *site.results)):
        return None
    layer = layer_of(site)
    if layer is not None:
        return _layer(layer)
    if site.dtypes in (("float32",), ("float64",)) and is_reshape(site):
        return lambda x: x.reshape(site.results[0].shape)
    window = window_of(site)
    return None if window is None else _largest(window) if window.is_largest else _convolution(window)


def _layer(layer: Layer) -> Run | None:
    if layer.kind != "layer_norm":
        return LAYERS.get(layer.kind)
    return lambda x, scale, bias: functional.layer_norm(x, x.shape[-1:], scale, bias, layer.epsilon)


def _convolution(of: Window) -> Run | None:
    convolve = CONVOLUTIONS.get(len(of.extents))
    if convolve is None:
        return None
    around = _around(of)

    def run(*arguments: torch.Tensor) -> torch.Tensor:
        x, weights, *bias = (arguments[at] for at in of.operands)
        x = functional.pad(x, around) if around else x
        padding = 0 if around else of.before
        return convolve(x, weights, *(bias or [None]), of.strides, padding, of.dilations, of.groups)

    return run


def _largest(of: Window) -> Run | None:
    pool = POOLS.get(len(of.extents))
    halves = [2 * low <= extent for low, extent in zip(of.before, of.extents, strict=True)]
    if pool is None:
        return None
    around = _around(of) if all(halves) else _pairs(of)

    def run(*arguments: torch.Tensor) -> torch.Tensor:
        x = arguments[of.operands[0]]
        x = functional.pad(x, around, value=-float("inf")) if around else x
        return pool(x, of.extents, of.strides, 0 if around else of.before, of.dilations)

    return run


def _around(of: Window) -> Sequence[int]:
    """What has to be put around first: nothing where both sides have the same."""
    return [] if of.before == of.after else _pairs(of)


def _pairs(of: Window) -> list[int]:
    sides: list[Any] = list(zip(of.before, of.after, strict=True))
    return [each for both in reversed(sides) for each in both]
