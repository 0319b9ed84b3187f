"""python -m bench.tuning.unseen: twenty more operators without a recipe, of other fields, tuned with 64 trials each.

They were chosen by somebody who knew neither the recipes nor what tuning does well, before any of them was tuned:
reductions over odd axes, guards, gathers and scatters, long chains, mixed ranks, recurrences, stencils in odd layouts.
What made some of the first twenty (`odd_operators.py`) slow became rules of the default recipe; these show what a tuner
finds where nobody had looked.
"""

from __future__ import annotations

import sys

from bench.tuning.campaign import main
from bench.tuning.odd_operators import Odd
from bench.tuning.without_recipe import campaign

UNSEEN = (
    Odd(
        "squared differences by lag along lines",
        "def odd(float(L,N) z, int32 H) -> (g) { g(h) +=! (z(l,i+h) - z(l,i)) * (z(l,i+h) - z(l,i)) "
        "where h in 0:H, i in 0:N-h }",
        {"L": 40, "N": 1500, "H": 32},
    ),
    Odd(
        "sharpest slice of each pixel and its depth",
        """monoid sharpest(float value, int32 index) {
            identity (-inf, 2147483647)
            combine (v, i), (w, j) -> (first ? v : w, first ? i : j)
                where first = v > w || (v == w && i < j)
        }
        def odd(float(Z,Y,X) A) -> (V, D) {
            (V(y,x), D(y,x)) sharpest=!
                (fabs(4.0 * A(z,y+1,x+1) - A(z,y,x+1) - A(z,y+2,x+1) - A(z,y+1,x) - A(z,y+1,x+2)), z)
        }""",
        {"Z": 20, "Y": 180, "X": 240},
    ),
    Odd(
        "sites at which any sequence differs from the first",
        "def odd(uint8(N,S) g) -> (V) { V(s) max=! g(n,s) != g(0,s) }",
        {"N": 150, "S": 20000},
    ),
    Odd(
        "erosion of a grey image by a disc",
        """def odd(uint8(H,W) I) -> (E) {
            E(y,x) min=! dy * dy + dx * dx <= 10 && y + dy >= 0 && y + dy < H && x + dx >= 0 && x + dx < W
                ? I(y+dy,x+dx) : uint8(255) where y in 0:H, x in 0:W, dy in -3:4, dx in -3:4
        }""",
        {"H": 200, "W": 280},
    ),
    Odd(
        "energies of charges in a periodic box with a cutoff",
        """def odd(float(N,3) X, float(N) q) -> (E) {
            E(i) +=! i != j && r < 0.25 ? q(i) * q(j) * (rsqrt(r + 0.000001) - 2.0) : 0.0 where
                dx = X(i,0) - X(j,0), dy = X(i,1) - X(j,1), dz = X(i,2) - X(j,2),
                ux = dx - round(dx), uy = dy - round(dy), uz = dz - round(dz), r = ux * ux + uy * uy + uz * uz
        }""",
        {"N": 640},
    ),
    Odd(
        "pairs in the same order less pairs in opposite order",
        "def odd(float(N) x, float(N) y) -> (int32 s) { s +=! x(i) < x(j) ^ y(i) < y(j) ? -1 : 1 "
        "where i in 0:N, j in 0:i }",
        {"N": 1800},
    ),
    Odd(
        "messages along the edges of a graph",
        "def odd(float(V,C) x, int32(E) src, int32(E) dst, float(E) w) -> (float(V,C) m) "
        "where in_range(src, 0, V), in_range(dst, 0, V) { m(dst(e),c) +=! x(src(e),c) * w(e) }",
        {"V": 12000, "C": 8, "E": 90000},
    ),
    Odd(
        "image displaced by a flow field",
        """def odd(float(H,W) I, float(H,W) u, float(H,W) v) -> (O) {
            O(y,x) = (1.0 - a) * ((1.0 - b) * I(r,c) + b * I(r,c+1)) + a * ((1.0 - b) * I(r+1,c) + b * I(r+1,c+1))
                where p = y + v(y,x), q = x + u(y,x),
                r = min(max(int32(floor(p)), 0), H - 2), c = min(max(int32(floor(q)), 0), W - 2),
                a = min(max(p - r, 0.0), 1.0), b = min(max(q - c, 0.0), 1.0)
        }""",
        {"H": 300, "W": 400},
    ),
    Odd(
        "scores of a motif at every place of many sequences",
        "def odd(int32(N,L) s, float(K,4) W) -> (S) where in_range(s, 0, 4) { S(n,p) +=! W(k,s(n,p+k)) }",
        {"N": 120, "L": 1000, "K": 14},
    ),
    Odd(
        "equalised histogram of a grey image",
        """def odd(uint8(Y,X) I) -> (int32(256) h, O) where in_range(I, 0, 256) {
            h(I(y,x)) +=! 1
            c(t) = h(t)
            for t in 1:256 { c(t) = c(t-1) + h(t) }
            O(y,x) = uint8(c(I(y,x)) * 255 / (Y * X))
        }""",
        {"Y": 480, "X": 640},
    ),
    Odd(
        "strength of corners in an image",
        """def odd(float(Y,X) I) -> (R) {
            gx(y,x) = I(y,x+2) - I(y,x) + 2.0 * (I(y+1,x+2) - I(y+1,x)) + I(y+2,x+2) - I(y+2,x)
            gy(y,x) = I(y+2,x) - I(y,x) + 2.0 * (I(y+2,x+1) - I(y,x+1)) + I(y+2,x+2) - I(y,x+2)
            a(y,x) +=! gx(y+r,x+c) * gx(y+r,x+c) where r in 0:3, c in 0:3
            b(y,x) +=! gy(y+r,x+c) * gy(y+r,x+c) where r in 0:3, c in 0:3
            d(y,x) +=! gx(y+r,x+c) * gy(y+r,x+c) where r in 0:3, c in 0:3
            R(y,x) = a(y,x) * b(y,x) - d(y,x) * d(y,x) - 0.04 * (a(y,x) + b(y,x)) * (a(y,x) + b(y,x))
        }""",
        {"Y": 200, "X": 260},
    ),
    Odd(
        "mean field of electrons from a tensor read in two orders",
        "def odd(double(N,N,N,N) E, double(N,N) D) -> (F) "
        "{ F(i,j) +=! D(k,l) * (E(i,j,k,l) - 0.5 * E(i,k,j,l)) }",
        {"N": 36},
    ),
    Odd(
        "values of options over prices, strikes and maturities",
        """def odd(float(I) S, float(J) K, float(M) T) -> (V) {
            V(i,j,m) = s * normcdf(d) - k * exp(-0.03 * t) * normcdf(d - 0.2 * sqrt(t)) where
                s = fabs(S(i)) + 1.0, k = fabs(K(j)) + 1.0, t = fabs(T(m)) + 0.1,
                d = (log(s / k) + 0.05 * t) / (0.2 * sqrt(t))
        }""",
        {"I": 40, "J": 30, "M": 20},
    ),
    Odd(
        "sums of delayed microphones for many directions",
        "def odd(float(M,T+D) x, int32(B,M) d, float(B,M) w, int32 D) -> (O) where in_range(d, 0, D) "
        "{ O(b,t) +=! x(m,t+d(b,m)) * w(b,m) where t in 0:T }",
        {"M": 12, "T": 6000, "D": 64, "B": 20},
    ),
    Odd(
        "local alignment of two sequences",
        """def odd(int32(N) a, int32(M) b, int32(A,A) S) -> (H, best) where in_range(a, 0, A), in_range(b, 0, A) {
            H(i,j) = 0 where i in 0:N+1, j in 0:M+1
            for i in 1:N+1 {
                for j in 1:M+1 {
                    H(i,j) = max(0, H(i-1,j-1) + S(a(i-1),b(j-1)), H(i-1,j) - 4, H(i,j-1) - 4)
                }
            }
            best max=! H(i,j)
        }""",
        {"N": 600, "M": 500, "A": 20},
    ),
    Odd(
        "options with early exercise on a tree of prices",
        """def odd(float(B) K, int32 N) -> (v) {
            p(k) = exp(0.02 * (k - N)) where k in 0:2*N+1
            v(b,i) = max(fabs(K(b)) - p(2*i), 0.0) where i in 0:N+1
            for t in 1:N+1 {
                v(b,i) = max(0.504 * v(b,i+1) + 0.495 * v(b,i), fabs(K(b)) - p(2*i+t)) where i in 0:N-t+1
            }
        }""",
        {"B": 20, "N": 300},
    ),
    Odd(
        "tridiagonal systems, one for each rod",
        """def odd(float(B,S) a, float(B,S) c, float(B,S) d) -> (x) {
            m(b,i) = 1.0 + fabs(a(b,i)) + fabs(c(b,i))
            u(b,i) = c(b,i) / m(b,i)
            y(b,i) = d(b,i) / m(b,i)
            for i in 1:S {
                u(b,i) = c(b,i) / (m(b,i) - a(b,i) * u(b,i-1))
                y(b,i) = (d(b,i) - a(b,i) * y(b,i-1)) / (m(b,i) - a(b,i) * u(b,i-1))
            }
            x(b,i) = y(b,i)
            for t in 1:S { x(b,S-1-t) = y(b,S-1-t) - u(b,S-1-t) * x(b,S-t) }
        }""",
        {"B": 120, "S": 500},
    ),
    Odd(
        "step of a lattice gas with its nine populations innermost",
        """def odd(float(Y,X,3,3) f, float(3) w) -> (g) {
            n(y,x) +=! f(y+2-a,x+2-b,a,b)
            u(y,x) +=! f(y+2-a,x+2-b,a,b) * (a - 1)
            v(y,x) +=! f(y+2-a,x+2-b,a,b) * (b - 1)
            g(y,x,a,b) = 0.4 * f(y+2-a,x+2-b,a,b) + 0.6 * w(a) * w(b)
                * (n(y,x) + 3.0 * e + 4.5 * e * e - 1.5 * (u(y,x) * u(y,x) + v(y,x) * v(y,x)))
                where e = (a - 1) * u(y,x) + (b - 1) * v(y,x)
        }""",
        {"Y": 114, "X": 130},
    ),
    Odd(
        "blur of an image kept in tiles of eight by eight",
        "def odd(float(P,Q,8,8) T, float(5,5) w) -> (O) { O(y,x) +=! T((y+r)/8,(x+c)/8,(y+r)%8,(x+c)%8) * w(r,c) "
        "where y in 0:8*P-4, x in 0:8*Q-4 }",
        {"P": 25, "Q": 32},
    ),
    Odd(
        "green of a mosaic of colours, along the smoother direction",
        """def odd(float(2*H,2*W) M) -> (G) {
            G(y,x) = M(y,x)
            G(2*i,2*j) = h < v
                ? 0.5 * (M(2*i,2*j-1) + M(2*i,2*j+1)) + 0.25 * p : 0.5 * (M(2*i-1,2*j) + M(2*i+1,2*j)) + 0.25 * q
                where i in 1:H-1, j in 1:W-1,
                p = 2.0 * M(2*i,2*j) - M(2*i,2*j-2) - M(2*i,2*j+2),
                q = 2.0 * M(2*i,2*j) - M(2*i-2,2*j) - M(2*i+2,2*j),
                h = fabs(M(2*i,2*j-1) - M(2*i,2*j+1)) + fabs(p), v = fabs(M(2*i-1,2*j) - M(2*i+1,2*j)) + fabs(q)
            G(2*i+1,2*j+1) = h < v
                ? 0.5 * (M(2*i+1,2*j) + M(2*i+1,2*j+2)) + 0.25 * p : 0.5 * (M(2*i,2*j+1) + M(2*i+2,2*j+1)) + 0.25 * q
                where i in 1:H-1, j in 1:W-1,
                p = 2.0 * M(2*i+1,2*j+1) - M(2*i+1,2*j-1) - M(2*i+1,2*j+3),
                q = 2.0 * M(2*i+1,2*j+1) - M(2*i-1,2*j+1) - M(2*i+3,2*j+1),
                h = fabs(M(2*i+1,2*j) - M(2*i+1,2*j+2)) + fabs(p), v = fabs(M(2*i,2*j+1) - M(2*i+2,2*j+1)) + fabs(q)
        }""",
        {"H": 240, "W": 320},
    ),
)  # fmt: skip

CAMPAIGN = campaign("unseen", "twenty operators that nobody had looked at", UNSEEN)

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN))
