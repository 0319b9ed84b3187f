"""Elementwise kernels and gated units."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "bias_relu",
        "Bias and rectifier.\n\nY[m,n] = max(X[m,n] + b[n], 0)",
        """
def bias_relu<T>(T(M,N) X, T(N) b) -> (Y) {
    Y(m,n) = max(X(m,n) + b(n), 0)
}
""",
        (sizes(M=4096, N=1024), sizes(M=61, N=257)),
    ),
    Entry(
        "bias_gelu",
        "Bias and Gaussian error linear unit (Hendrycks and Gimpel, 2016).\n\nY[m,n] = x Φ(x) with x = X[m,n] + b[n]",
        """
def bias_gelu<T>(T(M,N) X, T(N) b) -> (Y) {
    Y(m,n) = 0.5 * x * (1.0 + erf(x * 0.7071067811865476)) where x = X(m,n) + b(n)
}
""",
        (sizes(M=4096, N=1024), sizes(M=61, N=257)),
    ),
    Entry(
        "gelu_tanh",
        "The tanh approximation of the Gaussian error linear unit.\n\nY = x/2 (1 + tanh(sqrt(2/π) (x + 0.044715 x³)))",
        """
def gelu_tanh<T>(T(N) X) -> (Y) {
    Y(i) = 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))) where x = X(i)
}
""",
        (sizes(N=1 << 22), sizes(N=1009)),
    ),
    Entry(
        "leaky_relu",
        "Rectifier with a slope for negative values.\n\nY = x > 0 ? x : slope · x",
        """
def leaky_relu<T>(T(N) X, T slope) -> (Y) {
    Y(i) = X(i) > 0 ? X(i) : slope * X(i)
}
""",
        (sizes(N=1 << 22), sizes(N=1009)),
        values={"slope": (0.01, 0.3)},
    ),
    Entry(
        "softplus",
        "Smooth rectifier, without overflow.\n\nY = log(1 + exp x)",
        """
def softplus<T>(T(N) X) -> (Y) {
    Y(i) = max(X(i), 0) + log1p(exp(-fabs(X(i))))
}
""",
        (sizes(N=1 << 22), sizes(N=1009)),
    ),
    Entry(
        "swiglu",
        "Gated linear unit with the swish gate (Shazeer, 2020).\n\n"
        "Y[m,n] = swish(Σ_k X[m,k] V[n,k]) · Σ_k X[m,k] W[n,k]",
        """
def swiglu<T>(T(M,K) X, T(N,K) V, T(N,K) W) -> (Y) {
    G(m,n) +=! X(m,k) * V(n,k)
    U(m,n) +=! X(m,k) * W(n,k)
    Y(m,n) = G(m,n) * sigmoid(G(m,n)) * U(m,n)
}
""",
        (sizes(M=256, N=1024, K=512), sizes(M=13, N=17, K=19)),
    ),
    Entry(
        "dropout",
        "Dropout with a given mask.\n\nY[i] = mask[i] ? X[i] / (1 - p) : 0",
        """
def dropout<T>(T(N) X, bool(N) mask, T p) -> (Y) {
    Y(i) = mask(i) ? X(i) / (1.0 - p) : 0
}
""",
        (sizes(N=1 << 22), sizes(N=1009)),
        values={"p": (0.1, 0.6)},
    ),
    Entry(
        "residual",
        "A scaled branch added to its input, then a rectifier.\n\nY[m,n] = max(X[m,n] + s[n] R[m,n], 0)",
        """
def residual<T>(T(M,N) X, T(M,N) R, T(N) s) -> (Y) {
    Y(m,n) = max(X(m,n) + s(n) * R(m,n), 0)
}
""",
        (sizes(M=4096, N=1024),),
    ),
    Entry(
        "adam",
        "One step of the Adam optimiser, in place (Kingma and Ba, 2015).\n\n"
        "m ← β₁ m + (1-β₁) g,  v ← β₂ v + (1-β₂) g²,  w ← w - rate m / (sqrt(v) + ε)",
        """
def adam<T: floats>(T(N) g, T rate, T beta1, T beta2, T eps) -> (T(N) w, T(N) m, T(N) v) {
    m(i) = T(beta1 * m(i) + (1.0 - beta1) * g(i))
    v(i) = T(beta2 * v(i) + (1.0 - beta2) * g(i) * g(i))
    w(i) = T(w(i) - rate * m(i) / (sqrt(v(i)) + eps))
}
""",
        (sizes(N=1 << 22), sizes(N=1009)),
        values={
            "rate": (0.001, 0.01),
            "beta1": (0.8, 0.95),
            "beta2": (0.9, 0.999),
            "eps": (1e-5, 1e-3),
            "v": (0.1, 1.0),
        },
    ),
)
