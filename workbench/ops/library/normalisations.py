"""Softmax and the normalisations, written as statements over rows."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "softmax",
        "Softmax of each row, computed in place in its output.\n\nY[m,n] = exp(X[m,n] - max_j X[m,j]) / Σ_j exp(...)",
        """
def softmax<T>(T(M,N) X) -> (Y) {
    top(m) max=! X(m,n)
    Y(m,n) = exp(X(m,n) - top(m))
    total(m) +=! Y(m,n)
    Y(m,n) = Y(m,n) / total(m)
}
""",
        (sizes(M=1024, N=1024), sizes(M=4096, N=257), sizes(M=7, N=50257)),
    ),
    Entry(
        "online_softmax",
        "Softmax that finds maximum and sum in one pass (Milakov and Gimelshein, 2018).\n\n"
        "(m, s) ⊕ (m', s') = (M, s e^{m-M} + s' e^{m'-M}) with M = max(m, m')",
        """
monoid log_sum<T>(T top, T total) {
    identity (-inf, 0.0)
    combine (m, s), (w, u) -> (most, s * old + u * new)
        where most = max(m, w), old = m == most ? 1.0 : exp(m - most), new = w == most ? 1.0 : exp(w - most)
}

def online_softmax<T>(T(M,N) X) -> (Y) {
    (top(m), total(m)) log_sum=! (X(m,n), 1.0)
    Y(m,n) = exp(X(m,n) - top(m)) / total(m)
}
""",
        (sizes(M=1024, N=1024), sizes(M=37, N=1001)),
    ),
    Entry(
        "log_softmax",
        "Logarithm of the softmax of each row.\n\nY[m,n] = X[m,n] - max_j X[m,j] - log Σ_j exp(X[m,j] - max)",
        """
def log_softmax<T>(T(M,N) X) -> (Y) {
    top(m) max=! X(m,n)
    total(m) +=! exp(X(m,n) - top(m))
    shift(m) = top(m) + log(total(m))
    Y(m,n) = X(m,n) - shift(m)
}
""",
        (sizes(M=1024, N=1024), sizes(M=7, N=50257)),
    ),
    Entry(
        "log_sum_exp",
        "Logarithm of the sum of exponentials of each row, without overflow.\n\ny[m] = log Σ_n exp(X[m,n])",
        """
def log_sum_exp<T>(T(M,N) X) -> (y) {
    top(m) max=! X(m,n)
    total(m) +=! exp(X(m,n) - top(m))
    y(m) = top(m) + log(total(m))
}
""",
        (sizes(M=1024, N=1024), sizes(M=37, N=1001)),
    ),
    Entry(
        "layer_norm",
        "Normalisation of each row to mean 0 and variance 1, then an affine map (Ba et al., 2016).\n\n"
        "Y[m,n] = γ[n] (X[m,n] - μ[m]) / sqrt(σ²[m] + ε) + β[n]",
        """
def layer_norm<T: floats>(T(M,N) X, T(N) gamma, T(N) beta, T eps) -> (Y) {
    total(m) +=! X(m,n)
    square(m) +=! d * d where d = X(m,n) - total(m) / N
    Y(m,n) = gamma(n) * ((X(m,n) - total(m) / N) * rsqrt(square(m) / N + eps)) + beta(n)
}
""",
        (sizes(M=4096, N=1024), sizes(M=512, N=768), sizes(M=61, N=257)),
        values={"eps": (1e-5, 1e-3)},
    ),
    Entry(
        "rms_norm",
        "Division of each row by its root mean square (Zhang and Sennrich, 2019).\n\n"
        "Y[m,n] = γ[n] X[m,n] / sqrt(Σ_j X[m,j]² / N + ε)",
        """
def rms_norm<T: floats>(T(M,N) X, T(N) gamma, T eps) -> (Y) {
    square(m) +=! X(m,n) * X(m,n)
    Y(m,n) = gamma(n) * (X(m,n) * rsqrt(square(m) / N + eps))
}
""",
        (sizes(M=4096, N=1024), sizes(M=61, N=257)),
        values={"eps": (1e-5, 1e-3)},
    ),
    Entry(
        "batch_norm",
        "Normalisation of each channel by the statistics of the batch (Ioffe and Szegedy, 2015).\n\n"
        "Y[n,c,y,x] = γ[c] (X[n,c,y,x] - μ[c]) / sqrt(σ²[c] + ε) + β[c]",
        """
def batch_norm<T: floats>(T(N,C,H,W) X, T(C) gamma, T(C) beta, T eps) -> (Y, mean, variance) {
    mean(c) +=! X(n,c,h,w)
    mean(c) = mean(c) / (N * H * W)
    variance(c) +=! d * d where d = X(n,c,h,w) - mean(c)
    variance(c) = variance(c) / (N * H * W)
    Y(n,c,h,w) = gamma(c) * ((X(n,c,h,w) - mean(c)) * rsqrt(variance(c) + eps)) + beta(c)
}
""",
        (sizes(N=32, C=64, H=28, W=28), sizes(N=3, C=5, H=7, W=11)),
        values={"eps": (1e-5, 1e-3)},
    ),
    Entry(
        "batch_norm_inference",
        "Normalisation of each channel by given statistics.\n\n"
        "Y[n,c,y,x] = γ[c] (X[n,c,y,x] - mean[c]) / sqrt(variance[c] + ε) + β[c]",
        """
