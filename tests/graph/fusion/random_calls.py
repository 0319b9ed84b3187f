"""Random models that are one graph of calls of operators: chains, forks and joins of all sorts of definitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.graph import Builder, Model
from workbench.graph.terms.nodes import Call, Projection, Term, Tuple
from workbench.lang import operators
from workbench.lang.operator import Operator

OPERATORS: dict[str, Operator] = operators("""
monoid first_most(float v, int32 i) {
    identity (-inf, 2147483647)
    combine (v, i), (w, j) -> (a ? v : w, a ? i : j) where a = v > w || (v == w && i < j)
}
def plus<T: numbers>(T(M,N) x, T(M,N) y) -> (x_y) { x_y(i,j) = x(i,j) + y(i,j) }
def gated(float(M,N) x, float(M,N) y) -> (t) { s(i,j) = 1.0 / (1.0 + exp(-x(i,j))) t(i,j) = s(i,j) * y(i,j) + s(i,j) }
def clip(float(M,N) x) -> (y) { y(i,j) = x(i,j) > 1.0 ? 1.0 : (x(i,j) < -1.0 ? -1.0 : x(i,j)) }
def turned<T>(T(M,N) x) -> (y) { y(j,i) = x(i,j) }
def row_total(float(M,N) x) -> (s) { s(i) +=! x(i,j) }
def column_most(float(M,N) x) -> (s) { s(j) max=! x(i,j) }
def mean(float(M,N) x) -> (m) { m +=! x(i,j) m = m / (M * N) }
def less_rows(float(M,N) x, float(M) r) -> (y) { y(i,j) = x(i,j) - r(i) }
def times_columns(float(M,N) x, float(N) c) -> (y) { y(i,j) = x(i,j) * c(j) }
def scaled(float(M,N) x, float s) -> (y) { y(i,j) = x(i,j) * s }
def outer(float(M) a, float(N) b) -> (y) { y(i,j) = a(i) * b(j) }
def softmax_rows(float(M,N) x) -> (y) {
    top(i) max=! x(i,j)
    y(i,j) = exp(x(i,j) - top(i))
    total(i) +=! y(i,j)
    y(i,j) = y(i,j) / total(i)
}
def gram(float(M,N) x) -> (float(M,M) g) { g(i,k) +=! x(i,j) * x(k,j) }
def product(float(M,K) x, float(K,N) y) -> (z) { z(i,j) +=! x(i,k) * y(k,j) }
def parts(float(M,N) x) -> (low, high) {
    low(i,j) = min(x(i,j), 0.0)
    high(i,j) = x(i,j) - low(i,j)
}
def shifted(float(M,N) x) -> (float(M,N) y) { y(i,j) = j > 0 ? x(i,j-1) : 0.5 }
def framed(float(M,N) x) -> (float(M+2,N) y) { y(i,j) = x(i-1,j) where i in 1:M+1 }
def inner(float(M,N) x) -> (y) { y(i,j) = x(i+1,j) where i in 0:M-2 }
def best(float(M,N) x) -> (v, at) { (v(i), at(i)) first_most=! (x(i,j), j) }
def counted(int32(M) a) -> (float(M) b) { b(i) = float(a(i)) + 0.5 }
def picked(float(M,N) x, int32(M) at) -> (y) { y(i) = x(i,at(i)) }
def halved(float(M,N) x) -> (half(M,N) y) { y(i,j) = half(x(i,j)) }
def widened(half(M,N) x) -> (y) { y(i,j) = float(x(i,j)) * 2.0 }
def running(float(M,N) x) -> (float(M,N) y) {
    y(i,j) = x(i,j)
    for t in 1:M { y(t,j) = 0.5 * y(t-1,j) + x(t,j) }
}
def repeated(float(M,N) x, int32 step) -> (float(M,N) y) { y(i,j) = x(i,(j / step) * step) }
def flat(float(M,N) x) -> (float(M*N) y) { y(a) = x(a / N, a % N) where a in 0:M*N }
""")

MAKERS = {"turned": "turned", "row": "row_total", "column": "column_most", "scalar": "mean", "half": "halved"}


def random_calls(seed: int, size: int = 14) -> Model:
    """A graph of so many calls over two matrices of `n` rows and four columns; the same for the same seed."""
    return _Random(seed, size).model()


def random_arrays(seed: int, n: int | None = None) -> tuple[Any, ...]:
    """Two matrices for such a model; `n` is 1 to 6 where it is not given."""
    random = np.random.default_rng([seed, 1])
    rows = int(random.integers(1, 7)) if n is None else n
    return tuple(random.standard_normal((rows, 4)).astype(np.float32) for _ in range(2))


class _Random:
    """Values by what they are: matrices `[n, 4]`, their transposes, rows `[n]`, columns `[4]`, scalars, indices."""

    def __init__(self, seed: int, size: int) -> None:
        self.random, self.size = np.random.default_rng([seed, 0]), size
        self.b = Builder()
        self.pool: dict[str, list[Term]] = {
            "matrix": [self.b.parameter("x", "float32[n, 4]"), self.b.parameter("y", "float32[n, 4]")]
        }

    def model(self) -> Model:
        """All values that nothing uses, and some more, are results."""
        for _ in range(self.size):
            self.more()
        used = {each for values in self.pool.values() for v in values for each in _operands(v)}
        every = [v for values in self.pool.values() for v in values if isinstance(v, Call | Projection)]
        results = [v for v in every if v not in used or self.random.random() < 0.15]
        return self.b.model(Tuple(tuple(results)))

    def take(self, kind: str) -> Term:
        """A value of a kind, rather a late one; one is made if there is none."""
        if kind not in self.pool:
            self.two("best", "row", "index") if kind == "index" else self.call(MAKERS[kind], "matrix", gives=kind)
        values = self.pool[kind]
        return values[max(0, len(values) - 1 - int(self.random.exponential(1.5)))]

    def call(self, name: str, *kinds: str, gives: str, **sizes: int) -> None:
        """One call, its result among the values."""
        arguments = [self.take(kind) for kind in kinds]
        self.pool.setdefault(gives, []).append(self.b.call(OPERATORS[name], *arguments, **sizes))

    def two(self, name: str, *gives: str) -> None:
        """A call with two results."""
        call = self.b.call(OPERATORS[name], self.take("matrix"))
        for at, kind in enumerate(gives):
            self.pool.setdefault(kind, []).append(self.b.project(call, at))

    def more(self) -> None:
        """One more call."""
        ways = (
            ("plus", "matrix", "matrix", "matrix"), ("gated", "matrix", "matrix", "matrix"),
            ("clip", "matrix", "matrix"),
            ("turned", "matrix", "turned"), ("turned", "turned", "matrix"), ("row_total", "matrix", "row"),
            ("column_most", "matrix", "column"), ("mean", "matrix", "scalar"), ("less_rows", "matrix", "row", "matrix"),
            ("times_columns", "matrix", "column", "matrix"), ("scaled", "matrix", "scalar", "matrix"),
            ("outer", "row", "column", "matrix"), ("softmax_rows", "matrix", "matrix"),
            ("plus", "turned", "turned", "turned"),
            ("shifted", "matrix", "matrix"), ("halved", "matrix", "half"),
            ("widened", "half", "matrix"), ("running", "matrix", "matrix"), ("counted", "index", "row"),
            ("picked", "matrix", "index", "row"), ("framed", "matrix", "framed"),
            ("product", "gram", "matrix", "matrix"), ("flat", "matrix", "flat"),
        )  # fmt: skip
        name, *kinds = ways[int(self.random.integers(len(ways)))]
        match name:
            case "product":
                gram = self.b.call(OPERATORS["gram"], self.take("matrix"))
                self.pool["matrix"].append(self.b.call(OPERATORS["product"], gram, self.take("matrix")))
            case "framed":
                framed = self.b.call(OPERATORS["framed"], self.take("matrix"))
                self.pool.setdefault("framed", []).append(framed)
                self.pool["matrix"].append(self.b.call(OPERATORS["inner"], framed))
            case "clip" if self.random.random() < 0.5:
                self.two("parts", "matrix", "matrix")
            case "shifted" if self.random.random() < 0.5:
                self.call("repeated", "matrix", gives="matrix", step=2)
            case _:
                self.call(name, *kinds[:-1], gives=kinds[-1])


def _operands(value: Term) -> tuple[Term, ...]:
    """The values that a value is made of."""
    call = value.tuple if isinstance(value, Projection) else value
    return call.arguments if isinstance(call, Call) else ()
