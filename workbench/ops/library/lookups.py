"""Tables and indices: gathers, scatters, embeddings, histograms."""

from __future__ import annotations

from workbench.ops.entry import Entry, sizes

ENTRIES = (
    Entry(
        "embedding",
        "Rows of a table.\n\nO[n,d] = T[idx[n], d]",
        """
def embedding<T>(T(V,D) table, int32(N) idx) -> (O) where in_range(idx, 0, V) {
    O(n,d) = table(idx(n),d)
}
""",
        (sizes(V=50000, D=256, N=1024), sizes(V=11, D=5, N=13)),
    ),
    Entry(
        "lookup",
        "Sum of the rows of a bag of indices (1LUT of the Tensor Comprehensions benchmarks).\n\n"
        "O[b,d] = Σ_l T[I[b,l], d]",
        """
def lookup<T>(T(E,D) table, int32(B,L) I) -> (O) where in_range(I, 0, E) {
    O(b,d) +=! table(I(b,l),d)
}
""",
        (sizes(E=1000000, D=64, B=128, L=50), sizes(E=11, D=5, B=3, L=7)),
    ),
    Entry(
        "lookup_two",
        "Two tables looked up in one kernel (2LUT of the Tensor Comprehensions benchmarks).\n\n"
        "O1[b,d] = Σ_l T1[I1[b,l], d],  O2[b,d] = Σ_l T2[I2[b,l], d]",
        """
def lookup_two<T>(T(E1,D) table1, int32(B,L1) I1, T(E2,D) table2, int32(B,L2) I2) -> (O1, O2)
    where in_range(I1, 0, E1), in_range(I2, 0, E2) {
    O1(b,d) +=! table1(I1(b,l),d)
    O2(b,d) +=! table2(I2(b,l),d)
}
""",
        (sizes(E1=1000000, E2=1000000, D=64, B=128, L1=50, L2=50), sizes(E1=11, E2=7, D=5, B=3, L1=7, L2=2)),
    ),
    Entry(
        "embedding_bag",
        "Weighted mean of the rows of a bag of indices.\n\nO[b,d] = Σ_l w[b,l] T[I[b,l], d] / Σ_l w[b,l]",
        """
def embedding_bag<T>(T(E,D) table, int32(B,L) I, T(B,L) w) -> (O) where in_range(I, 0, E) {
    total(b) +=! w(b,l)
    O(b,d) +=! table(I(b,l),d) * w(b,l)
    O(b,d) = O(b,d) / total(b)
}
""",
        (sizes(E=100000, D=64, B=128, L=50), sizes(E=11, D=5, B=3, L=7)),
        values={"w": (0.1, 1.0)},
    ),
    Entry(
        "embedding_gradient",
        "Gradient of an embedding with respect to its table: rows are added where they came from.\n\n"
        "G[idx[n], d] += D[n,d]",
        """
def embedding_gradient<T>(T(N,D) dO, int32(N) idx, int32 V) -> (T(V,D) G) where in_range(idx, 0, V) {
    G(idx(n),d) +=! dO(n,d)
}
""",
        (sizes(N=1024, D=256, V=50000), sizes(N=13, D=5, V=11)),
    ),
    Entry(
        "permute_rows",
        "Rows moved to new places by a permutation.\n\nO[p[n], d] = X[n,d]",
        """
def permute_rows<T>(T(N,D) X, int32(N) p) -> (T(N,D) O) where injective(p), in_range(p, 0, N) {
    O(p(n),d) = X(n,d)
}
""",
        (sizes(N=4096, D=256), sizes(N=13, D=5)),
    ),
    Entry(
        "segment_sum",
        "Rows summed by the segment they belong to.\n\nO[s,d] = Σ_{n: seg[n] = s} X[n,d]",
        """
def segment_sum<T>(T(N,D) X, int32(N) seg, int32 S) -> (T(S,D) O, int32(S) count)
    where in_range(seg, 0, S) {
    O(seg(n),d) +=! X(n,d)
    count(seg(n)) +=! 1
}
""",
        (sizes(N=4096, D=64, S=100), sizes(N=13, D=5, S=4)),
    ),
    Entry(
        "histogram",
        "Counts of values in equal bins; values outside are counted in the first and the last.\n\nh[bin(x[i])] += 1",
        """
def histogram<T>(T(N) x, T lowest, T width, int32 bins) -> (int32(bins) h) {
    bin(i) = int32(max(min(floor((x(i) - lowest) / width), bins - 1), 0))
    h(bin(i)) +=! 1
}
""",
        (sizes(N=1 << 20, bins=64), sizes(N=101, bins=7)),
        values={"lowest": (-2.5, -1.5), "width": (0.1, 0.5)},
    ),
    Entry(
        "one_hot",
        "Rows with a single 1.\n\nO[n,c] = (label[n] == c)",
        """
def one_hot(int32(N) label, int32 C) -> (O) {
    O(n,c) = float(c == label(n)) where c in 0:C
}
""",
        (sizes(N=4096, C=1000), sizes(N=13, C=7)),
        values={"label": (0, 6)},
    ),
    Entry(
        "sparse_matvec",
        "Sparse matrix in padded rows (ELLPACK) times vector; a negative column means nothing.\n\n"
        "y[m] = Σ_j A[m,j] x[col[m,j]]",
        """
def sparse_matvec<T>(T(M,L) A, int32(M,L) col, T(N) x) -> (y) {
    y(m) +=! col(m,j) >= 0 ? A(m,j) * x(col(m,j)) : 0
}
""",
        (sizes(M=10000, L=16, N=10000), sizes(M=11, L=5, N=13)),
    ),
)
