"""Selection: the largest, the k largest, the nearest, the order."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ARGMAX = """
monoid argmax_pair<T>(T value, int32 index) {
    identity (-inf, 2147483647)
    combine (v, i), (w, j) -> (first ? v : w, first ? i : j)
        where first = v > w || (v == w && i < j)
}
"""
ARGMIN = """
monoid argmin_pair<T>(T value, int32 index) {
    identity (inf, 2147483647)
    combine (v, i), (w, j) -> (first ? v : w, first ? i : j)
        where first = v < w || (v == w && i < j)
}
"""

ENTRIES = (
    Entry(
        "argmax",
        "Largest value of each row and the first place where it stands.\n\nV[m] = max_n A[m,n] = A[m, I[m]]",
        ARGMAX
        + """
def argmax<T>(T(M,N) A) -> (V, I) {
    (V(m), I(m)) argmax_pair=! (A(m,n), n)
}
""",
        (sizes(M=1024, N=1024), sizes(M=7, N=101)),
    ),
    Entry(
        "argmin",
        "Smallest value of each row and the first place where it stands.\n\nV[m] = min_n A[m,n] = A[m, I[m]]",
        ARGMIN
        + """
def argmin<T>(T(M,N) A) -> (V, I) {
    (V(m), I(m)) argmin_pair=! (A(m,n), n)
}
""",
        (sizes(M=1024, N=1024), sizes(M=7, N=101)),
    ),
    Entry(
        "top_two",
        "The two largest values of each row, in one pass.\n\nA1[m] ≥ A2[m] ≥ every other A[m,n]",
        """
monoid two<T>(T first, T second) {
    identity (-inf, -inf)
    combine (a, b), (c, d) -> (max(a, c), max(min(a, c), max(b, d)))
}

def top_two<T>(T(M,N) A) -> (A1, A2) {
    (A1(m), A2(m)) two=! (A(m,n), -inf)
}
""",
        (sizes(M=1024, N=1024), sizes(M=7, N=101)),
    ),
    Entry(
        "top_k",
        "The k largest values of each row and their places, in descending order.\n\n"
        "k times the largest of what is left",
        """
monoid best_left<T>(int8 left, T value, int32 index) {
    identity (0, -inf, 2147483647)
    combine (a, v, i), (b, w, j) -> (first ? a : b, first ? v : w, first ? i : j)
        where first = a > b || (a == b && (v > w || (v == w && i < j)))
}

def top_k<T>(T(M,N) A, int32 k) -> (V, I) {
    left(m,n) = int8(1) where m in 0:M, n in 0:N
    for r in 0:k {
        (any(m,r), V(m,r), I(m,r)) best_left=! (left(m,n), A(m,n), n)
        left(m,n) = n == I(m,r) ? int8(0) : left(m,n)
    }
}
""",
        (sizes(M=256, N=1024, k=8), sizes(M=7, N=31, k=5)),
    ),
    Entry(
        "nearest",
        "Index and squared distance of the nearest centre of each row.\n\nI[m] = argmin_n Σ_k (X[m,k] - C[n,k])²",
        ARGMIN
        + """
def nearest<T>(T(M,K) X, T(N,K) C) -> (V, I) {
    D(m,n) +=! d * d where d = X(m,k) - C(n,k)
    (V(m), I(m)) argmin_pair=! (D(m,n), n)
}
""",
        (sizes(M=4096, N=64, K=32), sizes(M=13, N=7, K=5)),
    ),
    Entry(
        "rank_sort",
        "Sorting by counting: every value moves to the number of values before it.\n\n"
        "S[R[i]] = X[i] with R[i] = #{j: X[j] < X[i], or equal and j < i}",
        """
def rank_sort<T>(T(N) X) -> (T(N) S, R) {
    R(i) +=! int32(X(j) < X(i) || (X(j) == X(i) && j < i)) where j in 0:N
    S(R(i)) = X(i)
}
""",
        (sizes(N=2048), sizes(N=101)),
    ),
    Entry(
        "clip_range",
        "Smallest and largest value of each row, and the row scaled to [0, 1].\n\nY = (X - lo) / (hi - lo)",
        """
def clip_range<T: floats>(T(M,N) X) -> (Y, lo, hi) {
    lo(m) min=! X(m,n)
    hi(m) max=! X(m,n)
    Y(m,n) = hi(m) > lo(m) ? (X(m,n) - lo(m)) / (hi(m) - lo(m)) : 0
}
""",
        (sizes(M=1024, N=1024), sizes(M=7, N=101)),
    ),
)
