"""Vectors and matrices."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from tests.ops.formulas.registry import reference


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
