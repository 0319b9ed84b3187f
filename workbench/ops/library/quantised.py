"""Arithmetic on 8-bit integers and 16-bit floats."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "matmul_int8",
        "Product of 8-bit matrices, accumulated in 32 bits.\n\nC[m,n] = Σ_k A[m,k] B[k,n]",
        """
def matmul_int8(int8(M,K) A, int8(K,N) B) -> (C) {
    C(m,n) +=! int32(A(m,k)) * int32(B(k,n))
}
""",
        (sizes(M=512, N=512, K=512), sizes(M=61, N=31, K=127)),
    ),
    Entry(
        "matmul_bf16",
        "Product of bfloat16 matrices, accumulated in float32.\n\nC[m,n] = Σ_k A[m,k] B[k,n]",
        """
def matmul_bf16(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) {
    C(m,n) +=! A(m,k) * B(k,n)
}
""",
        (sizes(M=512, N=512, K=512), sizes(M=61, N=31, K=127)),
    ),
    Entry(
        "matmul_fp16",
        "Product of float16 matrices, accumulated in float32 and stored as float16.\n\nC[m,n] = Σ_k A[m,k] B[k,n]",
        """
def matmul_fp16(float16(M,K) A, float16(K,N) B) -> (C) {
    S(m,n) +=! A(m,k) * B(k,n)
    C(m,n) = float16(S(m,n))
}
""",
        (sizes(M=512, N=512, K=512), sizes(M=61, N=31, K=127)),
    ),
    Entry(
        "quantise",
        "Floats to 8-bit integers with one scale for each row.\n\n"
        "Q[m,n] = round(X[m,n] / s[m]),  s[m] = max_n |X[m,n]| / 127",
        """
def quantise(float(M,N) X) -> (Q, s) {
    s(m) max=! fabs(X(m,n))
    s(m) = max(s(m), 1e-30) / 127
    Q(m,n) = int8(max(min(round(X(m,n) / s(m)), 127), -127))
}
""",
        (sizes(M=1024, N=1024), sizes(M=13, N=101)),
    ),
    Entry(
        "dequantise",
        "8-bit integers back to floats, with scale and zero point for each row.\n\nX[m,n] = s[m] (Q[m,n] - z[m])",
        """
def dequantise(int8(M,N) Q, float(M) s, int8(M) z) -> (X) {
    X(m,n) = s(m) * (int32(Q(m,n)) - int32(z(m)))
}
""",
        (sizes(M=1024, N=1024), sizes(M=13, N=101)),
    ),
    Entry(
        "linear_int8",
        "Quantised linear layer: 8-bit product with zero points, bias, and rescaling to 8 bits.\n\n"
        "Y[m,n] = clamp(round(scale (Σ_k (X[m,k] - zx) W[n,k] + b[n])) + zy)",
        """
def linear_int8(uint8(M,K) X, int8(N,K) W, int32(N) b, float scale, uint8 zx, uint8 zy) -> (Y) {
    A(m,n) +=! (int32(X(m,k)) - int32(zx)) * int32(W(n,k))
    Y(m,n) = uint8(max(min(round(scale * (A(m,n) + b(n))) + zy, 255), 0))
}
""",
        (sizes(M=256, N=512, K=512), sizes(M=13, N=17, K=19)),
        values={"scale": (0.0001, 0.001)},
    ),
    Entry(
        "popcount_matmul",
        "Product of binary matrices with entries ±1, packed 32 to a word.\n\n"
        "C[m,n] = 32 K - 2 Σ_k popcount(A[m,k] ^ B[n,k])",
        """
def popcount_matmul(uint32(M,K) A, uint32(N,K) B) -> (C) {
    C(m,n) +=! 32 - 2 * int32((e * uint32(16843009)) >> 24) where
        x = A(m,k) ^ B(n,k),
        c = x - ((x >> 1) & uint32(1431655765)),
        d = (c & uint32(858993459)) + ((c >> 2) & uint32(858993459)),
        e = (d + (d >> 4)) & uint32(252645135)
}
""",
        (sizes(M=256, N=256, K=32), sizes(M=13, N=7, K=5)),
    ),
)
