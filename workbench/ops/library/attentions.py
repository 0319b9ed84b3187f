"""Attention, written out and with an online softmax."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "attention",
        "Scaled dot-product attention (Vaswani et al., 2017).\n\nO = softmax(Q Kᵀ / sqrt(D)) V",
        """
def attention<T: floats>(T(B,M,D) Q, T(B,N,D) K, T(B,N,E) V) -> (O) {
    S(b,m,n) +=! Q(b,m,d) * K(b,n,d)
    top(b,m) max=! S(b,m,n)
    S(b,m,n) = exp((S(b,m,n) - top(b,m)) * rsqrt(D))
    total(b,m) +=! S(b,m,n)
    O(b,m,e) +=! S(b,m,n) * V(b,n,e)
    O(b,m,e) = O(b,m,e) / total(b,m)
}
""",
        (sizes(B=8, M=256, N=256, D=64, E=64), sizes(B=2, M=7, N=11, D=5, E=3)),
    ),
    Entry(
        "causal_attention",
        "Attention in which a position sees only itself and the positions before it.\n\n"
        "O[b,m] = Σ_{n ≤ m} softmax_n(Q[b,m]·K[b,n] / sqrt(D)) V[b,n]",
        """
def causal_attention<T: floats>(T(B,N,D) Q, T(B,N,D) K, T(B,N,E) V) -> (O) {
    S(b,m,n) +=! Q(b,m,d) * K(b,n,d) where n in 0:m+1
    top(b,m) max=! S(b,m,n) where n in 0:m+1
    S(b,m,n) = exp((S(b,m,n) - top(b,m)) * rsqrt(D)) where n in 0:m+1
    total(b,m) +=! S(b,m,n) where n in 0:m+1
    O(b,m,e) +=! S(b,m,n) * V(b,n,e) where n in 0:m+1
    O(b,m,e) = O(b,m,e) / total(b,m)
}
""",
        (sizes(B=8, N=256, D=64, E=64), sizes(B=2, N=11, D=5, E=3)),
    ),
    Entry(
        "online_attention",
        "Attention as one reduction over keys: maximum, sum and weighted values together "
        "(Dao et al., 2022, start from here).\n\n"
        "(m, s, o) ⊕ (m', s', o') = (M, s e^{m-M} + s' e^{m'-M}, o e^{m-M} + o' e^{m'-M})",
        """
monoid weighted<T>(T top, T total, T value) {
    identity (-inf, 0.0, 0.0)
    combine (m, s, o), (w, u, p) -> (most, s * old + u * new, o * old + p * new)
        where most = max(m, w), old = m == most ? 1.0 : exp(m - most), new = w == most ? 1.0 : exp(w - most)
}

def online_attention<T>(T(B,M,D) Q, T(B,N,D) K, T(B,N,E) V) -> (O) {
    S(b,m,n) +=! Q(b,m,d) * K(b,n,d)
    (top(b,m,e), total(b,m,e), O(b,m,e)) weighted=! (S(b,m,n) * rsqrt(D), 1.0, V(b,n,e))
    O(b,m,e) = O(b,m,e) / total(b,m,e)
}
""",
        (sizes(B=8, M=128, N=128, D=64, E=64), sizes(B=2, M=7, N=11, D=5, E=3)),
    ),
    Entry(
        "grouped_attention",
        "Attention in which G query heads share the keys and values of one head (Ainslie et al., 2023).\n\n"
        "O[b,h,g] = softmax(Q[b,h,g] K[b,h]ᵀ / sqrt(D)) V[b,h]",
        """
def grouped_attention<T: floats>(T(B,H,G,M,D) Q, T(B,H,N,D) K, T(B,H,N,E) V) -> (O) {
    S(b,h,g,m,n) +=! Q(b,h,g,m,d) * K(b,h,n,d)
    top(b,h,g,m) max=! S(b,h,g,m,n)
    S(b,h,g,m,n) = exp((S(b,h,g,m,n) - top(b,h,g,m)) * rsqrt(D))
    total(b,h,g,m) +=! S(b,h,g,m,n)
    O(b,h,g,m,e) +=! S(b,h,g,m,n) * V(b,h,n,e)
    O(b,h,g,m,e) = O(b,h,g,m,e) / total(b,h,g,m)
}
""",
        (sizes(B=1, H=4, G=4, M=128, N=128, D=64, E=64), sizes(B=2, H=2, G=3, M=5, N=7, D=3, E=4)),
    ),
    Entry(
        "rotary_embedding",
        "Rotation of pairs of features by an angle that grows with the position (Su et al., 2021).\n\n"
        "(Y[n,p,0], Y[n,p,1]) = rotation by n · base^(-p/P) of (X[n,p,0], X[n,p,1])",
        """
def rotary_embedding<T>(T(N,P,2) X, T base) -> (Y) {
    angle(n,p) = n * pow(base, -(1.0 * p) / P) where n in 0:N, p in 0:P
    c(n,p) = cos(angle(n,p))
    s(n,p) = sin(angle(n,p))
    Y(n,p,0) = X(n,p,0) * c(n,p) - X(n,p,1) * s(n,p)
    Y(n,p,1) = X(n,p,0) * s(n,p) + X(n,p,1) * c(n,p)
}
""",
        (sizes(N=2048, P=64), sizes(N=13, P=5)),
        values={"base": (100.0, 10000.0)},
    ),
)
