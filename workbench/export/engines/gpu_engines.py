"""The engines `cublas` and `cudnn`: products and convolutions by NVIDIA's libraries, through PyTorch, on a GPU.

Arrays go to the GPU and back at the border of a region; constants stay there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn import functional

from workbench.export.engines.torch_engine import compiled, on_device, takes
from workbench.graph.engines.engine_records import Answer, engine
from workbench.graph.engines.patterns import is_like
from workbench.graph.engines.sites import Site
from workbench.graph.engines.subgraphs import Step, Subgraph
from workbench.lang.expr import Binary, Expr, children
from workbench.lang.operator import Operator
from workbench.ops import load

FLOATS = ("float16", "float32", "float64")
VERSION = f"1, torch {torch.__version__}, cuda {torch.version.cuda}"
NO_GPU = "PyTorch finds no NVIDIA GPU here"

Convolution = Callable[..., torch.Tensor]

# An operator of the library → the same by PyTorch: of its arrays, then of its scalars in order.
CONVOLUTIONS: dict[str, Convolution] = {
    "conv1d": lambda x, w, stride, pad, dilation: functional.conv1d(x, w, None, stride, pad, dilation),
    "conv2d": lambda x, w, stride, pad, dilation: functional.conv2d(x, w, None, stride, pad, dilation),
    "conv2d_bias": functional.conv2d,
    "conv3d": functional.conv3d,
    "depthwise_conv2d": lambda x, w, stride, pad: functional.conv2d(
        x, w[:, None], None, stride, pad, groups=len(w)
    ),
    "conv_transpose2d": lambda x, w, stride, pad: functional.conv_transpose2d(x, w, None, stride, pad),
}  # fmt: skip


def device() -> str | None:
    """Where regions are computed; None where there is no GPU."""
    return "cuda" if torch.cuda.is_available() else None


def _products(site: Site) -> Answer:
    if device() is None:
        return NO_GPU
    answer = takes(site)
    return answer if answer is not True else _sums_products(site.operator) or "it has no sum of products for cuBLAS"


def _sums_products(op: Operator) -> bool:
    return any(
        statement.reduction == "+" and any(isinstance(each, Binary) and each.op == "*" for each in _inside(value))
        for statement in op.statements()
        for value in statement.values
    )


def _inside(expr: Expr) -> Iterator[Expr]:
    """An expression and all its parts."""
    yield expr
    for each in children(expr):
        yield from _inside(each)


@engine("cublas", supports=_products, version=VERSION)
def cublas(region: Subgraph) -> Callable[..., Any]:
    """Sums of products as `einsum`, which calls cuBLAS, and what stands beside them in a definition."""
    return compiled(region, _there())


def _convolutions(site: Site) -> Answer:
    if device() is None:
        return NO_GPU
    if others := [each for each in site.dtypes if each not in FLOATS]:
        return f"cuDNN convolves {', '.join(FLOATS)}, not {others[0]}"
    return _convolution(site) is not None or "no convolution of the library is defined like it"


def _convolution(site: Site) -> Convolution | None:
    """PyTorch's function for a call of what is defined as a convolution of the library is."""
    return next((made for name, made in CONVOLUTIONS.items() if is_like(site, load(name))), None)


@engine("cudnn", supports=_convolutions, version=VERSION)
def cudnn(region: Subgraph) -> Callable[..., Any]:
    """Convolutions one after another, by cuDNN, in full precision."""
    place = _there()
    constants = {number: on_device(each, place) for number, each in region.constants.items()}
    steps = [(step, _made(step)) for step in region.steps]

    def run(*arrays: Any) -> tuple[Any, ...]:
        given = [on_device(each, place) for each in arrays]
        values = {**constants, **dict(zip(region.inputs, given, strict=True))}
        with torch.inference_mode(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            for step, convolve in steps:
                values[step.results[0]] = convolve(*(values[each] for each in step.arguments))
        return tuple(values[each].cpu().numpy() for each in region.results)

    return run


def _made(step: Step) -> Convolution:
    convolution = _convolution(step.site)
    assert convolution is not None  # `supports` said so
    scalars = [step.sizes[name] for name in step.operator.scalars]
    return lambda *tensors: convolution(*tensors, *scalars)


def _there() -> str:
    place = device()
    if place is None:
        raise RuntimeError(NO_GPU)
    return place
