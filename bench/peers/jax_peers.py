"""What one would write in JAX, under `jax.jit`.  Arguments are those of the operator, in its order."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def prepare(name: str, arguments: list[Any], threads: int) -> tuple[Any, Any, str]:
    """(what to call, how to see its results, what it is)."""
    static = tuple(n for n, a in enumerate(arguments) if not isinstance(a, np.ndarray))
    function = jax.jit(globals()[name], static_argnums=static)
    ready = [a if n in static else jnp.asarray(a) for n, a in enumerate(arguments)]
    call = partial(_waited, function, ready)
    return call, _arrays, f"jax {jax.__version__}, {name}, XLA_FLAGS={os.environ.get('XLA_FLAGS', '')}"


def _waited(function: Any, arguments: list[Any]) -> Any:
    return jax.block_until_ready(function(*arguments))


def _arrays(result: Any) -> list[Any]:
    return [np.asarray(r) for r in (result if isinstance(result, tuple) else (result,))]


def matmul(A: Any, B: Any) -> Any:
    return A @ B


def tmm(A: Any, B: Any) -> Any:
    return A @ B.T


def batched_matmul(X: Any, Y: Any) -> Any:
    return X @ Y


def matvec(A: Any, x: Any) -> Any:
    return A @ x


def matmul_int8(A: Any, B: Any) -> Any:
    return lax.dot(A, B, preferred_element_type=jnp.int32)


def trmm(L: Any, B: Any) -> Any:
    return jnp.tril(L) @ B


def covariance(X: Any) -> Any:
    return jnp.cov(X.T)


def conv2d(images: Any, K: Any, stride: int, pad: int, dilation: int) -> Any:
    return lax.conv_general_dilated(images, K, (stride,) * 2, ((pad, pad),) * 2, rhs_dilation=(dilation,) * 2)


def conv_block(images: Any, K: Any, b: Any, s: Any) -> Any:
    planes = lax.conv_general_dilated(images, K, (1, 1), ((1, 1), (1, 1)))
    return jax.nn.relu((planes + b[:, None, None]) * s[:, None, None])


def group_conv2d(images: Any, K: Any, B: Any) -> Any:
    count, groups, channels, height, width = images.shape
    planes = images.reshape(count, groups * channels, height, width)
    flat = K.reshape(groups * K.shape[1], *K.shape[2:])
    result = lax.conv_general_dilated(planes, flat, (1, 1), "VALID", feature_group_count=groups)
    result = result + B.reshape(-1)[:, None, None]
    return result.reshape(count, groups, K.shape[1], *result.shape[2:])


def depthwise_conv2d(images: Any, K: Any, stride: int, pad: int) -> Any:
    each = ((pad, pad),) * 2
    return lax.conv_general_dilated(images, K[:, None], (stride,) * 2, each, feature_group_count=len(K))


def mlp1(inputs: Any, W: Any, c: Any) -> Any:
    return jax.nn.relu(inputs @ W + c)


def mlp3(inputs: Any, W1: Any, b1: Any, W2: Any, b2: Any, W3: Any, b3: Any) -> Any:
    first = jax.nn.relu(inputs @ W1.T + b1)
    return jax.nn.relu(jax.nn.relu(first @ W2.T + b2) @ W3.T + b3)


def lstm_cell(X: Any, h: Any, c: Any, W: Any, U: Any, bias: Any) -> tuple[Any, Any]:
    gates = X @ W.reshape(-1, W.shape[-1]).T + h @ U.reshape(-1, U.shape[-1]).T + bias.reshape(-1)
    i, f, g, o = jnp.split(gates, 4, axis=1)
    state = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(state), state


def attention(Q: Any, K: Any, V: Any) -> Any:
    scores = Q @ jnp.swapaxes(K, 1, 2) / np.sqrt(Q.shape[2]).astype(np.float32)
    return jax.nn.softmax(scores, axis=2) @ V


def softmax(X: Any) -> Any:
    return jax.nn.softmax(X, axis=1)


def layer_norm(X: Any, gamma: Any, beta: Any, eps: float) -> Any:
    mean, variance = X.mean(1, keepdims=True), X.var(1, keepdims=True)
    return (X - mean) * lax.rsqrt(variance + eps) * gamma + beta


def group_norm(X: Any, gamma: Any, beta: Any, eps: float) -> Any:
    mean, variance = X.mean((2, 3, 4), keepdims=True), X.var((2, 3, 4), keepdims=True)
    return (X - mean) * lax.rsqrt(variance + eps) * gamma[..., None, None] + beta[..., None, None]


def bias_relu(X: Any, b: Any) -> Any:
    return jax.nn.relu(X + b)


def bias_gelu(X: Any, b: Any) -> Any:
    return jax.nn.gelu(X + b, approximate=False)


def moments(table: Any) -> tuple[Any, Any]:
    return table.mean(1), table.var(1)


def column_sum(A: Any) -> Any:
    return A.sum(0)


def argmax(A: Any) -> tuple[Any, Any]:
    return A.max(1), A.argmax(1)


def cumsum(X: Any) -> Any:
    return jnp.cumsum(X, axis=1)


def transpose(A: Any) -> Any:
    return A.T


def channels_last(images: Any) -> Any:
    return images.transpose(0, 2, 3, 1)


def embedding(table: Any, idx: Any) -> Any:
    return table[idx]


def lookup(table: Any, places: Any) -> Any:
    return table[places].sum(1)


def jacobi_2d(X: Any, steps: int) -> Any:
    def step(_: Any, A: Any) -> Any:
        neighbours = A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:]
        return A.at[1:-1, 1:-1].set(0.2 * (A[1:-1, 1:-1] + neighbours))

    return lax.fori_loop(0, steps, step, X)


def blur(image: Any) -> Any:
    rows = image[:, :-2] + image[:, 1:-1] + image[:, 2:]
    return (rows[:-2] + rows[1:-1] + rows[2:]) * np.float32(1 / 9)


def max_pool2d(images: Any, k: int, stride: int, pad: int) -> Any:
    around = ((0, 0), (0, 0), (pad, pad), (pad, pad))
    return lax.reduce_window(images, -jnp.inf, lax.max, (1, 1, k, k), (1, 1, stride, stride), around)
