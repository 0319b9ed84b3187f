"""`channels_last`: what moves in it, and that networks over pictures compute the same, built and interpreted."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.support import examples
from workbench.graph.optimizing import default_line
from workbench.graph.passes.convert_layout import movements
from workbench.lang import operators

OPERATORS = operators("""
def window<T: floats>(T(N,C,H,W) x, T(F,C,KH,KW) w, T(F) b, int32 s) -> (y) {
    p(n,c,h,v) = h >= 1 && h < H + 1 && v >= 1 && v < W + 1 ? x(n,c,h-1,v-1) : 0
        where n in 0:N, c in 0:C, h in 0:H+2, v in 0:W+2
    y(n,f,h,v) +=! p(n,c,s*h+kh,s*v+kw) * w(f,c,kh,kw) where h in 0:(H+2-KH)/s+1, v in 0:(W+2-KW)/s+1
    y(n,f,h,v) = y(n,f,h,v) + b(f)
}
def each<T: floats>(T(N,C,H,W) x, T(C,KH,KW) w) -> (y) {
    p(n,c,h,v) = h >= 1 && h < H + 1 && v >= 1 && v < W + 1 ? x(n,c,h-1,v-1) : 0
        where n in 0:N, c in 0:C, h in 0:H+2, v in 0:W+2
    y(n,c,h,v) +=! p(n,c,h+kh,v+kw) * w(c,kh,kw) where h in 0:H+3-KH, v in 0:W+3-KW
}
def rectified<T: floats>(T(N,C,H,W) x) -> (y) { y(n,c,h,v) = max(x(n,c,h,v), 0) }
def summed<T: floats>(T(N,C,H,W) x, T(N,C,H,W) z) -> (y) { y(n,c,h,v) = x(n,c,h,v) + z(n,c,h,v) }
def pooled<T: floats>(T(N,C,H,W) x) -> (y) {
    y(n,c,h,v) max=! x(n,c,2*h+i,2*v+j) where h in 0:H/2, v in 0:W/2, i in 0:2, j in 0:2
}
def joined<T: floats>(T(N,C,H,W) x, T(N,D,H,W) z) -> (y) {
    y(n,c,h,v) = c < C ? x(n,c,h,v) : z(n,c-C,h,v) where c in 0:C+D
}
def shuffled<T: floats>(T(N,C,H,W) x) -> (y) {
    y(n,c,h,v) = x(n,4*c+2*(h%2)+v%2,h/2,v/2) where c in 0:C/4, h in 0:2*H, v in 0:2*W
}
def averaged<T: floats>(T(N,C,H,W) x) -> (y) { y(n,c) +=! x(n,c,h,v) }
def contrast(float(C,N,H,W) x, float(F,C,3,3) w) -> (y) {
    m(c,n,h,v) = x(c,n,h,v) - 0.5 * x(c,n,h,0)
    y(f,n,h,v) +=! m(c,n,h+i,v+2*j) * w(f,c,i,j) where h in 0:H-2, v in 0:W-4
}
""")


def array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).integers(-2, 3, shape).astype(np.float32)


def agrees(before: wb.Model, after: wb.Model, *arguments: np.ndarray) -> None:
    assert wb.model(str(after), after.constants) == after
    expected, found = before.evaluate(*arguments), after.evaluate(*arguments)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * max(1, np.abs(expected).max(initial=0)))


def convolutional(size: int = 6) -> wb.Model:
    b = wb.graph.Builder()
    y = b.parameter("x", f"float32[1, 3, {size}, {size}]")
    y = b.call(OPERATORS["rectified"], b.call(OPERATORS["window"], y, array(8, 3, 3, 3), array(8), s=1))
    z = b.call(OPERATORS["rectified"], b.call(OPERATORS["each"], y, array(8, 3, 3)))
    y = b.call(OPERATORS["pooled"], b.call(OPERATORS["summed"], y, z))
    return b.model(b.call(OPERATORS["window"], y, array(4, 8, 3, 3), array(4), s=1))


def test_arrays_between_windows_stand_with_their_channels_last_and_nothing_is_moved():
    before = convolutional()
    after = before | wb.passes.channels_last()
    assert movements(after) == []
    names = [each.name for each in after.operators]
    assert {name for name in names if name.startswith("window")} == {"window_w1230_y0231", "window_x0231"}
    assert {"each_w120_x0231_y0231", "summed_x0231_y0231_z0231", "pooled_x0231_y0231"} <= {*names}
    agrees(before, after, array(1, 3, 6, 6))


def test_a_picture_with_a_border_stands_as_the_picture_does():
    text = str(convolutional() | wb.passes.channels_last())
    assert "p(n, h, v, c) = h >= 1" in text
    assert "p(n, h + kh, v + kw, c) * w(kh, kw, c)" in text


def test_what_each_window_needs_of_its_own_channel_is_read_along_memory():
    after = wb.build(convolutional(8) | wb.passes.channels_last(), threads=1)
    x = array(1, 3, 8, 8)
    np.testing.assert_allclose(after(x), convolutional(8).evaluate(x), rtol=1e-5, atol=1e-3)


def test_an_operator_of_ones_own_with_its_channels_first_takes_part():
    b = wb.graph.Builder()
    y = b.call(OPERATORS["contrast"], b.parameter("x", "float32[2, 1, 9, 12]"), array(5, 2, 3, 3))
    before = b.model(b.call(OPERATORS["contrast"], y, array(6, 5, 3, 3)))
    after = before | wb.passes.channels_last()
    assert "contrast_w1230_y1230" in {each.name for each in after.operators}
    agrees(before, after, array(2, 1, 9, 12))
    np.testing.assert_allclose(wb.build(after)(array(2, 1, 9, 12)), before.evaluate(array(2, 1, 9, 12)), rtol=1e-4)


def test_a_single_window_and_a_product_without_one_stay_as_they_are():
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[1, 3, 5, 5]")
    single = b.model(b.call(OPERATORS["window"], x, array(4, 3, 3, 3), array(4), s=1))
    assert single | wb.passes.channels_last() == single
    b = wb.graph.Builder()
    y = b.parameter("x", "float32[4, 5]")
    for at in range(3):
        y = b.call("matmul", y, array(5, 5, seed=at))
    products = b.model(y)
    assert products | wb.passes.channels_last() == products


def test_gpus_keep_their_layouts():
    assert "channels_last" not in [step.name for step in default_line(convolutional(), "cuda").parts]
    assert "channels_last" in [step.name for step in default_line(convolutional(), "c").parts]


def random_pictures(seed: int) -> wb.Model:
    """A network of windows, pools, sums, shuffles and joins in a random order; nodes may be used by several."""
    random = np.random.default_rng([seed, 5])
    b = wb.graph.Builder()
    nodes = [(b.parameter("x", "float32[2, 4, 8, 8]"), 4, 8)]
    for at in range(int(random.integers(4, 11))):
        x, channels, size = nodes[int(random.integers(max(0, len(nodes) - 3), len(nodes)))]
        name = str(random.choice(["window", "window", "each", "rectified", "pooled", "shuffled", "summed", "joined"]))
        alike = [node for node in nodes if node[1:] == (channels, size)]
        as_large = [node for node in nodes if node[2] == size]
        if name == "window":
            stride, new, k = int(random.integers(1, 3)), int(random.integers(1, 6)) * 2, int(random.choice([1, 3]))
            weights = array(new, channels, k, k, seed=at), array(new, seed=at)
            nodes.append((b.call(OPERATORS[name], x, *weights, s=stride), new, (size + 2 - k) // stride + 1))
        elif name == "each":
            nodes.append((b.call(OPERATORS[name], x, array(channels, 3, 3, seed=at)), channels, size))
        elif name == "rectified":
            nodes.append((b.call(OPERATORS[name], x), channels, size))
        elif name == "pooled" and size > 1:
            nodes.append((b.call(OPERATORS[name], x), channels, size // 2))
        elif name == "shuffled" and channels % 4 == 0 and size < 16:
            nodes.append((b.call(OPERATORS[name], x), channels // 4, 2 * size))
        elif name == "summed":
            nodes.append((b.call(OPERATORS[name], x, alike[int(random.integers(len(alike)))][0]), channels, size))
        elif name == "joined" and channels < 12:
            other = as_large[int(random.integers(len(as_large)))]
            nodes.append((b.call(OPERATORS[name], x, other[0]), channels + other[1], size))
    results = [node for node, _, _ in nodes[-2:]]
    return b.model(b.tuple(*results, b.call(OPERATORS["averaged"], results[-1])))


@pytest.mark.parametrize("seed", range(examples(quick=8, ci=30, full=500)))
def test_a_random_network_over_pictures_computes_the_same(seed):
    before = random_pictures(seed)
    after = before | wb.passes.channels_last()
    assert wb.model(str(after), after.constants) == after
    x = array(2, 4, 8, 8, seed=seed)
    for expected, found in zip(before.evaluate(x), after.evaluate(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * max(1, np.abs(expected).max(initial=0)))
