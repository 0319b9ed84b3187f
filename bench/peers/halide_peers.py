"""The operators as Halide algorithms, scheduled by the Adams2019 autoscheduler, compiled for this processor.

A function gets the inputs (numbers as they are; `a.shape` is NumPy's) and returns the result with its NumPy shape.
Halide counts dims from the innermost: the cell A(m, k) is `A[k, m]`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import halide as hl
import numpy as np

SCHEDULER = "Adams2019"
# The usual beam of 32 takes minutes and gigabytes for a convolution.
BEAM = 4
a, b, x, y = (hl.Var(name) for name in "abxy")


@dataclass
class Input:
    """An image parameter with the array behind it, which Halide does not keep alive."""

    image: Any
    array: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """NumPy's."""
        return self.array.shape

    def __getitem__(self, place: Any) -> Any:
        return self.image[place]


def prepare(name: str, arguments: list[Any], threads: int) -> tuple[Any, Any, str]:
    """(what to call, how to see its results, what it is)."""
    os.environ["HL_NUM_THREADS"] = str(threads)
    inputs = [_input(n, v) if isinstance(v, np.ndarray) else v for n, v in enumerate(arguments)]
    made = globals()[name](*inputs)
    outputs = made if isinstance(made, list) else [made]
    for function, shape in outputs:
        function.set_estimates([(0, size) for size in reversed(shape)])
    pipeline = hl.Pipeline([function for function, _ in outputs])
    target = hl.get_host_target()
    _load()
    pipeline.apply_autoscheduler(target, hl.AutoschedulerParams(SCHEDULER, {"parallelism": threads, "beam_size": BEAM}))
    pipeline.compile_jit(target)
    kinds = [np.dtype(np.int32 if f.type().is_int() else np.float32) for f, _ in outputs]
    about = f"halide {version('halide')}, {SCHEDULER} with a beam of {BEAM}, {target}"
    return _call(pipeline, [s for _, s in outputs], kinds, inputs), list, about


def _load() -> None:
    folder = Path(hl.__file__).parent
    hl.load_plugin(str(next(folder.rglob(f"*autoschedule_{SCHEDULER.lower()}*"))))


def _input(number: int, array: Any) -> Input:
    image = hl.ImageParam(_kind(array.dtype), array.ndim, f"in{number}")
    array = np.ascontiguousarray(array)
    image.set(hl.Buffer(array))
    image.set_estimates([(0, size) for size in reversed(array.shape)])
    return Input(image, array)


def _kind(dtype: Any) -> Any:
    return (hl.Float if dtype.kind == "f" else hl.UInt if dtype.kind == "u" else hl.Int)(8 * dtype.itemsize)


def _call(pipeline: Any, shapes: list[tuple[int, ...]], kinds: list[Any], inputs: list[Any]) -> Callable[[], list[Any]]:
    def call(_alive: Any = inputs) -> list[Any]:
        results = [np.empty(shape, kind) for shape, kind in zip(shapes, kinds, strict=True)]
        buffers = [hl.Buffer(result) for result in results]
        pipeline.realize(buffers if len(buffers) > 1 else buffers[0])
        return results

    return call


def _sum(name: str, place: list[Any], term: Any) -> Any:
    """A sum in a stage of its own, which starts at zero."""
    found = hl.Func(name)
    found[place] = hl.f32(0)
    found[place] += term
    return found


def _stage(name: str, place: list[Any], value: Any) -> Any:
    found = hl.Func(name)
    found[place] = value
    return found


def matmul(A: Input, B: Input) -> Any:
    k = hl.RDom([(0, A.shape[1])])
    product = _sum("product", [x, y], A[k, y] * B[x, k])
    return _stage("C", [x, y], product[x, y]), (A.shape[0], B.shape[1])


def tmm(A: Input, B: Input) -> Any:
    k = hl.RDom([(0, A.shape[1])])
    product = _sum("product", [x, y], A[k, y] * B[k, x])
    return _stage("C", [x, y], product[x, y]), (A.shape[0], B.shape[0])


def batched_matmul(X: Input, Y: Input) -> Any:
    k = hl.RDom([(0, X.shape[2])])
    product = _sum("product", [x, y, b], X[k, y, b] * Y[x, k, b])
    return _stage("Z", [x, y, b], product[x, y, b]), (X.shape[0], X.shape[1], Y.shape[2])


def matvec(A: Input, v: Input) -> Any:
    k = hl.RDom([(0, A.shape[1])])
    return _stage("y", [x], _sum("product", [x], A[k, x] * v[k])[x]), (A.shape[0],)


