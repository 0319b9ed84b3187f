"""Benchmark kernels of Tensor Comprehensions (Vasilache et al., 2018) that no other family holds.

CONV, GCONV, 1LUT, 2LUT, Moments and GroupNorm stand with their families as `conv2d_bias`,
`group_conv2d`, `lookup`, `lookup_two`, `moments` and `group_norm`.
"""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "tmm",
        "Matrix times transposed matrix (TMM).\n\nC[m,n] = Σ_k A[m,k] B[n,k]",
        """
def tmm<T>(T(M,K) A, T(N,K) B) -> (C) {
    C(m,n) +=! A(m,k) * B(n,k)
}
""",
        (sizes(M=128, N=256, K=32), sizes(M=128, N=1024, K=1024), sizes(M=128, N=16384, K=4096)),
    ),
    Entry(
        "tbmm",
        "Batched matrix product with the second operand in the batch's own layout (TBMM).\n\n"
        "Z[b,n,k] = Σ_m X[b,n,m] Y[b,m,k]",
        """
def tbmm<T>(T(B,N,M) X, T(B,M,K) Y) -> (Z) {
    Z(b,n,k) +=! X(b,n,m) * Y(b,m,k)
}
""",
        (sizes(B=500, N=26, M=72, K=26),),
    ),
    Entry(
        "c3",
        "The large linear layer of the production model (C3).\n\nO[b,y] = Σ_x I[b,x] W[y,x]",
        """
def c3<T>(T(B,X) I, T(Y,X) W) -> (O) {
    O(b,y) +=! I(b,x) * W(y,x)
}
""",
        (sizes(B=128, X=1000, Y=1024),),
    ),
    Entry(
        "mlp1",
        "One layer of a perceptron (MLP1).\n\nO[b,n] = max(Σ_m I[b,m] W[m,n] + c[n], 0)",
        """
def mlp1<T>(T(B,M) I, T(M,N) W, T(N) c) -> (O) {
    O(b,n) +=! I(b,m) * W(m,n)
    O(b,n) = max(O(b,n) + c(n), T(0))
}
""",
        (sizes(B=128, M=2000, N=128), sizes(B=3, M=7, N=5)),
    ),
    Entry(
        "mlp3",
        "Three layers of a perceptron in one operator (MLP3).\n\nO = relu(relu(relu(I Wᵀ + b) W'ᵀ + b') W''ᵀ + b'')",
        """
def mlp3<T>(T(B,N) I, T(O,N) W1, T(O) b1, T(P,O) W2, T(P) b2, T(Q,P) W3, T(Q) b3) -> (O3) {
    O1(b,o) +=! I(b,n) * W1(o,n)
    O1(b,o) = max(O1(b,o) + b1(o), T(0))
    O2(b,p) +=! O1(b,o) * W2(p,o)
    O2(b,p) = max(O2(b,p) + b2(p), T(0))
    O3(b,q) +=! O2(b,p) * W3(q,p)
    O3(b,q) = max(O3(b,q) + b3(q), T(0))
}
""",
        (sizes(B=128, N=128, O=64, P=32, Q=2), sizes(B=3, N=11, O=7, P=5, Q=2)),
    ),
    Entry(
        "kronecker3",
        "Product with the Kronecker product of three matrices, one mode at a time (KRU).\n\n"
        "Y[m,a,b,c] = Σ_{i,j,k} X[m,i,j,k] W0[a,i] W1[b,j] W2[c,k]",
        """
def kronecker3<T>(T(M,D0,D1,D2) X, T(N0,D0) W0, T(N1,D1) W1, T(N2,D2) W2) -> (Y) {
    V(m,i,j,c) +=! X(m,i,j,k) * W2(c,k)
    U(m,i,b,c) +=! V(m,i,j,c) * W1(b,j)
    Y(m,a,b,c) +=! U(m,i,b,c) * W0(a,i)
}
""",
        (
            sizes(M=256, D0=16, D1=16, D2=16, N0=32, N1=32, N2=32),
            sizes(M=256, D0=16, D1=16, D2=16, N0=64, N1=128, N2=128),
            sizes(M=3, D0=4, D1=5, D2=3, N0=2, N1=7, N2=6),
        ),
    ),
    Entry(
        "wavenet",
        "A residual block of WaveNet with dilated causal convolutions (van den Oord et al., 2016).\n\n"
        "z = tanh(filter) σ(gate);  result = X + Wr z + br;  skip = Ws z + bs",
        """
def wavenet<T>(T(B,C,L) X, T(D,C,2) FW, T(D) FB, T(D,C,2) GW, T(D) GB,
               T(C,D) RW, T(C) RB, T(S,D) SW, T(S) SB, int32 dilation) -> (Y, skip) {
    F(b,d,t) +=! X(b,c,t) * FW(d,c,1)
    F(b,d,t) += X(b,c,t-dilation) * FW(d,c,0) where t in dilation:L
    G(b,d,t) +=! X(b,c,t) * GW(d,c,1)
    G(b,d,t) += X(b,c,t-dilation) * GW(d,c,0) where t in dilation:L
    Z(b,d,t) = tanh(F(b,d,t) + FB(d)) * sigmoid(G(b,d,t) + GB(d))
    Y(b,c,t) +=! Z(b,d,t) * RW(c,d)
    Y(b,c,t) = Y(b,c,t) + X(b,c,t) + RB(c)
    skip(b,s,t) +=! Z(b,d,t) * SW(s,d)
    skip(b,s,t) = skip(b,s,t) + SB(s)
}
""",
        (
            sizes(B=1, C=32, L=4000, D=32, S=256, dilation=1),
            sizes(B=1, C=32, L=4000, D=32, S=256, dilation=32),
            sizes(B=2, C=3, L=17, D=5, S=4, dilation=3),
        ),
    ),
)
