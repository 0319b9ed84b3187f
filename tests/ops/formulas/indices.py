"""Lookups, selections, small integers, and movement of data."""

from __future__ import annotations

import itertools

import numpy as np

from tests.ops.formulas import linear
from tests.ops.formulas.registry import reference, top


@reference
def embedding(table, idx):
    return table[idx]


@reference
def lookup(table, X):
    return table[X].sum(1)


@reference
def lookup_two(table1, I1, table2, I2):
    return table1[I1].sum(1), table2[I2].sum(1)


@reference
def embedding_bag(table, X, w):
    return (table[X] * w[..., None]).sum(1) / w.sum(1)[:, None]


@reference
def embedding_gradient(dO, idx, V):
    G = np.zeros((V, dO.shape[1]))
    np.add.at(G, idx, dO)
    return G


@reference
def permute_rows(X, p):
    return X[np.argsort(p)]


@reference
def segment_sum(X, seg, S):
    return np.stack([X[seg == s].sum(0) for s in range(S)]), np.bincount(seg, minlength=S)


@reference
def histogram(x, lowest, width, bins):
    which = np.clip(np.floor((x - lowest) / width), 0, bins - 1).astype(int)
    return np.bincount(which, minlength=bins)


@reference
def one_hot(label, C):
    return np.eye(C)[label]


@reference
def sparse_matvec(A, col, x):
    y = np.zeros(len(A))
    for m, j in itertools.product(*map(range, A.shape)):
        y[m] += A[m, j] * x[col[m, j]] if col[m, j] >= 0 else 0
    return y


NOWHERE = 2147483647


@reference
def argmax(A):
    return (A.max(1), A.argmax(1)) if A.shape[1] else (np.full(len(A), -np.inf), np.full(len(A), NOWHERE))


@reference
def argmin(A):
    return (A.min(1), A.argmin(1)) if A.shape[1] else (np.full(len(A), np.inf), np.full(len(A), NOWHERE))


@reference
def top_two(A):
    padded_rows = np.concatenate([A, np.full((len(A), 2), -np.inf)], 1)
    ordered = -np.sort(-padded_rows, 1)
    return ordered[:, 0], ordered[:, 1]


@reference
def top_k(A, k):
    order = np.argsort(-A, 1, kind="stable")[:, :k]
    return np.take_along_axis(A, order, 1), order


@reference
def nearest(X, C):
    return argmin(linear.pairwise_distance(X, C))


@reference
def rank_sort(X):
    order = np.argsort(X, kind="stable")
    return X[order], np.argsort(order)


@reference
def clip_range(X):
    lo, hi = np.min(X, 1, initial=np.inf), top(X, 1)
    span = (hi - lo)[:, None]
    return np.divide(X - lo[:, None], span, out=np.zeros_like(X), where=span > 0), lo, hi


@reference
def matmul_int8(A, B):
    return A.astype(np.int64) @ B.astype(np.int64)


@reference
def matmul_bf16(A, B):
    return A @ B


@reference
def matmul_fp16(A, B):
    return A @ B


@reference
def quantise(X):
    s = np.maximum(np.max(np.abs(X), 1, initial=0), 1e-30) / 127
    q = X / s[:, None]
    return np.trunc(q + np.copysign(0.5, q)), s


@reference
def dequantise(Q, s, z):
    return s[:, None] * (Q.astype(int) - z.astype(int)[:, None])


@reference
def linear_int8(X, W, b, scale, zx, zy):
    A = (X.astype(int) - int(zx)) @ W.astype(int).T + b
    q = scale * A
    return np.clip(np.trunc(q + np.copysign(0.5, q)) + int(zy), 0, 255)


@reference
def popcount_matmul(A, B):
    def signs(words):
        bits = (words[..., None] >> np.arange(32, dtype=np.uint32)) & 1
        return (2 * bits.astype(int) - 1).reshape(len(words), 32 * words.shape[1])

    return signs(A) @ signs(B).T


@reference
def transpose(A):
    return A.T


@reference
def channels_last(X):
    return X.transpose(0, 2, 3, 1)


@reference
def concat(A, B):
    return np.concatenate([A, B], 1)


@reference
def pad2d(X, value, top, left, bottom, right):
    return np.pad(X, [(top, bottom), (left, right)], constant_values=float(value))


@reference
def flip(A):
    return A[:, ::-1]


@reference
def roll(A, shift):
    return np.roll(A, shift, 1)


@reference
def unfold(X, k):
    H, W = (max(0, n - k + 1) for n in X.shape[1:])
    return np.stack([np.stack([X[:, i : i + H, j : j + W] for j in range(k)], 1) for i in range(k)], 1)


@reference
def pixel_shuffle(X):
    N, C, r, _, H, W = X.shape
    return X.transpose(0, 1, 4, 2, 5, 3).reshape(N, C, H * r, W * r)


@reference
def interleave(A, B):
    return np.stack([A, B], 1).reshape(-1)


@reference
def lower_triangle(A):
    return np.tril(A)


@reference
def trace(A):
    return np.trace(A)
