"""Cheap values are computed again in each group that reads them, where that moves fewer bytes."""

from __future__ import annotations

import numpy as np

import workbench as wb
from workbench.graph.fusion.footprints import Machine
from workbench.graph.fusion.recomputing import traffic

HEAD = """
def rect(float(M,N) x, float(N) b) -> (y) { y(i,j) = max(x(i,j) + b(j), 0.0) }
def warm(float(M,N) x, float(N) b) -> (y) { y(i,j) = exp(x(i,j) + b(j)) }
def linear(float(M,K) x, float(N,K) w) -> (y) { y(m,n) +=! x(m,k) * w(n,k) }
def add(float(M,N) x, float(M,N) z) -> (y) { y(i,j) = x(i,j) + z(i,j) }
def rows(float(M,N) x) -> (y) { y(i) +=! x(i,j) }
"""
RESIDUAL = """
fn main(x: float32[m, 64], b: float32[64], w: float32[64, 64]) {
    %y = rect(x, b)
    add(linear(softmax(%y), w), %y)
}"""


def arguments() -> list[np.ndarray]:
    draw = np.random.default_rng(0)
    return [draw.standard_normal(shape).astype(np.float32) for shape in ((37, 64), (64,), (64, 64))]


def test_a_short_cut_around_a_product_is_computed_again():
    model = wb.model(HEAD + RESIDUAL)
    found = wb.graph.fused(model)
    assert [group.names for group in found.groups] == [["rect", "softmax"], ["linear", "rect", "add"]]
    assert [call.function.operator.name for call in found.recomputed] == ["rect"]
    assert "y (rect) is computed again where it is read" in str(found)
    assert not any(cut.producer in found.recomputed for cut in found.cuts)
    apart = wb.graph.fused(wb.model(HEAD + RESIDUAL.replace("rect", "warm")))
    assert traffic(found.model, Machine()) < traffic(apart.model, Machine())
    given = arguments()
    expected = model.evaluate(*given)
    for mine in (found.model.evaluate(*given), wb.build(found.model)(*given)):
        np.testing.assert_allclose(mine, expected, rtol=1e-4, atol=1e-5)


def test_what_takes_long_is_computed_once():
    found = wb.graph.fused(wb.model(HEAD + RESIDUAL.replace("rect", "warm")))
    assert found.recomputed == ()
    assert found.calls == 4


def test_what_a_product_reads_is_computed_once():
    text = f"{HEAD}fn main(x: float32[m, 64], b: float32[64], w: float32[64, 64]) {{\n"
    model = wb.model(f"{text}    %y = rect(x, b)\n    (linear(%y, w), rows(%y))\n}}")
    assert wb.graph.fused(model).recomputed == ()


def test_relays_rule_computes_nothing_again():
    assert wb.graph.fused(wb.model(HEAD + RESIDUAL), rule="relay").recomputed == ()
