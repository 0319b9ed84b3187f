"""What each operator of the library should give: plain NumPy formulas, written without looking at its text.

Every function takes the operator's arguments in order (floats as float64) and returns its outputs;
in/out operators take the old contents as `out`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special

REFERENCES: dict[str, Callable[..., Any]] = {}


def reference(function: Callable[..., Any]) -> Callable[..., Any]:
    REFERENCES[function.__name__] = function
    return function


def top(x: np.ndarray, axis: int | tuple[int, ...], keepdims: bool = False) -> np.ndarray:
    return np.max(x, axis=axis, initial=-np.inf, keepdims=keepdims)


def softmax_of(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - top(x, -1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(x / 2))


def normal(x: np.ndarray, axes: tuple[int, ...], eps: Any) -> np.ndarray:
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)


# -- linear algebra ----------------------------------------------------------------------------------------------


@reference
def matmul(A, B):
    return A @ B


@reference
def gemm(A, B, alpha, beta, out):
    return alpha * (A @ B) + beta * out


@reference
def matvec(A, x):
    return A @ x


@reference
def bicg(A, r, p):
    return A.T @ r, A @ p


@reference
def batched_matmul(X, Y):
    return X @ Y


@reference
def three_matmuls(A, B, C, D):
    return (A @ B) @ (C @ D)


@reference
def dot(x, y):
    return x @ y


@reference
def axpy(a, x, y):
    return a * x + y


@reference
def outer(x, y):
    return np.outer(x, y)


@reference
def bilinear(X, Y, W, b):
    return np.einsum("ni,oij,nj->no", X, W, Y) + b


@reference
def norm(A):
    return np.linalg.norm(A)


@reference
def tensordot(A, B):
    return np.tensordot(A, B, 2)


@reference
def pairwise_distance(X, Y):
    return ((X[:, None, :] - Y[None, :, :]) ** 2).sum(-1)


@reference
def fourier(x):
    f = np.fft.fft(x) if x.size else np.zeros(0, complex)
    return f.real, f.imag


# -- triangular --------------------------------------------------------------------------------------------------


@reference
def trmm(L, B):
    return np.tril(L) @ B


@reference
def syrk(A):
    return np.tril(A @ A.T)


@reference
def symm(A, B):
    return (np.tril(A) + np.tril(A, -1).T) @ B


@reference
def covariance(X):
    d = X - X.sum(0) / X.shape[0]
    return d.T @ d / (X.shape[0] - 1)


@reference
def correlation(X):
    d = X - X.mean(0)
    c = d.T @ d
    s = np.sqrt(np.diag(c))
    return c / np.outer(s, s)


@reference
def triangular_solve(L, b):
    return scipy.linalg.solve_triangular(L, b, lower=True) if b.size else b


@reference
def cholesky(A):
    return np.linalg.cholesky(A)


@reference
def lu(A):
    F = A.copy()
    for k in range(len(F)):
        F[k + 1 :, k] /= F[k, k]
        F[k + 1 :, k + 1 :] -= np.outer(F[k + 1 :, k], F[k, k + 1 :])
    return F


@reference
def floyd_warshall(W):
    D = W.copy()
    for k in range(len(D)):
        D = np.minimum(D, D[:, k : k + 1] + D[k : k + 1, :])
    return D


# -- convolutions ------------------------------------------------------------------------------------------------


def correlate(I, K, stride=1, dilation=1):
    """I: (N, C, *space), K: (F, C, *window); valid correlation."""
    space, window = I.shape[2:], K.shape[2:]
    size = [max(0, (s - dilation * (k - 1) - 1) // stride + 1) for s, k in zip(space, window, strict=True)]
    out = np.zeros((I.shape[0], K.shape[0], *size))
    for place in itertools.product(*map(range, window)):
        part = tuple(
            slice(dilation * p, dilation * p + stride * n, stride) for p, n in zip(place, size, strict=True)
        )
        piece = I[(slice(None), slice(None), *part)]
        if piece.size and piece.shape[2:] == tuple(size):
            out += np.einsum("nc...,fc->nf...", piece, K[(slice(None), slice(None), *place)])
    return out


def padded(I, pad, value=0.0):
    return np.pad(I, [(0, 0), (0, 0)] + [(pad, pad)] * (I.ndim - 2), constant_values=value)


@reference
def conv1d(I, W, stride, pad, dilation):
    return correlate(padded(I, pad), W, stride, dilation)


@reference
def conv2d(I, K, stride, pad, dilation):
    return correlate(padded(I, pad), K, stride, dilation)


@reference
def conv2d_bias(I, K, B):
    return correlate(I, K) + B[:, None, None]


@reference
def conv3d(I, K):
    return correlate(I, K)


@reference
def group_conv2d(I, K, B):
    groups = [correlate(I[:, g], K[g]) + B[g][:, None, None] for g in range(I.shape[1])]
    size = [max(0, i - k + 1) for i, k in zip(I.shape[3:], K.shape[3:], strict=True)]
    return np.stack(groups, 1) if groups else np.zeros((I.shape[0], 0, K.shape[1], *size))


@reference
def depthwise_conv2d(I, K, stride, pad):
    P = padded(I, pad)
    planes = [correlate(P[:, c : c + 1], K[c : c + 1, None], stride) for c in range(I.shape[1])]
    size = [max(0, (p - k) // stride + 1) for p, k in zip(P.shape[2:], K.shape[1:], strict=True)]
    return np.concatenate(planes, 1) if planes else np.zeros((I.shape[0], 0, *size))


@reference
def separable_conv2d(I, K, V):
    return np.einsum("nchw,fc->nfhw", depthwise_conv2d(I, K, 1, 0), V)


def spread(I, K, stride):
    """Every pixel of I (N,C,H,W) adds a filter K (C,F,KH,KW)."""
    (N, _, H, W), (_, F, KH, KW) = I.shape, K.shape
    full = np.zeros((N, F, max(0, (H - 1) * stride + KH), max(0, (W - 1) * stride + KW)))
    for y, x in itertools.product(range(H), range(W)):
        full[:, :, y * stride : y * stride + KH, x * stride : x * stride + KW] += np.einsum(
            "nc,cfij->nfij", I[:, :, y, x], K
        )
    return full


@reference
def conv_transpose2d(I, K, stride, pad):
    full = spread(I, K, stride)
    return full[:, :, pad : full.shape[2] - pad, pad : full.shape[3] - pad]


@reference
def conv2d_input_gradient(D, K):
    return spread(D, K, 1)


@reference
def conv2d_weight_gradient(D, I):
    return correlate(I.swapaxes(0, 1), D.swapaxes(0, 1)).swapaxes(0, 1)


# -- pooling -----------------------------------------------------------------------------------------------------


def windows(P, k, stride, fold):
    N, C, H, W = P.shape
    size = [max(0, (s - k) // stride + 1) for s in (H, W)]
    out = np.zeros((N, C, *size))
    for y, x in itertools.product(*map(range, size)):
        out[:, :, y, x] = fold(P[:, :, y * stride : y * stride + k, x * stride : x * stride + k])
    return out


@reference
def max_pool2d(I, k, stride, pad):
    return windows(padded(I, pad, -np.inf), k, stride, lambda w: top(w, (2, 3)))


@reference
def avg_pool2d(I, k, stride, pad):
    return windows(padded(I, pad), k, stride, lambda w: w.mean((2, 3)))


@reference
def global_avg_pool(I):
    return I.mean((2, 3))


@reference
def upsample_nearest(I, scale):
    return I.repeat(scale, 2).repeat(scale, 3)


@reference
def upsample_bilinear(I):
    def twice(a, axis):
        n = a.shape[axis]
        before = np.take(a, np.maximum(np.arange(n) - 1, 0), axis)
        after = np.take(a, np.minimum(np.arange(n) + 1, n - 1), axis)
        both = np.stack([0.75 * a + 0.25 * before, 0.75 * a + 0.25 * after], axis + 1)
        return both.reshape(a.shape[:axis] + (2 * n,) + a.shape[axis + 1 :])

    return twice(twice(I, 2), 3)


# -- normalisations ----------------------------------------------------------------------------------------------


@reference
def softmax(X):
    return softmax_of(X)


@reference
def online_softmax(X):
    return softmax_of(X)


@reference
def log_softmax(X):
    return X - scipy.special.logsumexp(X, axis=1, keepdims=True) if X.size else X


@reference
def log_sum_exp(X):
    return scipy.special.logsumexp(X, axis=1) if X.size else np.full(len(X), -np.inf)


@reference
def layer_norm(X, gamma, beta, eps):
    return normal(X, (1,), eps) * gamma + beta


@reference
def rms_norm(X, gamma, eps):
    return X / np.sqrt((X**2).mean(1, keepdims=True) + eps) * gamma


@reference
def batch_norm(X, gamma, beta, eps):
    Y = normal(X, (0, 2, 3), eps) * gamma[:, None, None] + beta[:, None, None]
    return Y, X.mean((0, 2, 3)), X.var((0, 2, 3))


@reference
def batch_norm_inference(X, mean, variance, gamma, beta, eps):
    m, v, g, b = (a[:, None, None] for a in (mean, variance, gamma, beta))
    return g * (X - m) / np.sqrt(v + eps) + b


@reference
def group_norm(X, gamma, beta, eps):
    return normal(X, (2, 3, 4), eps) * gamma[..., None, None] + beta[..., None, None]


@reference
def instance_norm(X, eps):
    return normal(X, (2, 3), eps)


@reference
def l2_normalise(X, eps):
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), eps)


@reference
def moments(I):
    return I.mean(1), I.var(1)


@reference
def welford(X):
    return (X.mean(1), X.var(1)) if X.shape[1] else (np.zeros(len(X)), np.full(len(X), np.nan))


# -- activations -------------------------------------------------------------------------------------------------


@reference
def bias_relu(X, b):
    return np.clip(X + b, 0, None)


@reference
def bias_gelu(X, b):
    return (X + b) * scipy.special.ndtr(X + b)


@reference
def gelu_tanh(X):
    return 0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))


@reference
def leaky_relu(X, slope):
    return np.where(X > 0, X, slope * X)


@reference
def softplus(X):
    return np.logaddexp(0, X)


@reference
def swiglu(X, V, W):
    gate = X @ V.T
    return gate * sigmoid(gate) * (X @ W.T)


@reference
def dropout(X, mask, p):
    return X * mask / (1 - p)


@reference
def residual(X, R, s):
    return np.clip(X + s * R, 0, None)


@reference
def adam(g, rate, beta1, beta2, eps, out):
    w, m, v = out
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    return w - rate * m / (np.sqrt(v) + eps), m, v


# -- losses ------------------------------------------------------------------------------------------------------


def mean_or_zero_by_zero(values):
    with np.errstate(all="ignore"):
        return np.sum(values) / np.float64(np.size(values))


@reference
def mse(X, Y):
    return mean_or_zero_by_zero((X - Y) ** 2)


@reference
def cross_entropy(X, label):
    return mean_or_zero_by_zero(-log_softmax(X)[np.arange(len(X)), label])


@reference
def nll(L, label, weight):
    return -weight[label] * L[np.arange(len(L)), label]


@reference
def binary_cross_entropy(X, Y):
    p = sigmoid(X)
    return mean_or_zero_by_zero(-(Y * np.log(p) + (1 - Y) * np.log(1 - p)))


@reference
def huber(X, Y, delta):
    return scipy.special.huber(delta, X - Y)


@reference
def kl_divergence(Q, P):
    return (scipy.special.xlogy(P, P) - P * Q).sum(1)


@reference
def cosine_similarity(X, Y, eps):
    lengths = np.linalg.norm(X, axis=1) * np.linalg.norm(Y, axis=1)
    return (X * Y).sum(1) / np.maximum(lengths, eps)


@reference
def hinge(X, label):
    rows = np.arange(len(X))
    margin = np.maximum(0, 1 + X - X[rows, label][:, None])
    margin[rows, label] = 0
    return margin.sum(1)


# -- attention ---------------------------------------------------------------------------------------------------


@reference
def attention(Q, K, V):
    return softmax_of(Q @ K.swapaxes(1, 2) / np.sqrt(Q.shape[-1])) @ V


@reference
def online_attention(Q, K, V):
    return attention(Q, K, V)


@reference
def causal_attention(Q, K, V):
    S = Q @ K.swapaxes(1, 2) / np.sqrt(Q.shape[-1])
    return softmax_of(np.where(np.tril(np.ones(S.shape[1:])) > 0, S, -np.inf)) @ V


@reference
def grouped_attention(Q, K, V):
    S = np.einsum("bhgmd,bhnd->bhgmn", Q, K) / np.sqrt(Q.shape[-1])
    return np.einsum("bhgmn,bhne->bhgme", softmax_of(S), V)


@reference
def rotary_embedding(X, base):
    N, P, _ = X.shape
    turn = np.exp(1j * np.arange(N)[:, None] * base ** (-np.arange(P) / max(P, 1)))
    Y = (X[..., 0] + 1j * X[..., 1]) * turn
    return np.stack([Y.real, Y.imag], -1)


# -- recurrences -------------------------------------------------------------------------------------------------


@reference
def rnn_cell(X, h, W, U, bias):
    return np.tanh(X @ W.T + h @ U.T + bias)


@reference
def lstm_cell(X, h, c, W, U, bias):
    i, f, g, o = (X @ W[n].T + h @ U[n].T + bias[n] for n in range(4))
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


@reference
def gru_cell(X, h, W, U, p, q):
    a = [X @ W[n].T + p[n] for n in range(3)]
    b = [h @ U[n].T + q[n] for n in range(3)]
    r, z = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
    return (1 - z) * np.tanh(a[2] + r * b[2]) + z * h


@reference
def rnn(X, start, W, U, bias):
    states = [start]
    for x in X:
        states.append(rnn_cell(x, states[-1], W, U, bias))
    return np.stack(states[1:]) if len(X) else np.zeros((0, *start.shape))


@reference
def lstm(X, h, c, W, U, bias):
    states = []
    for x in X:
        h, c = lstm_cell(x, h, c, W, U, bias)
        states.append(h)
    return np.stack(states) if states else np.zeros((0, *h.shape))


@reference
def cumsum(X):
    return X.cumsum(1)


@reference
def cummax(X):
    return np.maximum.accumulate(X, 1)


@reference
def linear_recurrence(A, X):
    Y = X.copy()
    for t in range(1, len(Y)):
        Y[t] += A[t] * Y[t - 1]
    return Y


@reference
def moving_average(X, alpha):
    Y = X.copy()
    for t in range(1, len(Y)):
        Y[t] = alpha * X[t] + (1 - alpha) * Y[t - 1]
    return Y


# -- lookups -----------------------------------------------------------------------------------------------------


@reference
def embedding(table, idx):
    return table[idx]


@reference
def lookup(table, I):
    return table[I].sum(1)


@reference
def lookup_two(table1, I1, table2, I2):
    return table1[I1].sum(1), table2[I2].sum(1)


@reference
def embedding_bag(table, I, w):
    return (table[I] * w[..., None]).sum(1) / w.sum(1)[:, None]


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


# -- selections --------------------------------------------------------------------------------------------------

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
    return argmin(pairwise_distance(X, C))


@reference
def rank_sort(X):
    order = np.argsort(X, kind="stable")
    return X[order], np.argsort(order)


@reference
def clip_range(X):
    lo, hi = np.min(X, 1, initial=np.inf), top(X, 1)
    span = (hi - lo)[:, None]
    return np.divide(X - lo[:, None], span, out=np.zeros_like(X), where=span > 0), lo, hi


# -- quantised ---------------------------------------------------------------------------------------------------


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


# -- stencils ----------------------------------------------------------------------------------------------------


def stepped(X, steps, inner):
    A = X.copy()
    for _ in range(steps if min(X.shape) > 2 else 0):
        A[(slice(1, -1),) * A.ndim] = inner(A)
    return A


@reference
def jacobi_1d(X, steps):
    return stepped(X, steps, lambda A: (A[:-2] + A[1:-1] + A[2:]) / 3)


@reference
def jacobi_2d(X, steps):
    return stepped(
        X, steps, lambda A: (A[1:-1, 1:-1] + A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:]) / 5
    )


@reference
def seidel_2d(X, steps):
    A = X.copy()
    for _, i, j in itertools.product(range(steps), range(1, X.shape[0] - 1), range(1, X.shape[1] - 1)):
        A[i, j] = A[i - 1 : i + 2, j - 1 : j + 2].sum() / 9
    return A


@reference
def heat_3d(X, steps):
    def inner(A):
        c = (slice(1, -1),) * 3
        total = A[c].copy()
        for axis in range(3):
            for shift in (-1, 1):
                total += 0.125 * (np.roll(A, shift, axis)[c] - A[c])
        return total

    return stepped(X, steps, inner)


@reference
def wave_1d(X, c, steps):
    u, old = X.copy(), X.copy()
    for _ in range(steps if len(X) > 2 else 0):
        new = 2 * u[1:-1] - old[1:-1] + c * (u[:-2] - 2 * u[1:-1] + u[2:])
        old, u = u.copy(), np.concatenate([u[:1], new, u[-1:]])
    return u


@reference
def blur(I):
    H, W = (max(0, n - 2) for n in I.shape)
    return sum((I[i : i + H, j : j + W] for i in range(3) for j in range(3)), np.zeros((H, W))) / 9


@reference
def sobel(I):
    H, W = (max(0, n - 2) for n in I.shape)
    weights = np.outer([1, 2, 1], [-1, 0, 1])
    gx, gy = (
        sum((w[i, j] * I[i : i + H, j : j + W] for i in range(3) for j in range(3)), np.zeros((H, W)))
        for w in (weights, weights.T)
    )
    return np.hypot(gx, gy)


@reference
def life(X, steps):
    A = X.astype(int)
    for _ in range(steps):
        around = sum(np.roll(A, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - A
        A = ((around == 3) | ((A == 1) & (around == 2))).astype(int)
    return A


# -- Tensor Comprehensions ---------------------------------------------------------------------------------------


@reference
def tmm(A, B):
    return A @ B.T


@reference
def tbmm(X, Y):
    return X @ Y


@reference
def c3(I, W):
    return I @ W.T


@reference
def mlp1(I, W, c):
    return np.clip(I @ W + c, 0, None)


@reference
def mlp3(I, W1, b1, W2, b2, W3, b3):
    for W, b in ((W1, b1), (W2, b2), (W3, b3)):
        I = np.clip(I @ W.T + b, 0, None)
    return I


@reference
def kronecker3(X, W0, W1, W2):
    flat = X.reshape(len(X), int(np.prod(X.shape[1:])))
    Y = flat @ np.kron(np.kron(W0, W1), W2).T
    return Y.reshape(len(X), len(W0), len(W1), len(W2))


@reference
def wavenet(X, FW, FB, GW, GB, RW, RB, SW, SB, dilation):
    past = np.zeros_like(X)
    past[:, :, dilation:] = X[:, :, : max(0, X.shape[2] - dilation)]
    f, g = (
        np.einsum("bct,dc->bdt", X, W[..., 1]) + np.einsum("bct,dc->bdt", past, W[..., 0]) + b[:, None]
        for W, b in ((FW, FB), (GW, GB))
    )
    z = np.tanh(f) * sigmoid(g)
    return X + np.einsum("bdt,cd->bct", z, RW) + RB[:, None], np.einsum("bdt,sd->bst", z, SW) + SB[:, None]


# -- rearrangements ----------------------------------------------------------------------------------------------


@reference
def transpose(A):
    return A.T


@reference
def channels_last(I):
    return I.transpose(0, 2, 3, 1)


@reference
def concat(A, B):
    return np.concatenate([A, B], 1)


@reference
def pad2d(I, value, top, left, bottom, right):
    return np.pad(I, [(top, bottom), (left, right)], constant_values=float(value))


@reference
def flip(A):
    return A[:, ::-1]


@reference
def roll(A, shift):
    return np.roll(A, shift, 1)


@reference
def unfold(I, k):
    H, W = (max(0, n - k + 1) for n in I.shape[1:])
    return np.stack([np.stack([I[:, i : i + H, j : j + W] for j in range(k)], 1) for i in range(k)], 1)


@reference
def pixel_shuffle(I):
    N, C, r, _, H, W = I.shape
    return I.transpose(0, 1, 4, 2, 5, 3).reshape(N, C, H * r, W * r)


@reference
def interleave(A, B):
    return np.stack([A, B], 1).reshape(-1)


@reference
def lower_triangle(A):
    return np.tril(A)


@reference
def trace(A):
    return np.trace(A)
