"""Gradients of windows that move in strides: dense sums by phases, whatever stride, dilation and sizes are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import workbench as wb
from tests.lang.derived.differences import Point, complaints
from workbench.lang.algebra.folding import fold
from workbench.lang.derived.text.source import walked
from workbench.lang.expr import Select, walk
from workbench.lang.operator import Statement

LINE = wb.operator("""
def line(double(C,W) I, double(F,C,K) w, int32 s, int32 d) -> (O) {
    O(f,x) +=! I(c, s*x+d*k) * w(f,c,k) where x in 0:(W-d*(K-1)-1)/s+1
}""")
# (width, places of the window), with a window of one place, one that fits once, and cells that no window reaches.
SHAPES = ((7, 1), (8, 2), (11, 3), (12, 3), (14, 4), (17, 5))
CASES = [(w, k, s, d) for (w, k), s, d in product(SHAPES, (1, 2, 3, 4, 6), (1, 2, 3, 4)) if d * (k - 1) < w]


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def sums(gradient: wb.Operator) -> list[Statement]:
    return [s for s, _ in walked(gradient.body) if s.targets[0].tensor.endswith("_phases")]


def spread(weights: np.ndarray, by: np.ndarray, width: int, s: int, d: int) -> np.ndarray:
    """Each derivative by a result, added to the cells that the result read."""
    result = np.zeros((weights.shape[1], width))
    for k in range(weights.shape[2]):
        for x in range(by.shape[1]):
            result[:, s * x + d * k] += by[:, x] @ weights[:, :, k]
    return result


def test_every_stride_and_dilation_gives_the_sum_that_the_definition_gives():
    gradient = wb.grad(LINE, "I")
    for width, k, s, d in CASES:
        weights, by = drawn(2, 3, k), drawn(2, (width - d * (k - 1) - 1) // s + 1)
        found = gradient.evaluate(drawn(3, width), weights, s, d, by)
        np.testing.assert_allclose(found, spread(weights, by, width, s, d), atol=1e-12, err_msg=f"{width, k, s, d}")


@pytest.mark.parametrize(("s", "d"), [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (2, 3), (6, 4)])
def test_compiled_it_is_what_the_oracle_says(s, d):
    gradient, weights, by = wb.grad(LINE, "I"), drawn(2, 3, 3), drawn(2, (23 - 2 * d - 1) // s + 1)
    given = (drawn(3, 23), weights, s, d, by)
    np.testing.assert_allclose(gradient(*given), gradient.evaluate(*given), atol=1e-12)


# Name → parameters, statement, sizes of the inputs that are differentiated.
ACCESSES = {
    "a picture in strides of its own": (
        "double(C,H,W) I, double(F,C,KH,KW) w, int32 a, int32 b",
        "O(f,y,x) +=! I(c, a*y+p, b*x+q) * w(f,c,p,q) where y in 0:(H-KH)/a+1, x in 0:(W-KW)/b+1",
        [drawn(2, 7, 8), drawn(2, 2, 3, 2), 2, 3],
    ),
    "a volume": (
        "double(D,H,W) I, double(A,B,E) w", "O(z,y,x) +=! I(2*z+a, 3*y+b, 2*x+e) * w(a,b,e)",
        [drawn(5, 7, 6), drawn(2, 4, 3)],
    ),
    "groups": (
        "double(G,C,W) I, double(G,F,C,K) w", "O(g,f,x) +=! I(g, c, 2*x+k) * w(g,f,c,k)",
        [drawn(2, 2, 9), drawn(2, 3, 2, 3)],
    ),
    "each channel by itself, padded": (
        "double(C,W) I, double(C,3) w",
        "O(c,x) +=! (2*x+k-1 >= 0 && 2*x+k-1 < W ? I(c,2*x+k-1) : 0) * w(c,k) where x in 0:(W+1)/2",
        [drawn(3, 8), drawn(3, 3)],
    ),
    "a window of places from 2": (
        "double(W) I, double(K) w", "O(x) +=! I(2*x+3*k+1) * w(k) where k in 2:K, x in 0:(W-3*K)/2",
        [drawn(19), drawn(4)],
    ),
    "a window from its end": (
        "double(W) I, double(K) w", "O(x) +=! I(2*x+K-1-k) * w(k) where x in 0:(W-K)/2+1", [drawn(9), drawn(3)],
    ),
    "a window from its end in steps": (
        "double(W) I, double(K) w", "O(x) +=! I(3*x-2*k+2*K) * w(k) where x in 0:(W-2*K)/3", [drawn(17), drawn(4)],
    ),
    "weights that know where they are": (
        "double(W) I, double(X,K) w", "O(x) +=! I(2*x+k) * w(x,k)", [drawn(9), drawn(4, 3)],
    ),
    "over a temporary": (
        "double(W) I, double(K) w", "z(i) = I(i) * I(i)  O(x) +=! z(3*x+k) * w(k)", [drawn(11), drawn(5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCESSES)
def test_gradients_are_what_differences_say(name):
    parameters, statement, given = ACCESSES[name]
    op = wb.operator(f"def f({parameters}) -> (O) {{ {statement} }}")
    assert complaints(Point(op, given)) == []
    found = sums(wb.grad(op))
    assert len(found) == 1, wb.grad(op).text
    assert not [node for node in walk(found[0].values[0]) if isinstance(node, Select)]


def test_a_sum_has_as_many_terms_as_the_phase_has_places():
    (found,) = sums(wb.grad(LINE, "I"))
    (place,) = [r for r in found.ranges if r.index == "k"]
    counts = [[len(range(p, k, s)) for p in range(s)] for k, s in ((3, 2), (1, 3), (5, 3))]
    said = [[fold(place.upper, {"K": k, "s": s, "i1_phase": p}) for p in range(s)] for k, s in ((3, 2), (1, 3), (5, 3))]
    assert said == counts == [[2, 1], [1, 0, 0], [2, 2, 1]]


@pytest.mark.parametrize("name", ["a picture in strides of its own", "groups", "a window from its end"])
def test_the_gradient_of_the_gradient_is_what_differences_say(name):
    parameters, statement, given = ACCESSES[name]
    op = wb.operator(f"def f({parameters}) -> (O) {{ {statement} }}")
    gradient, by = wb.grad(op, "I"), wb.grad(op, "I").parameters
    assert by[-1] == "d_O"
    result = op.evaluate(*given)
    assert complaints(Point(gradient, [*given, drawn(*result.shape)])) == []


def test_factors_of_the_cell_itself_stand_outside_of_the_sum():
    op = wb.operator("def f(double(W,W) I, double(K) w) -> (O) { O(x,y) +=! I(2*x+k, y) * w(k) * I(2*x+k, y) }")
    assert complaints(Point(op, [drawn(7, 7), drawn(3)])) == []
    assert "sum(i0_phase, i0, i1) +=! d_O(i0 - k, i1) * w(2 * k + i0_phase)" in wb.grad(op, "I").text


def test_inside_a_loop_over_time_too():
    op = wb.operator("""
    def f(double(S,9) I, double(3) w) -> (O) {
        O(i) = 0.0 * I(0,i)
        for t in 0:S {
            z(i) = I(t,i) * O(i)
            v(x) +=! (z(2*x+k) + I(t,2*x+k)) * w(k) where x in 0:4
            O(i) = v(i / 3) + I(t,i)
        }
    }""")
    assert [s.name for s in sums(wb.grad(op))] == ["d_z_phases"]
    assert complaints(Point(op, [drawn(3, 9), drawn(3)])) == []


def test_without_a_window_or_with_windows_that_do_not_overlap_there_are_no_phases():
    apart = wb.operator("def f(double(W) I, double(F,4) w) -> (O) { O(f,x) +=! I(4*x+k) * w(f,k) where x in 0:W/4 }")
    single = wb.operator("def f(double(W) I) -> (O) { O(x) = I(3*x+1) where x in 0:W/3 }")
    dense = wb.operator("def f(double(W) I, double(K) w) -> (O) { O(x) +=! I(x+2*k) * w(k) }")
    assert [sums(wb.grad(op)) for op in (apart, single, dense)] == [[], [], []]
