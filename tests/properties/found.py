"""Programs that once went wrong, each the smallest that did, with what was wrong."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Found:
    """A program, sizes, and the steps (as Python) that are tried besides the usual schedules.

    `data` holds what inputs must contain, where small random integers will not do.
    """

    text: str
    sizes: dict[str, int] = field(default_factory=dict)
    steps: str = ""
    data: dict[str, list[int]] = field(default_factory=dict)


FOUND = {
    "a statement without instances vanished from isl's schedule": Found(
        "def f(float(N) X) -> (A, B)"
        " { A(i) = X(i)  B(i) = A(i)  B(i) += X(i) * j where i in 0:N, j in i + 1:1 }",
        {"N": 3},
    ),
    "isl found nothing left to carry": Found(
        "def f(float(M + 6) X) -> (T, S) { T(M - 2 - j, k) max=! X(j+1) where j in -1:M, k in 0:3"
        "  T(n, p) += T(q, 0) where p in 0:2  S(i, k) = X(i) where i in 0:3, k in -1:M }",
        {"M": 3},
    ),
    "lanes of a blocked reduction left the loop that bounds the block": Found(
        "def f(float(N,K) X) -> (T) { T(i) min=! X(i,k) + k }",
        {"N": 3, "K": 37},
        "decompose_reduction('T') | split('k', 2) | vectorize('k_o')",
    ),
    "cells of a temporary that nothing writes were not 0": Found(
        "def f(float(N) X) -> (B) { A(2*i + 1) = X(i)  B(i) = A(i) + 1 where i in 1:2*N }",
        {"N": 9},
    ),
    "cells beside a scatter were not 0 for the update that follows": Found(
        "def f(float(N) X, int32(N) J) -> (float(5) A) where in_range(J, 0, 5)"
        " { A(J(i)) = X(i)  A(i) += 2 where i in 0:5 }",
        {"N": 3},
        data={"J": [1, 1, 3]},
    ),
    "a scattered cell was known by two names inside its loop": Found(
        "def f(int32(N,K) X, int32(N) J) -> (int32(5) A) where in_range(J, 0, 5) { A(J(2*i/2)) min=! X(i,k) }",
        {"N": 6, "K": 9},
        data={"J": [1, 1, 3, 0, 4, 1]},
    ),
    "every second cell was updated as if they were neighbours": Found(
        "def f(double(N) X) -> (T) { T(i,p,l) +=! X(i) * k where p in 0:2, l in 0:2, k in 0:1 }",
        {"N": 8},
        "vectorize('p') | distribute('T') | unroll('T/l')",
    ),
    "a bound that is a choice stood without parentheses": Found(
        "def f(float(N,K) X, float(M) Y) -> (A, B) { A(i,j) = X(i,j)  B(k) = Y(k) }",
        {"N": 5, "K": 2, "M": 7},
        "merge('A', 'B') | parallelize('i')",
    ),
    "isl found no order at all": Found(
        "def f(int32(1) J, float(N) X) -> (T) where in_range(J, 0, 1)"
        " { T(j,k) +=! 0 * X(j) where j in 0:N, k in 0:j + 1"
        "  for l in 1:3 { T(m,n) *= T(1,m+1) * T(n,J(0)) where m in 1:N - 1, i in 0:2 } }",
        {"N": 5},
        data={"J": [0]},
    ),
    "fusion carried nests past a statement between them": Found(
        "def f(float(M) X) -> (S, A) { S +=! X(j)  S = 2  A(k) = X(k) + 1 }",
        {"M": 17},
    ),
    "isl's rows over sizes that are bound were refused": Found(
        "def f(int32(L) J, float(M) X) -> (T) where in_range(J, 0, L) { T(j,k) = X(k) where j in 0:L"
        "  T(m,n) = T(m,J(0)) + 1 where m in 0:L, n in 0:M }",
        {"L": 5, "M": 5},
        data={"J": [3, 0, 1, 2, 4]},
    ),
    "one subscript was checked under two conditions": Found(
        "def f(float(5) X, int32(N) J) -> (O)"
        " { O(r,q) = X(J(r)) * 2 + (X(q) > 0 && q < 3 ? X(J(r)) : 0) where q in 0:4 }",
        {"N": 6},
        data={"J": [1, 1, 3, 0, 4, 1]},
    ),
    "the hull of what is computed anew lost a bound": Found(
        "def f(bfloat16(4*L + 1, L + 1) X, int32(2*N + 1) Y) -> (T, S) {"
        "  T(2*j + 1, m, p) +=! float(X(p, r)) where j in 0:N, m in 1:L, p in 0:L, j_1 in 0:L"
        "  for t in 0:L {"
        "    S(t, q, r, i) = t + r > i"
        "      ? double(q + t >= 1 && q + t <= 2*N - 1 && q >= 1 && q <= L - 1 ? T(q + t, q, t) : 0)"
        "        * (L - i >= 0 && L - i <= 2*N - 2 && 2*q + t >= 1 && 2*q + t <= L - 1 ? T(L + 1 - i, 2*q + t, q) : 0)"
        "      : (r >= 1 && r <= 2*N - 1 && r <= L - 1 ? T(r, r, q) : 1) where q in 0:L, r in 0:L - 2, i in 0:L - 1"
        "    T(j, k, t) = relu(float(Y(j))) where k in 1:L - 1 } }",
        {"L": 3, "N": 6},
        "compute_at('T', 'q', keep=True)",
    ),
    "each statement of one iteration got a loop, and a buffer, of its own": Found(
        "def f(uint64(L + 1, L + 1) X) -> (uint32(L) T) { T(j) +=! uint32(X(j, k)) where j in 0:L, k in 0:L }",
        {"L": 13},
        "affine({'T': '(j, k) -> (j, j + k)'}) | stage('X', 'k') | unroll_jam('j_1', 4) | tile(k_1=4, j_1_i=1)"
        " | reverse_compute_at('T', 'k_1_i') | arrange('T.init', 'X_local.load') | unroll('k') | split('k_1_i', 3)"
        " | fuse('k_1_o', 'j_1_i_o')",
    ),
    "padded rows are empty, and the memory for them was negative": Found(
        "def f(float(K) A) -> (B) { T(i,j,l) = A(l) * i where i in 0:K, j in 2:K, l in 0:K  B(i) +=! T(i,j,l)"
        " where j in 2:K }",
        {"K": 1},
        "storage_align('T', 1, 8) | storage_align('T', 0, 8, 3)",
    ),
    "the index into a buffer was checked against another dimension": Found(
        "def f(float(5) X, uint8(7, 3) J, int32(M) U) -> (T, float(K) S) { T(m) = U(m)"
        "  S(J(n + n, 2)) min= float(int32(X(p + p))) where n in 0:4, p in 0:3 }",
        {"M": 3, "K": 37},
        "split_reduction('n', 8) | tile({'n_o_parts': 4, 'S_rf.add/s0': 4}) | stage('J', 'p') | tile(j0=8, j1=8)",
    ),
}
