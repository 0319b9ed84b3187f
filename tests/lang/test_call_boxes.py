"""A result of a called def has the shape that the def annotates, and 0 where nothing is written."""

from __future__ import annotations

import numpy as np

from workbench.lang import operators

TEXT = """
def framed(float(N) x) -> (float(N+2) y) { y(i) = x(i-1) where i in 1:N+1 }
def doubled(float(N) x) -> (y) { y(i) = 2.0 * x(i) }
def both(float(N) x) -> (z) {
    t = framed(x)
    z = doubled(t)
}
def given(float(N) x) -> (t, z) {
    t = framed(x)
    z = doubled(t)
}
"""


def test_what_reads_an_annotated_result_sees_all_of_it():
    both, given = (operators(TEXT)[name] for name in ("both", "given"))
    x = np.array([1, -2, 3], np.float32)
    assert np.array_equal(both.evaluate(x), [0, 2, -4, 6, 0])
    framed, doubled = given.evaluate(x)
    assert np.array_equal(framed, [0, 1, -2, 3, 0])
    assert np.array_equal(doubled, 2 * framed)


def test_so_does_the_compiled_operator():
    import workbench as wb

    both = operators(TEXT)["both"]
    x = np.array([1, -2, 3], np.float32)
    assert np.array_equal(wb.build(wb.autoschedule(both, N=3))(x), [0, 2, -4, 6, 0])
