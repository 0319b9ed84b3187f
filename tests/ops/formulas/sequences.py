"""Recurrences, stencils, and the kernels of Tensor Comprehensions."""

from __future__ import annotations

import itertools

import numpy as np

from tests.ops.formulas.registry import reference, sigmoid


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
def blur(X):
    H, W = (max(0, n - 2) for n in X.shape)
    return sum((X[i : i + H, j : j + W] for i in range(3) for j in range(3)), np.zeros((H, W))) / 9


@reference
def sobel(X):
    H, W = (max(0, n - 2) for n in X.shape)
    weights = np.outer([1, 2, 1], [-1, 0, 1])
    gx, gy = (
        sum((w[i, j] * X[i : i + H, j : j + W] for i in range(3) for j in range(3)), np.zeros((H, W)))
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


@reference
def tmm(A, B):
    return A @ B.T


@reference
def tbmm(X, Y):
    return X @ Y


@reference
def c3(X, W):
    return X @ W.T


@reference
def mlp1(X, W, c):
    return np.clip(X @ W + c, 0, None)


@reference
def mlp3(X, W1, b1, W2, b2, W3, b3):
    for W, b in ((W1, b1), (W2, b2), (W3, b3)):
        X = np.clip(X @ W.T + b, 0, None)
    return X


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
