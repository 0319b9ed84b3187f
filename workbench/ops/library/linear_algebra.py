"""Products of vectors and matrices."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "matmul",
        "Matrix product.\n\nC[m,n] = Σ_k A[m,k] B[k,n]",
        """
def matmul<T>(T(M,K) A, T(K,N) B) -> (C) {
    C(m,n) +=! A(m,k) * B(k,n)
}
""",
        (sizes(M=512, N=512, K=512), sizes(M=1024, N=1024, K=1024), sizes(M=127, N=61, K=257)),
    ),
    Entry(
        "gemm",
        "Scaled matrix product added to a scaled matrix, in place (BLAS level 3).\n\nC ← α A B + β C",
        """
def gemm<T>(T(M,K) A, T(K,N) B, T alpha, T beta) -> (T(M,N) C) {
    C(m,n) = T(beta * C(m,n))
    C(m,n) += T(alpha * A(m,k) * B(k,n))
}
""",
        (sizes(M=512, N=512, K=512), sizes(M=33, N=65, K=129)),
    ),
    Entry(
        "matvec",
        "Matrix times vector.\n\ny[m] = Σ_k A[m,k] x[k]",
        """
def matvec<T>(T(M,K) A, T(K) x) -> (y) {
    y(m) +=! A(m,k) * x(k)
}
""",
        (sizes(M=4096, K=4096), sizes(M=1000, K=37)),
    ),
    Entry(
        "bicg",
        "A matrix and its transpose, each times a vector, with one pass (the kernel of BiCG).\n\n"
        "s[n] = Σ_m r[m] A[m,n],  q[m] = Σ_n A[m,n] p[n]",
        """
def bicg<T>(T(M,N) A, T(M) r, T(N) p) -> (s, q) {
    s(n) +=! r(m) * A(m,n)
    q(m) +=! A(m,n) * p(n)
}
""",
        (sizes(M=2048, N=2048), sizes(M=390, N=410)),
    ),
    Entry(
        "batched_matmul",
        "One matrix product for each element of a batch.\n\nC[b,m,n] = Σ_k A[b,m,k] B[b,k,n]",
        """
def batched_matmul<T>(T(B,M,K) X, T(B,K,N) Y) -> (Z) {
    Z(b,m,n) +=! X(b,m,k) * Y(b,k,n)
}
""",
        (sizes(B=64, M=64, N=64, K=64), sizes(B=500, M=26, N=26, K=72)),
    ),
    Entry(
        "three_matmuls",
        "Product of two products (the kernel 3mm).\n\nG = (A B)(C D)",
        """
def three_matmuls<T>(T(M,K) A, T(K,N) B, T(N,J) C, T(J,L) D) -> (G) {
    E(m,n) +=! A(m,k) * B(k,n)
    F(n,l) +=! C(n,j) * D(j,l)
    G(m,l) +=! E(m,n) * F(n,l)
}
""",
        (sizes(M=180, N=190, K=200, J=210, L=220),),
    ),
    Entry(
        "dot",
        "Inner product.\n\ns = Σ_i x[i] y[i]",
        """
def dot<T>(T(N) x, T(N) y) -> (s) {
    s +=! x(i) * y(i)
}
""",
        (sizes(N=1 << 20), sizes(N=1000003)),
    ),
    Entry(
        "axpy",
        "Scaled vector plus vector.\n\nz[i] = a x[i] + y[i]",
        """
def axpy<T>(T a, T(N) x, T(N) y) -> (z) {
    z(i) = a * x(i) + y(i)
}
""",
        (sizes(N=1 << 22), sizes(N=1000003)),
    ),
    Entry(
        "outer",
        "Outer product.\n\nA[m,n] = x[m] y[n]",
        """
def outer<T>(T(M) x, T(N) y) -> (A) {
    A(m,n) = x(m) * y(n)
}
""",
        (sizes(M=1024, N=1024),),
    ),
    Entry(
        "bilinear",
        "Bilinear form for each pair of rows and each output feature.\n\nZ[n,o] = b[o] + Σ_ij X[n,i] W[o,i,j] Y[n,j]",
        """
def bilinear<T>(T(N,I) X, T(N,J) Y, T(O,I,J) W, T(O) b) -> (Z) {
    V(n,o,j) +=! X(n,i) * W(o,i,j)
    Z(n,o) +=! V(n,o,j) * Y(n,j)
    Z(n,o) = Z(n,o) + b(o)
}
""",
        (sizes(N=128, I=64, J=64, O=32),),
    ),
    Entry(
        "norm",
        "Frobenius norm of a matrix.\n\ns = sqrt(Σ_mn A[m,n]²)",
        """
def norm<T: floats>(T(M,N) A) -> (s) {
    s +=! A(m,n) * A(m,n)
    s = sqrt(s)
}
""",
        (sizes(M=1024, N=1024),),
    ),
    Entry(
        "tensordot",
        "Contraction of the last two axes of one tensor with the first two of another.\n\n"
        "C[a,b,e] = Σ_cd A[a,b,c,d] B[c,d,e]",
        """
def tensordot<T>(T(P,Q,R,S) A, T(R,S,U) B) -> (C) {
    C(p,q,u) +=! A(p,q,r,s) * B(r,s,u)
}
""",
        (sizes(P=16, Q=32, R=24, S=48, U=64),),
    ),
    Entry(
        "pairwise_distance",
        "Squared Euclidean distance between all pairs of rows.\n\nD[m,n] = Σ_k (X[m,k] - Y[n,k])²",
        """
def pairwise_distance<T>(T(M,K) X, T(N,K) Y) -> (D) {
    D(m,n) +=! d * d where d = X(m,k) - Y(n,k)
}
""",
        (sizes(M=512, N=512, K=64),),
    ),
    Entry(
        "fourier",
        "Discrete Fourier transform of a real signal, written out.\n\nre[k] + i im[k] = Σ_n x[n] exp(-2πi k n / N)",
        """
def fourier<T>(T(N) x) -> (re, im) {
    re(k) +=! x(n) * cospi(2.0 * ((k * n) % N) / N) where k in 0:N
    im(k) +=! x(n) * -sinpi(2.0 * ((k * n) % N) / N) where k in 0:N
}
""",
        (sizes(N=512),),
    ),
)
