"""Matrices with structure: triangular and symmetric products, factorisations, substitutions."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "trmm",
        "Lower triangular matrix times matrix.\n\nC[m,n] = Σ_{k ≤ m} L[m,k] B[k,n]",
        """
def trmm<T>(T(M,M) L, T(M,N) B) -> (C) {
    C(m,n) +=! L(m,k) * B(k,n) where k in 0:m+1
}
""",
        (sizes(M=512, N=512), sizes(M=67, N=31)),
    ),
    Entry(
        "syrk",
        "Symmetric rank-k product, lower triangle only (the rest is 0).\n\nC[i,j] = Σ_k A[i,k] A[j,k] for j ≤ i",
        """
def syrk<T>(T(N,K) A) -> (T(N,N) C) {
    C(i,j) +=! T(A(i,k) * A(j,k)) where j in 0:i+1
}
""",
        (sizes(N=512, K=512), sizes(N=61, K=45)),
    ),
    Entry(
        "symm",
        "Symmetric matrix, stored as its lower triangle, times matrix.\n\nC = S B with S[i,k] = A[max(i,k), min(i,k)]",
        """
def symm<T>(T(M,M) A, T(M,N) B) -> (C) {
    C(i,j) +=! A(i,k) * B(k,j) where k in 0:i+1
    C(i,j) += A(k,i) * B(k,j) where k in i+1:M
}
""",
        (sizes(M=512, N=512), sizes(M=61, N=45)),
    ),
    Entry(
        "covariance",
        "Sample covariance of the columns of a table.\n\nC[i,j] = Σ_n (X[n,i] - μ[i]) (X[n,j] - μ[j]) / (N - 1)",
        """
def covariance<T: floats>(T(N,M) X) -> (C) {
    total(i) +=! X(n,i)
    D(n,i) = X(n,i) - total(i) / N
    C(i,j) +=! D(n,i) * D(n,j) where j in i:M
    C(i,j) = C(i,j) / (N - 1) where j in i:M
    C(i,j) = C(j,i) where i in 0:M, j in 0:i
}
""",
        (sizes(N=512, M=256), sizes(N=260, M=41)),
    ),
    Entry(
        "correlation",
        "Correlation coefficients of the columns of a table.\n\nR[i,j] = C[i,j] / (σ[i] σ[j])",
        """
def correlation<T: floats>(T(N,M) X) -> (R) {
    total(i) +=! X(n,i)
    D(n,i) = X(n,i) - total(i) / N
    square(i) +=! D(n,i) * D(n,i)
    D(n,i) = D(n,i) * rsqrt(square(i))
    R(i,j) +=! D(n,i) * D(n,j)
}
""",
        (sizes(N=512, M=256), sizes(N=260, M=41)),
    ),
    Entry(
        "triangular_solve",
        "Forward substitution.\n\nx with L x = b",
        """
def triangular_solve<T: floats>(T(N,N) L, T(N) b) -> (x) {
    x(i) = b(i)
    for i in 0:N {
        s +=! L(i,k) * x(k) where k in 0:i
        x(i) = T((x(i) - s) / L(i,i))
    }
}
""",
        (sizes(N=400), sizes(N=37)),
        values={"L": (0.5, 1.5)},
    ),
    Entry(
        "cholesky",
        "Cholesky factor of a symmetric positive definite matrix, right-looking.\n\nL with A = L Lᵀ",
        """
def cholesky<T: floats>(T(N,N) A) -> (T(N,N) L) {
    L(i,j) = A(i,j) where j in 0:i+1
    for k in 0:N {
        L(k,j) = T(sqrt(L(k,k))) where j in k:k+1
        L(i,k) = T(L(i,k) / L(k,k)) where i in k+1:N
        L(i,j) = T(L(i,j) - L(i,k) * L(j,k)) where i in k+1:N, j in k+1:i+1
    }
}
""",
        (sizes(N=200), sizes(N=23)),
    ),
    Entry(
        "lu",
        "LU factors without pivoting, both in one matrix.\n\nA = L U with L[i,i] = 1",
        """
def lu<T: floats>(T(N,N) A) -> (F) {
    F(i,j) = A(i,j)
    for k in 0:N {
        F(i,k) = T(F(i,k) / F(k,k)) where i in k+1:N
        F(i,j) = T(F(i,j) - F(i,k) * F(k,j)) where i in k+1:N, j in k+1:N
    }
}
""",
        (sizes(N=200), sizes(N=23)),
    ),
    Entry(
        "floyd_warshall",
        "Lengths of all shortest paths.\n\nD[i,j] ← min(D[i,j], D[i,k] + D[k,j]) for k = 0, 1, ...",
        """
def floyd_warshall<T>(T(N,N) W) -> (D) {
    D(i,j) = W(i,j)
    for k in 0:N {
        to(i) = D(i,k)
        onward(j) = D(k,j)
        D(i,j) = T(min(D(i,j), to(i) + onward(j)))
    }
}
""",
        (sizes(N=128), sizes(N=19)),
        values={"W": (1.0, 10.0)},
    ),
)
