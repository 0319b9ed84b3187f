"""Random networks of products, scales and branches with known weights: passes that change weights compute the same."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support import examples
from workbench.lang import operators

OPERATORS = operators("""
def product<T>(T(M,K) x, T(K,N) w) -> (y) { y(m,n) +=! x(m,k) * w(k,n) }
def linear<T>(T(M,K) x, T(N,K) w, T(N) b) -> (y) {
    y(m,n) +=! x(m,k) * w(n,k)
    y(m,n) = b(n) + y(m,n)
}
def padded(float(M,K) x, float(N,K) w) -> (float(M,N) y) {
    p(m,k) = k > 0 ? x(m,k) : 0 where k in 0:K
    y(m,n) +=! p(m,k) * w(n,k) * 0.5
}
def ended<T>(T(M,K) x, T(K,N) w, T(N) b) -> (y) {
    y(m,n) +=! x(m,k) * w(k,n)
    y(m,n) = max(y(m,n) + b(n), 0)
}
def scaled<T>(T(M,N) x, T(N) a) -> (y) { y(m,n) = x(m,n) * a(n) }
def damped<T: floats>(T(M,N) x, T(N) a, T(N) b, T(N) c) -> (y) {
    s(n) = tanh(a(n)) + 2.0
    y(m,n) = (b(n) - x(m,n)) / s(n) + c(n) * 0.5
}
def halved<T>(T(M,N) x) -> (y) { y(m,n) = 0.5 * x(m,n) - 1.0 }
def same<T>(T(M,N) x) -> (y) { y(m,n) = x(m,n) * 1.0 }
def rectified<T>(T(M,N) x) -> (y) { y(m,n) = max(x(m,n), 0) }
def summed<T>(T(M,N) x, T(M,N) y) -> (z) { z(m,n) = x(m,n) + y(m,n) }
""")
WIDTHS = (1, 3, 4)
SHAPES = {
    "product": ("kn",), "linear": ("nk", "n"), "padded": ("nk",), "ended": ("kn", "n"), "scaled": ("k",),
    "damped": ("k", "k", "k"), "halved": (), "same": (), "rectified": (),
}  # fmt: skip
WIDENING = ("product", "linear", "padded", "ended")


def random_network(seed: int) -> wb.Model:
    """A network of about a dozen calls; nodes may be used by several."""
    random = np.random.default_rng([seed, 4])
    b = wb.graph.Builder()
    nodes = [(b.parameter("x", "float32[n, 4]"), 4)]
    for _ in range(int(random.integers(3, 10))):
        x, width = nodes[int(random.integers(max(0, len(nodes) - 2), len(nodes)))]
        name = str(random.choice(list(SHAPES)))
        for _ in range(int(random.integers(1, 4)) if name in WIDENING else 1):
            new = int(random.choice(WIDTHS)) if name in WIDENING else width
            sizes = {"k": width, "n": new}
            shapes = [tuple(sizes[each] for each in shape) for shape in SHAPES[name]]
            weights = [random.standard_normal(shape).astype("float32") for shape in shapes]
            nodes.append((b.call(OPERATORS[name], x, *weights), new))
        fits = [other for other, size in nodes[:-1] if size == new]
        if fits and random.random() < 0.3:
            nodes.append((b.call(OPERATORS["summed"], nodes[-1][0], fits[int(random.integers(len(fits)))]), new))
    return b.model(b.tuple(*(node for node, _ in nodes[-4:])))


LINES = {
    "scales": wb.passes.simplify_inference(),
    "branches": wb.passes.parallel_branches(at_least=2),
    "all": wb.passes.simplify_inference() | wb.passes.parallel_branches(at_least=2) | wb.passes.simplify_inference(),
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("seed", range(examples(quick=8, ci=20, full=1000)))
def test_a_random_network_computes_the_same_with_other_weights(seed, line):
    before = random_network(seed)
    after = before | LINES[line]
    assert wb.model(str(after), after.constants) == after
    for rows in (0, 1, 5):
        x = np.random.default_rng([seed, rows]).standard_normal((rows, 4)).astype("float32")
        for a, b in zip(before.evaluate(x), after.evaluate(x), strict=True):
            assert a.dtype == b.dtype
            assert np.allclose(a, b, rtol=1e-4, atol=1e-4 * np.max(np.abs(a), initial=1.0))


def test_random_networks_have_something_to_do():
    for line in LINES.values():
        assert sum(any(each.changed for each in (random_network(seed) | line).trace) for seed in range(20)) > 5
