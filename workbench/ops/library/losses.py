"""Losses: a number for a batch, or one for each element."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "mse",
        "Mean squared error.\n\nloss = Σ_{m,n} (X[m,n] - Y[m,n])² / (M N)",
        """
def mse<T: floats>(T(M,N) X, T(M,N) Y) -> (loss) {
    loss +=! d * d where d = X(m,n) - Y(m,n)
    loss = loss / (M * N)
}
""",
        (sizes(M=1024, N=1024), sizes(M=13, N=17)),
    ),
    Entry(
        "cross_entropy",
        "Mean cross entropy of rows of logits and integer labels.\n\n"
        "loss = Σ_n (log Σ_c exp X[n,c] - X[n, label[n]]) / N",
        """
def cross_entropy<T>(T(N,C) X, int32(N) label) -> (loss) where in_range(label, 0, C) {
    top(n) max=! X(n,c)
    total(n) +=! exp(X(n,c) - top(n))
    loss +=! top(n) + log(total(n)) - X(n,label(n))
    loss = loss / N
}
""",
        (sizes(N=1024, C=1000), sizes(N=13, C=17)),
    ),
    Entry(
        "nll",
        "Weighted negative log-likelihood of integer labels, one number for each row.\n\n"
        "loss[n] = -weight[label[n]] L[n, label[n]]",
        """
def nll<T>(T(N,C) L, int32(N) label, T(C) weight) -> (loss) where in_range(label, 0, C) {
    loss(n) = -weight(label(n)) * L(n,label(n))
}
""",
        (sizes(N=4096, C=1000), sizes(N=13, C=17)),
    ),
    Entry(
        "binary_cross_entropy",
        "Mean binary cross entropy of logits, without overflow.\n\n"
        "loss = Σ_i (max(x, 0) - x y + log(1 + exp(-|x|))) / N",
        """
def binary_cross_entropy<T>(T(N) X, T(N) Y) -> (loss) {
    loss +=! max(X(i), 0) - X(i) * Y(i) + log1p(exp(-fabs(X(i))))
    loss = loss / N
}
""",
        (sizes(N=1 << 20), sizes(N=1009)),
        values={"Y": (0.0, 1.0)},
    ),
    Entry(
        "huber",
        "Huber loss of each element: quadratic near 0, linear beyond δ.\n\nloss = |d| ≤ δ ? d²/2 : δ (|d| - δ/2)",
        """
def huber<T>(T(N) X, T(N) Y, T delta) -> (loss) {
    loss(i) = e <= delta ? 0.5 * e * e : delta * (e - 0.5 * delta) where e = fabs(X(i) - Y(i))
}
""",
        (sizes(N=1 << 20), sizes(N=1009)),
        values={"delta": (0.5, 1.5)},
    ),
    Entry(
        "kl_divergence",
        "Kullback-Leibler divergence of rows of probabilities from rows of log-probabilities.\n\n"
        "loss[m] = Σ_n P[m,n] (log P[m,n] - Q[m,n])",
        """
def kl_divergence<T>(T(M,N) Q, T(M,N) P) -> (loss) {
    loss(m) +=! P(m,n) > 0 ? P(m,n) * (log(P(m,n)) - Q(m,n)) : 0
}
""",
        (sizes(M=1024, N=1024), sizes(M=13, N=17)),
        values={"P": (0.0, 1.0)},
    ),
    Entry(
        "cosine_similarity",
        "Cosine of the angle between rows.\n\ns[m] = x·y / max(|x| |y|, ε)",
        """
def cosine_similarity<T>(T(M,N) X, T(M,N) Y, T eps) -> (s) {
    xy(m) +=! X(m,n) * Y(m,n)
    xx(m) +=! X(m,n) * X(m,n)
    yy(m) +=! Y(m,n) * Y(m,n)
    s(m) = xy(m) / max(sqrt(xx(m)) * sqrt(yy(m)), eps)
}
""",
        (sizes(M=1024, N=1024), sizes(M=13, N=17)),
        values={"eps": (1e-5, 1e-3)},
    ),
    Entry(
        "hinge",
        "Multi-class hinge loss of each row with integer labels.\n\n"
        "loss[n] = Σ_{c ≠ label} max(0, 1 + X[n,c] - X[n, label[n]])",
        """
def hinge<T>(T(N,C) X, int32(N) label) -> (loss) where in_range(label, 0, C) {
    loss(n) +=! c == label(n) ? 0 : max(1.0 + X(n,c) - X(n,label(n)), 0)
}
""",
        (sizes(N=1024, C=1000), sizes(N=13, C=17)),
    ),
)