def batch_norm_inference<T>(T(N,C,H,W) X, T(C) mean, T(C) variance, T(C) gamma, T(C) beta, T eps) -> (Y) {
    scale(c) = gamma(c) * rsqrt(variance(c) + eps)
    Y(n,c,h,w) = (X(n,c,h,w) - mean(c)) * scale(c) + beta(c)
}
""",
        (sizes(N=32, C=64, H=56, W=56), sizes(N=3, C=5, H=7, W=11)),
        values={"variance": (0.1, 2.0), "eps": (1e-5, 1e-3)},
    ),
    Entry(
        "group_norm",
        "Normalisation of groups of channels (Wu and He, 2018).\n\n"
        "Y[n,g,d,y,x] = γ[g,d] (X[n,g,d,y,x] - μ[n,g]) / sqrt(σ²[n,g] + ε) + β[g,d]",
        """
def group_norm<T: floats>(T(N,G,D,H,W) X, T(G,D) gamma, T(G,D) beta, T eps) -> (Y) {
    total(n,g) +=! X(n,g,d,h,w)
    mean(n,g) = total(n,g) / (D * H * W)
    square(n,g) +=! c * c where c = X(n,g,d,h,w) - mean(n,g)
    scale(n,g) = rsqrt(square(n,g) / (D * H * W) + eps)
    Y(n,g,d,h,w) = gamma(g,d) * ((X(n,g,d,h,w) - mean(n,g)) * scale(n,g)) + beta(g,d)
}
""",
        (sizes(N=4, G=32, D=16, H=12, W=12), sizes(N=32, G=32, D=16, H=48, W=48)),
        values={"eps": (1e-5, 1e-3)},
    ),
    Entry(
        "instance_norm",
        "Normalisation of each channel of each picture.\n\nY[n,c,y,x] = (X[n,c,y,x] - μ[n,c]) / sqrt(σ²[n,c] + ε)",
        """
def instance_norm<T: floats>(T(N,C,H,W) X, T eps) -> (Y) {
    total(n,c) +=! X(n,c,h,w)
    square(n,c) +=! d * d where d = X(n,c,h,w) - total(n,c) / (H * W)
    Y(n,c,h,w) = (X(n,c,h,w) - total(n,c) / (H * W)) * rsqrt(square(n,c) / (H * W) + eps)
}
""",
        (sizes(N=8, C=64, H=56, W=56),),
        values={"eps": (1e-5, 1e-3)},
    ),
    Entry(
        "l2_normalise",
        "Rows scaled to length 1.\n\nY[m,n] = X[m,n] / max(sqrt(Σ_j X[m,j]²), ε)",
        """
def l2_normalise<T: floats>(T(M,N) X, T eps) -> (Y) {
    square(m) +=! X(m,n) * X(m,n)
    Y(m,n) = X(m,n) / max(sqrt(square(m)), eps)
}
""",
        (sizes(M=4096, N=512),),
        values={"eps": (1e-5, 1e-3)},
    ),
    Entry(
        "moments",
        "Mean and variance of each row in one pass (Moments of the Tensor Comprehensions benchmarks).\n\n"
        "mean[n] = Σ_k I[n,k] / K,  variance[n] = Σ_k I[n,k]² / K - mean[n]²",
        """
def moments<T: floats>(T(N,K) I) -> (mean, variance) {
    mean(n) +=! I(n,k)
    variance(n) +=! I(n,k) * I(n,k)
    mean(n) = mean(n) / K
    variance(n) = variance(n) / K - mean(n) * mean(n)
}
""",
        (sizes(N=128, K=2304), sizes(N=1024, K=36864), sizes(N=61, K=257)),
    ),
    Entry(
        "welford",
        "Mean and variance of each row in one stable pass (Welford, 1962; Chan et al., 1979).\n\n"
        "(n, μ, q) ⊕ (n', μ', q') = (n+n', μ + δ n'/(n+n'), q + q' + δ² n n'/(n+n')) with δ = μ' - μ",
        """
monoid spread<T>(T count, T mean, T square) {
    identity (0.0, 0.0, 0.0)
    combine (n, a, p), (k, b, q) -> (sum, a + (b - a) * part, p + q + (b - a) * (b - a) * n * part)
        where sum = n + k, part = sum == 0 ? 0.0 : k / sum
}

def welford<T>(T(M,N) X) -> (mean, variance) {
    (count(m), mean(m), square(m)) spread=! (1.0, X(m,n), 0.0)
    variance(m) = square(m) / count(m)
}
""",
        (sizes(M=1024, N=1024), sizes(M=61, N=257)),
    ),
)
