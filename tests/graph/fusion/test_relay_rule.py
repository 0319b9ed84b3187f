"""Relay's groups, exactly: the table of FuseOps on graphs whose groups one can tell by hand."""

from __future__ import annotations

import pytest

from workbench.graph import model
from workbench.graph.fusion.fusing import fused
from workbench.graph.fusion.patterns import OpPattern, op_pattern
from workbench.lang import operator
from workbench.ops.catalogue import load

HEAD = """
def relu2(float(M,N) x) -> (y) { y(i,j) = max(x(i,j), 0.0) }
def add2(float(M,N) x, float(M,N) z) -> (y) { y(i,j) = x(i,j) + z(i,j) }
def bias2(float(M,N) x, float(N) b) -> (y) { y(i,j) = x(i,j) + b(j) }
def turn(float(M,N) x) -> (y) { y(j,i) = x(i,j) }
def rows(float(M,N) x) -> (y) { y(i) +=! x(i,j) }
def root(float(M) x) -> (y) { y(i) = sqrt(x(i)) }
def joined(float(M,N) a, float(M,N) b) -> (float(M,2*N) y) {
    y(i,j) = a(i,j) where j in 0:N
    y(i,j) = b(i,j-N) where j in N:2*N
}
def scan(float(M,N) x) -> (float(M,N) y) { y(i,j) = x(i,j) for t in 1:M { y(t,j) = y(t-1,j) + x(t,j) } }
def put(float(M) x, int32(M) at, float(N) like) -> (float(N) y) { y(k) = 0.0 * like(k)  y(at(i)) += x(i) }
"""
IN = "x: float32[n, n], w: float32[n, n], v: float32[n, n], b: float32[n]"
# Graph → its groups of more than one call, as Relay makes them.
GRAPHS = {
    "a chain": ("relu2(add2(relu2(x), w))", ["relu2+add2+relu2"]),
    "a product and what follows it": ("relu2(bias2(matmul(x, w), b))", ["matmul+bias2+relu2"]),
    "a diamond behind a product": ("%m = matmul(x, w)\nadd2(relu2(%m), bias2(%m, b))", ["matmul+relu2+bias2+add2"]),
    "two ends behind a product": ("%m = matmul(x, w)\n(relu2(%m), bias2(%m, b))", []),
    "two products into one sum": ("add2(matmul(x, w), matmul(w, x))", ["matmul+add2"]),
    "a product that is turned": ("turn(matmul(x, w))", []),
    "what precedes a product": ("matmul(relu2(x), w)", []),
    "a reduction takes what precedes it": ("rows(relu2(x))", ["relu2+rows"]),
    "a reduction is not taken by what follows": ("root(rows(x))", []),
    "a reduction takes no transposition": ("rows(turn(x))", []),
    "a transposition takes what precedes it": ("turn(relu2(x))", ["relu2+turn"]),
    "a transposition is taken by what follows": ("relu2(turn(x))", ["turn+relu2"]),
    "softmax takes what follows it alone": ("relu2(softmax(relu2(x)))", ["softmax+relu2"]),
    "two exits": ("%r = relu2(x)\n(%r, add2(%r, w))", []),
    "joined": ("joined(relu2(x), add2(x, w))", ["relu2+add2+joined"]),
    "a recurrence": ("relu2(scan(relu2(x)))", []),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_groups_are_those_of_relay(name):
    body, expected = GRAPHS[name]
    result = fused(model(f"{HEAD}\nfn main({IN}) {{\n{body}\n}}"), rule="relay")
    assert sorted("+".join(group.names) for group in result.groups) == sorted(expected), str(result)
    assert all(cut.reason for cut in result.cuts)


def test_300_calls_in_a_row_are_two_groups_of_at_most_256():
    lines = "\n".join(f"%x{n + 1} = relu2(%x{n})" for n in range(299))
    text = f"{HEAD}\nfn main(x: float32[n, n]) {{\n%x0 = relu2(x)\n{lines}\n%x299\n}}"
    groups = fused(model(text), rule="relay").groups
    assert sum(len(group.calls) for group in groups) == 300
    assert max(len(group.calls) for group in groups) == 256


PATTERNS = {
    "softmax": "OUT_FUSABLE", "matmul": "OUT_FUSABLE", "conv2d": "OUT_FUSABLE", "depthwise_conv2d": "OUT_FUSABLE",
    "max_pool2d": "OUT_FUSABLE", "bias_relu": "BROADCAST", "gelu_tanh": "ELEMENTWISE", "transpose": "INJECTIVE",
    "layer_norm": "OUT_FUSABLE", "batch_norm_inference": "BROADCAST", "argmax": "REDUCTION",
}  # fmt: skip


@pytest.mark.parametrize("name", PATTERNS)
def test_the_class_of_an_operator_is_in_its_definition(name):
    assert op_pattern(load(name)) == OpPattern[PATTERNS[name]]


def test_an_operator_that_nobody_planned_for_has_its_class():
    mixed = operator("def f(float(N) x, int32(M) at) -> (y) { y(i) = x(at(i)) * 2.0 }")
    scattered = operator("def f(float(M) x, int32(M) at, float(N) l) -> (float(N) y) { y(k) = l(k)  y(at(i)) += x(i) }")
    weighted = operator("def f(float(M,N) x, float(M,N) w) -> (y) { y(i) +=! x(i,j) * w(i,j) }")
    assert [op_pattern(each).name for each in (mixed, scattered, weighted)] == ["INJECTIVE", "OPAQUE", "REDUCTION"]
