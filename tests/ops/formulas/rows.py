"""Normalisations, activations, losses, attention."""

from __future__ import annotations

import numpy as np
import scipy.special

from tests.ops.formulas.registry import normal, reference, sigmoid, softmax_of


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
def moments(X):
    return X.mean(1), X.var(1)


@reference
def welford(X):
    return (X.mean(1), X.var(1)) if X.shape[1] else (np.zeros(len(X)), np.full(len(X), np.nan))


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
