"""Twenty operators that no default recipe was written for, chosen before any of them was tuned: reductions over odd
axes, guards, gathers, long chains, mixed ranks, recurrences, stencils in odd layouts.  Data only.

Sizes are such that a call of the default takes 0.1 to 5 ms on two threads.
"""

from __future__ import annotations

import workbench as wb
from workbench.records import record


@record
class Odd:
    """An operator's text and the sizes at which it is tuned."""

    name: str
    text: str
    sizes: dict[str, int]

    @property
    def operator(self) -> wb.Operator:
        return wb.operator(self.text)


ODD = (
    Odd(
        "largest weighted magnitude of rows",
        "def odd(float(N,M) A, float(M) w) -> (R) { R(n) max=! fabs(A(n,m)) * w(m) }",
        {"N": 4000, "M": 1500},
    ),
    Odd(
        "least shifted cell of columns",
        "def odd(float(N,M) A, float(N) w) -> (R) { R(m) min=! A(n,m) + w(n) }",
        {"N": 1500, "M": 3600},
    ),
    Odd(
        "weighted squares over the middle axis",
        "def odd(float(I,J,K) A, float(J) s) -> (R) { R(i,k) +=! A(i,j,k) * A(i,j,k) * s(j) }",
        {"I": 360, "J": 80, "K": 200},
    ),
    Odd(
        "two of four axes summed with factors of other ranks",
        "def odd(float(A,C,B,D) T, float(C) v, float(B,D) u) -> (O) { O(a,b) +=! T(a,c,b,d) * v(c) * u(b,d) }",
        {"A": 40, "C": 32, "B": 48, "D": 40},
    ),
    Odd(
        "band of a product with a transposed matrix",
        "def odd(float(N,N) A, float(N,N) B) -> (O) { O(i,j) = j >= i - 8 && j <= i + 8 ? A(i,j) * B(j,i) : 0.0 }",
        {"N": 1200},
    ),
    Odd(
        "sum of what exceeds a threshold of its row",
        "def odd(float(N,M) A, float(N) t) -> (S) { S(i) +=! A(i,j) > t(i) ? A(i,j) : 0.0 }",
        {"N": 4500, "M": 1000},
    ),
    Odd(
        "rows of a sparse matrix times a vector",
        "def odd(float(V) x, int32(N,K) idx, float(N,K) w) -> (O) where in_range(idx, 0, V) "
        "{ O(i) +=! x(idx(i,k)) * w(i,k) }",
        {"N": 40000, "K": 16, "V": 40000},
    ),
    Odd(
        "columns in another order, scaled",
        "def odd(float(N,M) A, int32(M) p, float(M) s) -> (O) where in_range(p, 0, M) { O(i,j) = A(i,p(j)) * s(j) }",
        {"N": 1000, "M": 1000},
    ),
    Odd(
        "a gather through a gather",
        "def odd(float(V) x, int32(U) p, int32(N) q) -> (O) where in_range(p, 0, V), in_range(q, 0, U) "
        "{ O(i) = x(p(q(i))) }",
        {"V": 50000, "U": 50000, "N": 400000},
    ),
    Odd(
        "five stages that scale rows and sum columns",
        """def odd(float(N,M) A) -> (O) {
            top(i) max=! fabs(A(i,j))
            B(i,j) = A(i,j) / (top(i) + 1.0)
            s(i) +=! B(i,j) * B(i,j) * B(i,j) * B(i,j)
            C(i,j) = B(i,j) * rsqrt(s(i) + 1.0)
            O(j) +=! C(i,j)
        }""",
        {"N": 800, "M": 700},
    ),
    Odd(
        "bilinear form of pairs of rows",
        "def odd(float(N,I) x, float(I,J) W, float(N,J) y) -> (O) { O(n) +=! x(n,i) * W(i,j) * y(n,j) }",
        {"N": 2400, "I": 64, "J": 64},
    ),
    Odd(
        "first-order recurrence along the last axis",
        """def odd(float(B,C,S) x, float(C) a) -> (y) {
            y(b,c,t) = x(b,c,t)
            for t in 1:S { y(b,c,t) = a(c) * y(b,c,t-1) + x(b,c,t) }
        }""",
        {"B": 16, "C": 64, "S": 500},
    ),
    Odd(
        "second-order recurrence of many channels",
        """def odd(float(S,C) x, float(C) a, float(C) b) -> (y) {
            y(t,c) = x(t,c)
            for t in 2:S { y(t,c) = x(t,c) + a(c) * y(t-1,c) - b(c) * y(t-2,c) }
        }""",
        {"S": 2000, "C": 300},
    ),
    Odd(
        "best path through states",
        """def odd(float(S,J) e, float(J,J) T) -> (v) {
            v(t,j) = e(t,j)
            for t in 1:S {
                b(j) max=! v(t-1,i) + T(i,j)
                v(t,j) = b(j) + e(t,j)
            }
        }""",
        {"S": 200, "J": 64},
    ),
    Odd(
        "stencil with channels in the middle",
        """def odd(float(X,C,Y) A, float(C) w) -> (O) {
            O(x,c,y) = w(c) * A(x+1,c,y+1) + 0.2 * (A(x,c,y+1) + A(x+2,c,y+1) + A(x+1,c,y) + A(x+1,c,y+2))
        }""",
        {"X": 402, "C": 16, "Y": 258},
    ),
    Odd(
        "nine taps along the first axis",
        "def odd(float(Z,Y,X) A, float(R) w) -> (O) { O(z,y,x) +=! A(z+r,y,x) * w(r) }",
        {"Z": 168, "Y": 64, "X": 100, "R": 9},
    ),
    Odd(
        "distances of rows as sums of magnitudes",
        "def odd(float(N,D) X, float(M,D) Y) -> (O) { O(i,j) +=! fabs(X(i,d) - Y(j,d)) }",
        {"N": 300, "M": 300, "D": 64},
    ),
    Odd(
        "sums of bells around points",
        "def odd(float(N) x, float(M) y) -> (O) { O(i) +=! exp(0.0 - (x(i) - y(j)) * (x(i) - y(j))) }",
        {"N": 1000, "M": 1000},
    ),
    Odd(
        "real parts of interleaved products",
        "def odd(float(N,K2) A, float(N,K2) B, int32 K) -> (float(N,K) R) "
        "{ R(n,k) = A(n,2*k) * B(n,2*k) - A(n,2*k+1) * B(n,2*k+1) }",
        {"N": 800, "K2": 1200, "K": 600},
    ),
    Odd(
        "logarithms of sums of exponentials of columns",
        """def odd(double(N,M) A) -> (O) {
            top(j) max=! A(i,j)
            s(j) +=! exp(A(i,j) - top(j))
            O(j) = log(s(j)) + top(j)
        }""",
        {"N": 600, "M": 500},
    ),
)  # fmt: skip