def _bordered(images: Input, pad: int) -> Any:
    """The pictures with zeros around them."""
    height, width = images.shape[2:]
    ranges = [(0, width), (0, height), (hl.Expr(), hl.Expr()), (hl.Expr(), hl.Expr())]
    return hl.BoundaryConditions.constant_exterior(images.image, 0.0, ranges) if pad else images


def _convolved(images: Input, K: Input, stride: int, pad: int, dilation: int) -> tuple[Any, tuple[int, ...]]:
    inside = _bordered(images, pad)
    r = hl.RDom([(0, K.shape[3]), (0, K.shape[2]), (0, K.shape[1])])
    place = stride * x + dilation * r.x - pad, stride * y + dilation * r.y - pad
    found = _sum("convolved", [x, y, a, b], inside[place[0], place[1], r.z, b] * K[r.x, r.y, r.z, a])
    sizes = [
        (n + 2 * pad - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(images.shape[2:], K.shape[2:], strict=True)
    ]
    return found, (images.shape[0], K.shape[0], *sizes)


def conv2d(images: Input, K: Input, stride: int, pad: int, dilation: int) -> Any:
    found, shape = _convolved(images, K, stride, pad, dilation)
    return _stage("O", [x, y, a, b], found[x, y, a, b]), shape


def conv_block(images: Input, K: Input, bias: Input, s: Input) -> Any:
    found, shape = _convolved(images, K, 1, 1, 1)
    return _stage("O", [x, y, a, b], hl.max((found[x, y, a, b] + bias[a]) * s[a], 0.0)), shape


def depthwise_conv2d(images: Input, K: Input, stride: int, pad: int) -> Any:
    inside = _bordered(images, pad)
    r = hl.RDom([(0, K.shape[2]), (0, K.shape[1])])
    term = inside[stride * x + r.x - pad, stride * y + r.y - pad, a, b] * K[r.x, r.y, a]
    sizes = [(n + 2 * pad - k) // stride + 1 for n, k in zip(images.shape[2:], K.shape[1:], strict=True)]
    found = _sum("convolved", [x, y, a, b], term)
    return _stage("O", [x, y, a, b], found[x, y, a, b]), (*images.shape[:2], *sizes)


def mlp1(inputs: Input, W: Input, c: Input) -> Any:
    k = hl.RDom([(0, W.shape[0])])
    product = _sum("product", [x, y], inputs[k, y] * W[x, k])
    return _stage("O", [x, y], hl.max(product[x, y] + c[x], 0.0)), (inputs.shape[0], W.shape[1])


def softmax(X: Input) -> Any:
    k = hl.RDom([(0, X.shape[1])])
    top = hl.Func("top")
    top[y] = hl.f32(-np.inf)
    top[y] = hl.max(top[y], X[k, y])
    power = _stage("power", [x, y], hl.exp(X[x, y] - top[y]))
    total = _sum("total", [y], power[k, y])
    return _stage("Y", [x, y], power[x, y] / total[y]), X.shape


def layer_norm(X: Input, gamma: Input, beta: Input, eps: float) -> Any:
    count = X.shape[1]
    k = hl.RDom([(0, count)])
    mean = _stage("mean", [y], _sum("sum", [y], X[k, y])[y] / count)
    squares = _sum("squares", [y], (X[k, y] - mean[y]) * (X[k, y] - mean[y]))
    scale = _stage("scale", [y], 1.0 / hl.sqrt(squares[y] / count + hl.f32(float(eps))))
    return _stage("Y", [x, y], (X[x, y] - mean[y]) * scale[y] * gamma[x] + beta[x]), X.shape


def bias_relu(X: Input, bias: Input) -> Any:
    return _stage("Y", [x, y], hl.max(X[x, y] + bias[x], 0.0)), X.shape


def column_sum(A: Input) -> Any:
    k = hl.RDom([(0, A.shape[0])])
    return _stage("s", [x], _sum("sum", [x], A[x, k])[x]), (A.shape[1],)


def transpose(A: Input) -> Any:
    return _stage("B", [x, y], A[y, x]), A.shape[::-1]


def channels_last(images: Input) -> Any:
    count, channels, height, width = images.shape
    return _stage("O", [a, x, y, b], images[x, y, a, b]), (count, height, width, channels)


def blur(image: Input) -> Any:
    rows = _stage("rows", [x, y], (image[x, y] + image[x + 1, y] + image[x + 2, y]) / 3.0)
    both = _stage("both", [x, y], (rows[x, y] + rows[x, y + 1] + rows[x, y + 2]) / 3.0)
    return both, (image.shape[0] - 2, image.shape[1] - 2)
