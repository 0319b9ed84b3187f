"""Operators of a line or two, of which small networks are made that are fused, here and in tests/graph/fusion."""

from __future__ import annotations

OPERATORS = """
def relu4(float(N,C,H,W) x) -> (y) { y(n,c,h,w) = max(x(n,c,h,w), 0.0) }
def add4(float(N,C,H,W) x, float(N,C,H,W) z) -> (y) { y(n,c,h,w) = x(n,c,h,w) + z(n,c,h,w) }
def add(float(M,N) x, float(M,N) z) -> (y) { y(i,j) = x(i,j) + z(i,j) }
def times(float(M,N) x, float(M,N) z) -> (y) { y(i,j) = x(i,j) * z(i,j) }
def bias(float(M,N) x, float(N) b) -> (y) { y(i,j) = x(i,j) + b(j) }
def sigma(float(M,N) x) -> (y) { y(i,j) = 1.0 / (1.0 + exp(-x(i,j))) }
def tanh2(float(M,N) x) -> (y) { y(i,j) = tanh(x(i,j)) }
def gelu2(float(M,N) x) -> (y) {
    y(i,j) = 0.5 * a * (1.0 + tanh(0.79788456 * (a + 0.044715 * a * a * a))) where a = x(i,j)
}
def linear(float(M,K) x, float(N,K) w) -> (y) { y(m,n) +=! x(m,k) * w(n,k) }
def gates(float(M,4*N) x) -> (float(M,N) i, float(M,N) f, float(M,N) g, float(M,N) o) {
    i(m,n) = x(m,n) where n in 0:N
    f(m,n) = x(m,n+N) where n in 0:N
    g(m,n) = x(m,n+2*N) where n in 0:N
    o(m,n) = x(m,n+3*N) where n in 0:N
}
def scores(float(H,T,D) q, float(H,S,D) k) -> (y) { y(h,t,s) +=! q(h,t,d) * k(h,s,d) }
def softmax3(float(H,T,S) x) -> (y) {
    top(h,t) max=! x(h,t,s)
    e(h,t,s) = exp(x(h,t,s) - top(h,t))
    total(h,t) +=! e(h,t,s)
    y(h,t,s) = e(h,t,s) / total(h,t)
}
def mixed(float(H,T,S) p, float(H,S,D) v) -> (y) { y(h,t,d) +=! p(h,t,s) * v(h,s,d) }
def mean(float(M,N) x) -> (m) { m(i) +=! x(i,j)  m(i) = m(i) / N }
def less(float(M,N) x, float(M) r) -> (y) { y(i,j) = x(i,j) - r(i) }
def square(float(M,N) x) -> (y) { y(i,j) = x(i,j) * x(i,j) }
def root(float(M) x) -> (y) { y(i) = sqrt(x(i) + 0.00001) }
def over(float(M,N) x, float(M) r) -> (y) { y(i,j) = x(i,j) / r(i) }
"""
