"""Convolutions and pooling."""

from __future__ import annotations

import itertools

import numpy as np

from tests.ops.formulas.registry import reference, top


def correlate(X, K, stride=1, dilation=1):
    """X: (N, C, *space), K: (F, C, *window); valid correlation."""
    space, window = X.shape[2:], K.shape[2:]
    size = [max(0, (s - dilation * (k - 1) - 1) // stride + 1) for s, k in zip(space, window, strict=True)]
    out = np.zeros((X.shape[0], K.shape[0], *size))
    for place in itertools.product(*map(range, window)):
        part = tuple(
            slice(dilation * p, dilation * p + stride * n, stride) for p, n in zip(place, size, strict=True)
        )
        piece = X[(slice(None), slice(None), *part)]
        if piece.size and piece.shape[2:] == tuple(size):
            out += np.einsum("nc...,fc->nf...", piece, K[(slice(None), slice(None), *place)])
    return out


def padded(X, pad, value=0.0):
    return np.pad(X, [(0, 0), (0, 0)] + [(pad, pad)] * (X.ndim - 2), constant_values=value)


@reference
def conv1d(X, W, stride, pad, dilation):
    return correlate(padded(X, pad), W, stride, dilation)


@reference
def conv2d(X, K, stride, pad, dilation):
    return correlate(padded(X, pad), K, stride, dilation)


@reference
def conv2d_bias(X, K, B):
    return correlate(X, K) + B[:, None, None]


@reference
def conv3d(X, K):
    return correlate(X, K)


@reference
def group_conv2d(X, K, B):
    groups = [correlate(X[:, g], K[g]) + B[g][:, None, None] for g in range(X.shape[1])]
    size = [max(0, i - k + 1) for i, k in zip(X.shape[3:], K.shape[3:], strict=True)]
    return np.stack(groups, 1) if groups else np.zeros((X.shape[0], 0, K.shape[1], *size))


@reference
def depthwise_conv2d(X, K, stride, pad):
    P = padded(X, pad)
    planes = [correlate(P[:, c : c + 1], K[c : c + 1, None], stride) for c in range(X.shape[1])]
    size = [max(0, (p - k) // stride + 1) for p, k in zip(P.shape[2:], K.shape[1:], strict=True)]
    return np.concatenate(planes, 1) if planes else np.zeros((X.shape[0], 0, *size))


@reference
def separable_conv2d(X, K, V):
    return np.einsum("nchw,fc->nfhw", depthwise_conv2d(X, K, 1, 0), V)


def spread(X, K, stride):
    """Every pixel of X (N,C,H,W) adds a filter K (C,F,KH,KW)."""
    (N, _, H, W), (_, F, KH, KW) = X.shape, K.shape
    full = np.zeros((N, F, max(0, (H - 1) * stride + KH), max(0, (W - 1) * stride + KW)))
    for y, x in itertools.product(range(H), range(W)):
        full[:, :, y * stride : y * stride + KH, x * stride : x * stride + KW] += np.einsum(
            "nc,cfij->nfij", X[:, :, y, x], K
        )
    return full


@reference
def conv_transpose2d(X, K, stride, pad):
    full = spread(X, K, stride)
    return full[:, :, pad : full.shape[2] - pad, pad : full.shape[3] - pad]


@reference
def conv2d_input_gradient(D, K):
    return spread(D, K, 1)


@reference
def conv2d_weight_gradient(D, X):
    return correlate(X.swapaxes(0, 1), D.swapaxes(0, 1)).swapaxes(0, 1)


def windows(P, k, stride, fold):
    N, C, H, W = P.shape
    size = [max(0, (s - k) // stride + 1) for s in (H, W)]
    out = np.zeros((N, C, *size))
    for y, x in itertools.product(*map(range, size)):
        out[:, :, y, x] = fold(P[:, :, y * stride : y * stride + k, x * stride : x * stride + k])
    return out


@reference
def max_pool2d(X, k, stride, pad):
    return windows(padded(X, pad, -np.inf), k, stride, lambda w: top(w, (2, 3)))


@reference
def avg_pool2d(X, k, stride, pad):
    return windows(padded(X, pad), k, stride, lambda w: w.mean((2, 3)))


@reference
def global_avg_pool(X):
    return X.mean((2, 3))


@reference
def upsample_nearest(X, scale):
    return X.repeat(scale, 2).repeat(scale, 3)


@reference
def upsample_bilinear(X):
    def twice(a, axis):
        n = a.shape[axis]
        before = np.take(a, np.maximum(np.arange(n) - 1, 0), axis)
        after = np.take(a, np.minimum(np.arange(n) + 1, n - 1), axis)
        both = np.stack([0.75 * a + 0.25 * before, 0.75 * a + 0.25 * after], axis + 1)
        return both.reshape(*a.shape[:axis], 2 * n, *a.shape[axis + 1 :])

    return twice(twice(X, 2), 3)
