"""Operators that the schedule and code tests share: small, and unlike one another."""

MATMUL = """
def matmul(float(M,K) A, float(K,N) B) -> (C) {
    C(m,n) +=! A(m,k) * B(k,n)
}"""

SOFTMAX = """
def softmax(float(M,N) X) -> (Y) {
    top(m) max=! X(m,n)
    Y(m,n) = exp(X(m,n) - top(m))
    total(m) +=! Y(m,n)
    Y(m,n) = Y(m,n) / total(m)
}"""

SEIDEL = """
def seidel(float(N,N) A0) -> (A) {
    A(i,j) = A0(i,j)
    for t in 0:4 {
        A(i,j) = 0.25 * (A(i-1,j) + A(i,j-1) + A(i+1,j) + A(i,j+1)) where i in 1:N-1, j in 1:N-1
    }
}"""

CONVOLUTION = """
def convolution(float(N,C,H,W) I, float(F,C,KH,KW) K) -> (O) {
    O(n,f,h,w) +=! I(n,c,h+kh,w+kw) * K(f,c,kh,kw)
}"""

LOOKUP = """
def lookup(float(E,D) T, int32(B,L) I) -> (O) {
    O(b,d) +=! T(I(b,l), d)
}"""

TRIANGLE = """
def triangle(float(M,M) A, float(M,N) B) -> (float(M,N) C) {
    C(i,j) +=! A(k,i) * B(k,j) where k in i+1:M
}"""

ARGMAX = """
monoid best(float value, int32 index) {
    identity (-inf, 2147483647)
    combine (v, i), (w, j) -> (first ? v : w, first ? i : j) where first = v > w || (v == w && i < j)
}

def row_argmax(float(M,N) A) -> (V, I) {
    (V(m), I(m)) best=! (A(m,n), n)
}"""

TRANSPOSE = """
def transpose(float(M,N) A) -> (B) {
    B(n,m) = A(m,n)
}"""

EVERY: dict[str, tuple[str, dict[str, int]]] = {
    "matmul": (MATMUL, {"M": 19, "N": 37, "K": 11}),
    "softmax": (SOFTMAX, {"M": 5, "N": 41}),
    "seidel": (SEIDEL, {"N": 9}),
    "convolution": (CONVOLUTION, {"N": 1, "C": 3, "H": 9, "W": 21, "F": 5, "KH": 3, "KW": 2}),
    "lookup": (LOOKUP, {"E": 7, "D": 19, "B": 3, "L": 4}),
    "triangle": (TRIANGLE, {"M": 13, "N": 18}),
    "argmax": (ARGMAX, {"M": 4, "N": 35}),
    "transpose": (TRANSPOSE, {"M": 17, "N": 21}),
}
