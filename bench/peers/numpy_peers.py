"""What one would write in NumPy.  `out=` where NumPy can give the result into an array without a copy.

Arguments are those of the operator, in its order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

try:
    from scipy.special import erf, expit
except ImportError:  # without SciPy two peers are missing
    erf = expit = None

Array = np.ndarray[Any, Any]


def matmul(A: Array, B: Array, *, out: Array | None = None) -> Array:
    return np.matmul(A, B, out=out)


batched_matmul = matmul


def tmm(A: Array, B: Array, *, out: Array | None = None) -> Array:
    return np.matmul(A, B.T, out=out)


def matmul_int8(A: Array, B: Array) -> Array:
    # The sums stay below 2**24, so float32 is exact, and NumPy multiplies floats a hundred times faster.
    return np.matmul(A.astype(np.float32), B.astype(np.float32)).astype(np.int32)


def trmm(L: Array, B: Array, *, out: Array | None = None) -> Array:
    return np.matmul(np.tril(L), B, out=out)


def covariance(X: Array) -> Array:
    return np.cov(X, rowvar=False, dtype=X.dtype)


def _padded(images: Array, pad: int, value: float = 0) -> Array:
    edge = ((0, 0), (0, 0), (pad, pad), (pad, pad))
    return np.pad(images, edge, constant_values=value) if pad else images


def _windows(images: Array, height: int, width: int, stride: int) -> Array:
    """(N, C, Y, X, height, width): a view."""
    return sliding_window_view(images, (height, width), (2, 3))[:, :, ::stride, ::stride]


def conv2d(images: Array, K: Array, stride: int, pad: int, dilation: int) -> Array:
    assert dilation == 1, "the suite has no dilated convolution"
    windows = _windows(_padded(images, pad), K.shape[2], K.shape[3], stride)
    count, channels, height, width = windows.shape[:4]
    columns = windows.transpose(0, 1, 4, 5, 2, 3).reshape(count, channels * K[0, 0].size, height * width)
    return np.matmul(K.reshape(len(K), -1), columns).reshape(count, len(K), height, width)


def conv_block(images: Array, K: Array, b: Array, s: Array) -> Array:
    result = conv2d(images, K, 1, 1, 1)
    result += b[:, None, None]
    result *= s[:, None, None]
    return np.maximum(result, 0, out=result)


def group_conv2d(images: Array, K: Array, B: Array) -> Array:
    windows = sliding_window_view(images, K.shape[3:], (3, 4))
    count, groups, _, height, width = windows.shape[:5]
    columns = windows.transpose(0, 1, 2, 5, 6, 3, 4).reshape(count, groups, -1, height * width)
    result = np.matmul(K.reshape(groups, K.shape[1], -1), columns)
    return result.reshape(count, groups, K.shape[1], height, width) + B[:, :, None, None]


def depthwise_conv2d(images: Array, K: Array, stride: int, pad: int) -> Array:
    windows = _windows(_padded(images, pad), K.shape[1], K.shape[2], stride)
    result = np.zeros(windows.shape[:4], images.dtype)
    for i in range(K.shape[1]):
        for j in range(K.shape[2]):
            result += windows[..., i, j] * K[:, i, j, None, None]
    return result


def mlp1(inputs: Array, W: Array, c: Array, *, out: Array | None = None) -> Array:
    result = np.matmul(inputs, W, out=out)
    result += c
    return np.maximum(result, 0, out=result)


def mlp3(inputs: Array, W1: Array, b1: Array, W2: Array, b2: Array, W3: Array, b3: Array) -> Array:
    return mlp1(mlp1(mlp1(inputs, W1.T, b1), W2.T, b2), W3.T, b3)


def _sigmoid(x: Array) -> Array:
    return expit(x) if expit else 1 / (1 + np.exp(-x))


def lstm_cell(X: Array, h: Array, c: Array, W: Array, U: Array, bias: Array) -> tuple[Array, Array]:
    size = h.shape[1]
    gates = X @ W.reshape(4 * size, -1).T + h @ U.reshape(4 * size, -1).T + bias.reshape(-1)
    i, f, g, o = np.split(gates, 4, axis=1)
    cell = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
    return _sigmoid(o) * np.tanh(cell), cell


def gru_cell(X: Array, h: Array, W: Array, U: Array, p: Array, q: Array) -> Array:
    size = h.shape[1]
    a = np.split(X @ W.reshape(3 * size, -1).T + p.reshape(-1), 3, axis=1)
    r = np.split(h @ U.reshape(3 * size, -1).T + q.reshape(-1), 3, axis=1)
    z = _sigmoid(a[1] + r[1])
    return (1 - z) * np.tanh(a[2] + _sigmoid(a[0] + r[0]) * r[2]) + z * h


def wavenet(
    X: Array, FW: Array, FB: Array, GW: Array, GB: Array, RW: Array, RB: Array, SW: Array, SB: Array, dilation: int
) -> tuple[Array, Array]:
    def dilated(W: Array, b: Array) -> Array:
        result = W[:, :, 1] @ X
        result[:, :, dilation:] += W[:, :, 0] @ X[:, :, :-dilation]
        return result + b[:, None]

    Z = np.tanh(dilated(FW, FB)) * _sigmoid(dilated(GW, GB))
    return RW @ Z + X + RB[:, None], SW @ Z + SB[:, None]


def attention(Q: Array, K: Array, V: Array, *, out: Array | None = None) -> Array:
    S = Q @ K.transpose(0, 2, 1)
    S *= np.float32(Q.shape[2] ** -0.5)
    return np.matmul(softmax(S, out=S), V, out=out)


def softmax(X: Array, *, out: Array | None = None) -> Array:
    result = np.subtract(X, X.max(axis=-1, keepdims=True), out=out)
    np.exp(result, out=result)
    result /= result.sum(axis=-1, keepdims=True)
    return result


def _normalised(X: Array, axes: tuple[int, ...], eps: float, out: Array | None = None) -> Array:
    result = np.subtract(X, X.mean(axis=axes, keepdims=True), out=out)
    result /= np.sqrt(np.square(result).mean(axis=axes, keepdims=True) + np.float32(eps))
    return result


def layer_norm(X: Array, gamma: Array, beta: Array, eps: float, *, out: Array | None = None) -> Array:
    result = _normalised(X, (1,), eps, out)
    result *= gamma
    result += beta
    return result


def group_norm(X: Array, gamma: Array, beta: Array, eps: float, *, out: Array | None = None) -> Array:
    result = _normalised(X, (2, 3, 4), eps, out)
    result *= gamma[:, :, None, None]
    result += beta[:, :, None, None]
    return result


def bias_relu(X: Array, b: Array, *, out: Array | None = None) -> Array:
    result = np.add(X, b, out=out)
    return np.maximum(result, 0, out=result)


def bias_gelu(X: Array, b: Array, *, out: Array | None = None) -> Array:
    if erf is None:
        raise NotImplementedError("SciPy is not installed")
    x = X + b
    result = erf(np.multiply(x, np.float32(0.5**0.5)), out=out)
    result += 1
    result *= x
    result *= np.float32(0.5)
    return result


def moments(table: Array) -> tuple[Array, Array]:
    mean = table.mean(axis=1)
    return mean, np.einsum("nk,nk->n", table, table) / np.float32(table.shape[1]) - mean * mean


def column_sum(A: Array, *, out: Array | None = None) -> Array:
    return np.sum(A, axis=0, out=out)


def argmax(A: Array) -> tuple[Array, Array]:
    places = A.argmax(axis=1)
    return np.take_along_axis(A, places[:, None], 1)[:, 0], places


def cumsum(X: Array, *, out: Array | None = None) -> Array:
    return np.cumsum(X, axis=1, out=out)


def transpose(A: Array, *, out: Array | None = None) -> Array:
    return _copied(A.T, out)


def channels_last(images: Array, *, out: Array | None = None) -> Array:
    return _copied(images.transpose(0, 2, 3, 1), out)


def _copied(view: Array, out: Array | None) -> Array:
    if out is None:
        return np.ascontiguousarray(view)
    np.copyto(out, view)
    return out


def embedding(table: Array, idx: Array, *, out: Array | None = None) -> Array:
    # With `out`, mode="raise" would go through a buffer.
    return np.take(table, idx, axis=0, out=out, mode="raise" if out is None else "clip")


def lookup(table: Array, places: Array, *, out: Array | None = None) -> Array:
    return table[places].sum(axis=1, out=out)


def jacobi_2d(X: Array, steps: int) -> Array:
    A = X.copy()
    for _ in range(steps):
        inner = A[1:-1, 1:-1] + A[:-2, 1:-1]
        inner += A[2:, 1:-1]
        inner += A[1:-1, :-2]
        inner += A[1:-1, 2:]
        inner *= np.float32(0.2)
        A[1:-1, 1:-1] = inner
    return A


def blur(image: Array, *, out: Array | None = None) -> Array:
    rows = image[:, :-2] + image[:, 1:-1]
    rows += image[:, 2:]
    result = np.add(rows[:-2], rows[1:-1], out=out)
    result += rows[2:]
    result *= np.float32(1 / 9)
    return result


def max_pool2d(images: Array, k: int, stride: int, pad: int) -> Array:
    windows = _windows(_padded(images, pad, -np.inf), k, k, stride)
    result = windows[..., 0, 0].copy()
    for n in range(1, k * k):
        np.maximum(result, windows[..., n // k, n % k], out=result)
    return result
