"""Operators nobody planned for: each a text, and sizes (integer scalars too) at which to try it."""

from __future__ import annotations

TEXTS = {
    "reads ahead of what it writes": (
        "def f(float(N) X) -> (A) { A(i) = X(i)  A(i) = A(i+1) + 2 * X(i) where i in 0:N-1 }",
        {"N": 9},
    ),
    "reads behind what it writes": (
        "def f(float(N,M) X) -> (A) { A(i,j) = X(i,j)  A(i,j) = 0.5 * A(i-1,j) + X(i,j) }",
        {"N": 7, "M": 5},
    ),
    "wavefront": (
        "def f(float(N,M) X) -> (A) { A(i,j) = X(i,j)  A(i,j) = A(i-1,j) + 0.5 * A(i,j-1) - A(i-1,j+1) }",
        {"N": 5, "M": 6},
    ),
    "reverses itself": (
        "def f(float(N) X) -> (A) { A(i) = X(i)  A(i) = A(N-1-i) }",
        {"N": 8},
    ),
    "transposes itself": (
        "def f(float(N,N) X) -> (A) { A(i,j) = X(i,j)  A(i,j) = A(j,i) + 1 }",
        {"N": 5},
    ),
    "a reduction that reads its own cell": (
        "def f(float(N,K) X) -> (A) { A(i) +=! X(i,k)  A(i) += 0.1 * A(i) * X(i,k) }",
        {"N": 4, "K": 5},
    ),
    "a reduction that reads its neighbour": (
        "def f(float(N,K) X) -> (A) { A(i) +=! X(i,k)  A(i) += 0.1 * A(i-1) * X(i,k) }",
        {"N": 4, "K": 5},
    ),
    "the largest seen so far": (
        "def f(float(N,M) X) -> (A) { A(i) max=! X(i,j) where j in i:M  A(i) min= X(i,j) + 1 }",
        {"N": 5, "M": 7},
    ),
    "product over a triangle": (
        "def f(float(N,N) X) -> (A) { A(i) *=! 1 + 0.1 * X(i,j) where j in 0:i }",
        {"N": 6},
    ),
    "nested triangles": (
        "def f(float(N) X) -> (A) { A(i) +=! X(j) * X(k) where i in 0:N, j in i:N, k in j+1:N }",
        {"N": 6},
    ),
    "starts below zero": (
        "def f(float(N) X) -> (A) { A(i) = X(i+3) * 2 }",
        {"N": 6},
    ),
    "a shifted result that is read again": (
        "def f(float(N) X) -> (B) { A(i) = X(i-2)  B(i) +=! A(i+k) where i in 2:N, k in 0:2 }",
        {"N": 6},
    ),
    "guards with floor division": (
        "def f(float(N) X, int32 s) -> (A)"
        " { A(i) = i % s == 0 && i / s < N && i / s >= 0 ? X(i / s) : -1 where i in -4:3*N }",
        {"N": 5, "s": 3},
    ),
    "a guard under a guard": (
        "def f(float(N) X) -> (A) { A(i) = i > 0 ? (i < N - 1 ? X(i+1) : X(i-1)) : (i < 0 ? 7 : X(0))"
        " where i in 0-N:N }",
        {"N": 4},
    ),
    "strided writes": (
        "def f(float(N) X) -> (float(3*N) A) { A(3*i+1) = X(i)  A(3*i) = 2 * X(i) }",
        {"N": 4},
    ),
    "overlapping writes": (
        "def f(float(N) X) -> (float(N) A) { A(i/2) = X(i) where i in 0:N }",
        {"N": 7},
    ),
    "accumulation into overlapping cells": (
        "def f(float(N,K) X) -> (A) { A(i+k) +=! X(i,k) }",
        {"N": 5, "K": 3},
    ),
    "a diagonal": (
        "def f(float(N,N) X) -> (float(N,N) A) { A(i,j) = 0 where i in 0:N, j in 0:N  A(i,N-1-i) = X(i,i) }",
        {"N": 5},
    ),
    "a diagonal alone": ("def f(float(N) v) -> (D) { D(i,i) = 2 * v(i) }", {"N": 4}),
    "a diagonal of a band": ("def f(float(N,N,M) X) -> (D) { D(i,j,i) = X(i,j,i) }", {"N": 5, "M": 3}),
    "a reduction onto the diagonal sets all of it first": (
        "def f(float(N,K) X) -> (float(N,N) D) { D(i,j) = 7 where i in 0:N, j in 0:N  D(i,i) +=! X(i,k) }",
        {"N": 4, "K": 3},
    ),
    "a reduction onto one cell of a loop sets only that one": (
        "def f(float(N,K) X) -> (float(N,N) D) { D(i,j) = 7 where i in 0:N, j in 0:N"
        "  for t in 0:N { D(t,t) +=! X(t,k) } }",
        {"N": 4, "K": 3},
    ),
    "a diagonal inside a loop": (
        "def f(float(N,N) X) -> (D) { for t in 0:N { D(t,i,i,t) = X(i,t) } }",
        {"N": 3},
    ),
    "statements see earlier versions": (
        "def f(float(N) X) -> (A, B, C) { A(i) = X(i)  B(i) = A(i)  A(i) = A(i) + 1  C(i) = A(i) - B(i) }",
        {"N": 4},
    ),
    "initialised twice": (
        "def f(float(N,K) X) -> (A, B) { A(i) +=! X(i,k)  B(i) = A(i)  A(i) +=! 2 * X(i,k) }",
        {"N": 3, "K": 4},
    ),
    "time in the subscript": (
        "def f(float(N) X, int32 T) -> (A) { A(t,i) = X(i) where t in 0:1"
        "  for t in 1:T { A(t,i) = 0.5 * A(t-1,i) + t where i in 0:N } }",
        {"N": 4, "T": 5},
    ),
    "loops inside loops": (
        "def f(float(N) X, int32 T) -> (A) { A(i) = X(i)"
        " for t in 0:T { for u in 0:t { A(i) += 0.1 * X(i) * u  A(i) = A(i) * (u + 1) } } }",
        {"N": 3, "T": 4},
    ),
    "wrap-around": (
        "def f(int8(N) X) -> (A, B) { A(i) = X(i) * X(i) + X(i)  B +=! X(i) }",
        {"N": 50},
    ),
    "unsigned": (
        "def f(uint8(N) X) -> (A, B, C) { A(i) = X(i) - X(N-1-i)  B(i) = ~X(i) ^ (X(i) << uint8(3))  C *=! X(i) }",
        {"N": 12},
    ),
    "shifts": (
        "def f(int32(N) X) -> (A, B) { A(i) = X(i) << (i - 2) where i in 0:N  B(i) = X(i) >> (5 * i) }",
        {"N": 12},
    ),
    "floor division": (
        "def f(int32(N) X, int32(N) Y) -> (Q, R) { Q(i) = X(i) / (Y(i) % 5)  R(i) = X(i) % (Y(i) / 9) }",
        {"N": 40},
    ),
    "bool": (
        "def f(float(N) X) -> (A, B) { A(i) = X(i) > 0 && !(X(i) > 1) || i == 0  B +=! A(i) ? 1 : 0 }",
        {"N": 12},
    ),
    "bfloat16": (
        "def f(bfloat16(N) X) -> (A, B) { A(i) = bfloat16(X(i) * X(i) + 1)  B(i) = X(i) }",
        {"N": 12},
    ),
    "float16": (
        "def f(float16(N,K) X) -> (A) { S(i) +=! X(i,k)  A(i) = float16(S(i)) }",
        {"N": 4, "K": 20},
    ),
    "a cast to int truncates": (
        "def f(float(N) X) -> (A) { A(i) = int32(X(i) * 10) }",
        {"N": 30},
    ),
    "rank 0": ("def f(float(N) X, float a) -> (s) { s = a  s += X(i)  s = s * s }", {"N": 7}),
    "lets": (
        "def f(float(N) X) -> (A) { A(i) = c * c + b where a = X(i) + 1, b = a * a - a, c = tanh(b) }",
        {"N": 7},
    ),
    "gather": (
        "def f(float(N,M) X, int32(K) J) -> (A) where in_range(J, 0, N) { A(k,m) = X(J(k),m) + X(J(k), M-1-m) }",
        {"N": 5, "M": 3, "K": 9},
    ),
    "scatter, the last one stays": (
        "def f(float(N) X, int32(N) J) -> (float(5) A) where in_range(J, 0, 5) { A(J(i)) = X(i) }",
        {"N": 20},
    ),
    "scatter with a maximum": (
        "def f(float(N) X, int32(N) J) -> (float(5) A) where in_range(J, 0, 5) { A(J(i)) max=! X(i) }",
        {"N": 20},
    ),
    "a permutation chased": (
        "def f(int32(N) J) -> (A) where in_range(J, 0, N) { A(i) = J(i)  A(i) = A(A(i)) where i in 0:N }",
        {"N": 12},
    ),
    "a running monoid over a triangle": (
        "monoid mm(float lo, float hi) { identity (inf, -inf)"
        " combine (a, b), (c, d) -> (min(a, c), max(b, d)) }"
        "def f(float(N) X) -> (L, H) { (L(i), H(i)) mm=! (X(j), X(j)) where i in 0:N, j in 0:i }",
        {"N": 7},
    ),
    "a monoid that continues": (
        "monoid mm(float lo, float hi) { identity (inf, -inf)"
        " combine (a, b), (c, d) -> (min(a, c), max(b, d)) }"
        "def f(float(N) X) -> (L, H) { L = 0.5  H = 0.5  (L, H) mm= (X(j), X(j)) }",
        {"N": 7},
    ),
    "a monoid into scattered cells": (
        "monoid mm(float lo, float hi) { identity (inf, -inf)"
        " combine (a, b), (c, d) -> (min(a, c), max(b, d)) }"
        "def f(float(N) X, int32(N) J) -> (float(4) L, float(4) H) where in_range(J, 0, 4)"
        " { (L(J(i)), H(J(i))) mm=! (X(i), X(i)) }",
        {"N": 9},
    ),
    "a scatter that reads what it scatters to": (
        "def f(float(N) X, int32(N) J) -> (float(3) A) where in_range(J, 0, 3)"
        " { A(j) = 1 where j in 0:3  A(J(i)) += A(J(i)) * X(i) }",
        {"N": 9},
    ),
    "a reduction over an index that occurs nowhere": (
        "def f(float(N) X, float(N) Y, int32 K) -> (A) { A(i) +=! X(i) * Y(i) where k in 0:K, l in 2:K }",
        {"N": 4, "K": 7},
    ),
    "the first that is not zero": (
        "monoid first(float v) { identity (0.0) combine (a), (b) -> (a != 0 ? a : b) }"
        "def f(float(N,M) X) -> (A) { (A(i)) first=! (j >= M - 7 ? X(i,j) : 0) }",
        {"N": 11, "M": 23},
    ),
    "sums of products of three": (
        "def f(float(N,K) X, float(K,M) Y, float(M) Z) -> (A) { A(n) +=! X(n,k) * Y(k,m) * Z(m) * 0.5 }",
        {"N": 4, "K": 5, "M": 3},
    ),
    "a guarded sum of products": (
        "def f(float(N) X, float(K) W) -> (A) { A(i) +=! (i + k >= 1 && i + k < N ? X(i+k-1) : 0) * W(k) "
        "where i in 0:N }",
        {"N": 6, "K": 4},
    ),
}
