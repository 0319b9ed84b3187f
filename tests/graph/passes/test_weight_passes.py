"""Passes that change weights: what they prove of operators nobody planned for, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ModelError
from workbench.graph.passes.support.affine import affine_in
from workbench.graph.passes.support.channels import scaled_by, separate
from workbench.graph.passes.support.products import terms_of
from workbench.graph.passes.support.selections import selection
from workbench.graph.terms.nodes import Call
from workbench.graph.terms.walking import postorder

p = wb.passes
ODD = wb.operator("""
def odd<T: floats>(T(M,K) A, T(K,N) B, T(N) c) -> (C) {
    C(m,n) +=! A(m,k) * B(k,n) * 2.0
    C(m,n) = C(m,n) + c(n)
}""")
RESCALED = wb.operator("""
def rescaled<T: floats>(T(M,N) A, T(N) s) -> (C) {
    t(n) = exp(s(n))
    C(m,n) = (1.0 - A(m,n)) * t(n) / 3.0
}""")


def array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def names(model) -> list[str]:
    return sorted(each.name for each in model.operators)


def normalised(b, x, channels: int, seed: int = 0):
    shape = [array(channels, seed=seed + at) for at in range(4)]
    return b.call("batch_norm_inference", x, shape[0], np.abs(shape[1]) + 0.1, *shape[2:], np.float32(1e-5))


def agrees(before, after, *arguments):
    a, b = before.evaluate(*arguments), after.evaluate(*arguments)
    assert np.allclose(a, b, rtol=1e-4, atol=1e-4 * np.abs(a).max())


# --- simplify_inference


def test_batch_normalisations_go_into_convolutions():
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 4, h, w]")
    y = normalised(b, b.call("conv2d", x, array(6, 4, 3, 3), stride=1, pad=1, dilation=1), 6)
    z = normalised(b, b.call("conv2d_bias", y, array(5, 6, 3, 3), array(5)), 5, seed=9)
    before = b.model(z)
    after = before | p.simplify_inference()
    assert names(after) == ["conv2d", "conv2d_bias", "shift_4d_axis_1"]
    agrees(before, after, array(2, 4, 7, 5))


def test_scales_of_own_operators_go_into_own_operators():
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 4]")
    before = b.model(b.call(RESCALED, b.call(RESCALED, b.call(ODD, x, array(4, 5), array(5)), array(5)), array(5)))
    after = before | p.simplify_inference()
    assert names(after) == ["odd"]
    agrees(before, after, array(3, 4))


def test_a_normalisation_with_nothing_before_it_becomes_a_scale_and_a_shift():
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 4, h, w]")
    before = b.model(normalised(b, normalised(b, x, 4), 4, seed=8))
    after = before | p.simplify_inference()
    assert names(after) == ["scale_and_shift_4d_axis_1"]
    assert len(after.constants) == 2
    agrees(before, after, array(2, 4, 7, 5))


def test_what_does_nothing_vanishes():
    same = wb.operator("def same<T>(T(M,N) A) -> (C) { C(m,n) = A(m,n) * 1.0 }")
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 4]")
    assert names(b.model(b.call(same, b.call(same, x))) | p.simplify_inference()) == []


def test_weights_that_somebody_else_needs_stay():
    b = wb.graph.Builder()
    y = b.call("matmul", b.parameter("x", "float32[n, 4]"), array(4, 5))
    before = b.model(b.tuple(y, b.call(RESCALED, y, array(5))))
    assert not (before | p.simplify_inference()).trace[0].changed


def test_weights_that_are_not_known_stay():
    b = wb.graph.Builder()
    x, w = b.parameter("x", "float32[n, 4]"), b.parameter("w", "float32[4, 5]")
    before = b.model(b.call(RESCALED, b.call("matmul", x, w), array(5)))
    assert not (before | p.simplify_inference()).trace[0].changed


@pytest.mark.parametrize(
    ("body", "axes"),
    [
        ("C(m,n) = A(m,n) * s(n) + s(n)", {1}),
        ("C(m,n) = 2.0 * A(m,n) - 1.0", set()),
        ("C(m,n) = A(m,n) + A(m,n) * s(n)", {1}),
        ("C(m,n) = A(m,n) * A(m,n) * s(n)", None),
        ("C(m,n) = fabs(A(m,n)) * s(n)", None),
        ("C(m,n) = s(n) / A(m,n)", None),
        ("C(m,n) = A(m,n) > 0.0 ? A(m,n) : s(n)", None),
        ("C(m,n) = A(m,N-1-n) * s(n)", None),
        ("C(m,n) = A(m,n) * N + s(n)", None),
        ("C(m,n) = A(m,n) * n + s(n)", None),
        ("t(m) +=! A(m,n)\n C(m,n) = A(m,n) * s(n) - t(m)", None),
    ],
)
def test_what_is_affine_is_read_off_the_definition(body, axes):
    op = wb.operator(f"def f(float(M,N) A, float(N) s) -> (float(M,N) C) {{ {body} }}")
    assert affine_in(op, "A") == axes


@pytest.mark.parametrize(
    ("text", "scaled", "apart"),
    [
        ("(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", True, True),
        ("(float(M,K) A, float(N,K) B) -> (C) { t(k,n) = B(n,k)\n C(m,n) +=! A(m,k) * t(k,n) }", True, True),
        ("(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * (B(k,n) + 1.0) }", False, True),
        ("(float(M,K) A, float(K,N) B) -> (C) { C(m,n) max=! A(m,k) * B(k,n) }", False, True),
        ("(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n)\n C(m,n) = C(m,n) / N }", True, False),
        ("(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,N-1-n) }", False, False),
        ("(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) * B(k,n) }", False, True),
        ("(float(M,N) A, float(N,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", True, False),
        ("(float(M,K) A, float(K,N) B) -> (C) { s(k) +=! B(k,n)\n C(m,n) +=! A(m,k) * s(k) where n in 0:N }",
         False, False),
    ],
)  # fmt: skip
def test_which_axes_follow_weights_is_read_off_the_definition(text, scaled, apart):
    op = wb.operator(f"def f{text}")
    assert any(each.axis == 1 for each in scaled_by(op, ("B",))) == scaled
    assert any(each.axis == 1 for each in separate(op, ("B",))) == apart


# --- parallel_branches


def test_the_convolutions_of_an_inception_block_become_one():
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 4, h, w]")
    branches = [b.call("conv2d", x, array(c, 4, 1, 1), stride=1, pad=0, dilation=1) for c in (2, 3, 5, 1)]
    before = b.model(b.tuple(*branches))
    after = before | p.parallel_branches()
    assert str(after).count("= conv2d(") == 1
    assert after.constants[0].shape == (11, 4, 1, 1)
    for a, b in zip(before.evaluate(array(2, 4, 5, 6)), after.evaluate(array(2, 4, 5, 6)), strict=True):
        assert np.allclose(a, b, rtol=1e-5, atol=1e-5)


def test_branches_with_biases_and_nonlinear_ends_are_combined():
    op = wb.operator("""
def layer<T>(T(M,K) A, T(K,N) B, T(N) c) -> (C) {
    C(m,n) +=! A(m,k) * B(k,n)
    C(m,n) = max(C(m,n) + c(n), 0)
}""")
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 4]")
    before = b.model(b.tuple(*(b.call(op, x, array(4, c), array(c)) for c in (1, 2, 3))))
    after = before | p.parallel_branches()
    assert str(after).count("= layer(") == 1
    for a, b in zip(before.evaluate(array(3, 4)), after.evaluate(array(3, 4)), strict=True):
        assert np.allclose(a, b, rtol=1e-5, atol=1e-5)


def test_too_few_branches_and_those_of_two_scopes_stay():
    b = wb.graph.Builder()
    x, c = b.parameter("x", "float32[n, 4]"), b.parameter("c", "bool")
    two = b.model(b.tuple(b.call("matmul", x, array(4, 5)), b.call("matmul", x, array(4, 6))))
    assert not (two | p.parallel_branches()).trace[0].changed
    assert (two | p.parallel_branches(at_least=2)).trace[0].changed
    parted = b.model(b.condition(c, b.call("matmul", x, array(4, 5)), b.call("matmul", x, array(4, 5, seed=1))))
    assert not (parted | p.parallel_branches(at_least=2)).trace[0].changed


# --- mixed_precision


@pytest.mark.parametrize("element", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["matmul", "conv2d_bias"])
def test_the_error_of_narrower_numbers_is_within_its_bound(element, name):
    op = wb.ops.load(name)
    given = {"matmul": [array(5, 33), array(33, 7)], "conv2d_bias": [array(1, 3, 7, 6), array(4, 3, 2, 3), array(4)]}
    b = wb.graph.Builder()
    x = b.parameter("x", f"float32{list(given[name][0].shape)}")
    before = b.model(b.call(op, x, *given[name][1:]))
    step = p.mixed_precision(element)
    after = before | step
    assert after.trace[0].changed
    assert after.type_of("main").result == before.type_of("main").result
    error = np.abs(before.evaluate(given[name][0]) - after.evaluate(given[name][0]))
    most = step.bound(op) * op.evaluate(*map(np.abs, given[name]))
    assert np.all(error <= 1.001 * most)
    assert error.max() > 0


def test_definitions_over_float_are_written_over_the_narrower_type():
    op = wb.operator("def product(float(M,K) A, float(N,K) B) -> (float(M,N) C) { C(m,n) +=! A(m,k) * B(n,k) }")
    b = wb.graph.Builder()
    before = b.model(b.call(op, b.parameter("x", "float32[n, 4]"), array(5, 4)))
    after = before | p.mixed_precision()
    assert names(after) == ["product_in_bfloat16", "to_bfloat16_2d"]
    x = array(3, 4)
    error = np.abs(before.evaluate(x) - after.evaluate(x))
    assert np.all(error <= 1.001 * p.mixed_precision().bound(op) * (np.abs(x) @ np.abs(array(5, 4)).T))
    assert error.max() > 0


def test_what_is_no_sum_of_products_keeps_its_types():
    before = wb.model("fn main(x: float32[n, m]) { softmax(x) }")
    assert not (before | p.mixed_precision()).trace[0].changed
    with pytest.raises(ModelError, match="softmax is no sum of products"):
        p.mixed_precision().bound(wb.ops.load("softmax"))
    with pytest.raises(ModelError, match="did you mean 'bfloat16'"):
        p.mixed_precision("bfloat")


def test_the_terms_of_a_product_are_read_off_the_definition():
    assert terms_of(ODD) == {("A", "B"), ("c",)}
    assert terms_of(RESCALED) is None
    assert terms_of(wb.ops.load("conv2d")) == {("I", "K")}


# --- quantize


def small_network():
    b = wb.graph.Builder()
    rectify = wb.operator("def rectify4<T>(T(A,B,C,D) x) -> (y) { y(a,b,c,d) = max(x(a,b,c,d), 0) }")
    pooled = wb.operator("def pooled<T>(T(A,B,C,D) x) -> (y) { y(a,b) +=! x(a,b,c,d) }")
    x = b.parameter("x", "float32[n, 3, 8, 8]")
    y = b.call("conv2d", x, array(6, 3, 3, 3), stride=1, pad=1, dilation=1, label="first")
    y = b.call(rectify, normalised(b, y, 6))
    y = b.call("conv2d", y, array(8, 6, 3, 3), stride=2, pad=1, dilation=1, label="second")
    return b.model(b.call("matmul", b.call(pooled, b.call(rectify, y)), array(8, 10), label="last"))


def pictures(count: int, seed: int):
    """Noisy pictures of ten shapes, and which shape each is of."""
    random = np.random.default_rng([seed, 7])
    which = random.integers(10, size=count)
    shapes = np.repeat(np.repeat(array(10, 1, 4, 4, seed=5), 2, 2), 2, 3)
    return (shapes[which] + 0.9 * random.standard_normal((count, 1, 8, 8))).astype(np.float32), which


def classifier():
    """A convolutional network with random filters whose last layer is fitted by least squares."""
    flat = wb.operator("def flat<T>(T(N,C,H,W) x) -> (y) { y(n,i) = x(n, i/16, i/4%4, i%4) where i in 0:C*16 }")
    rectify = wb.operator("def rectify4<T>(T(A,B,C,D) x) -> (y) { y(a,b,c,d) = max(x(a,b,c,d), 0) }")
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 1, 8, 8]")
    y = b.call(rectify, normalised(b, b.call("conv2d", x, array(12, 1, 3, 3), stride=2, pad=1, dilation=1), 12))
    features = b.call(flat, b.call(rectify, b.call("conv2d", y, array(8, 12, 3, 3), stride=1, pad=1, dilation=1)))
    seen, which = pictures(600, 0)
    fitted = np.linalg.lstsq(b.model(features).evaluate(seen), np.eye(10)[which], rcond=1e-3)[0]
    return b.model(b.call("matmul", features, fitted.astype(np.float32)))


def test_a_network_in_integers_loses_at_most_a_point_of_accuracy():
    before = classifier() | p.simplify_inference()
    seen, _ = pictures(100, 1)
    after = before | p.quantize([(seen,)])
    assert [each for each in names(after) if each.endswith("_in_int8")] == ["conv2d_in_int8", "matmul_in_int8"]
    assert [of for _, of in floats_in(after)] == ["quantise_4d", "scale_2d_axis_1"]
    assert all(each.dtype == np.int8 for each in after.constants if each.ndim > 1)
    unseen, which = pictures(1000, 2)
    accuracy = [np.mean(each.evaluate(unseen).argmax(1) == which) for each in (before, after)]
    assert 0.8 < accuracy[0] < 1
    assert accuracy[0] - accuracy[1] <= 0.01


def floats_in(model) -> list[tuple[Any, str]]:
    """The calls that take or give tensors of floats, in order; scales are single numbers."""
    calls = [each for each in postorder(model.main) if isinstance(each, Call)]
    wide = (lambda each: model.type_of(each).element.is_float and len(model.type_of(each).dims) > 1)  # noqa: E731
    return [(c, c.function.operator.name) for c in calls if any(map(wide, (*c.arguments, c)))]


def residual_network():
    """Two blocks with sums: of what is quantised elsewhere, and of two products; pools between."""
    rectify = wb.operator("def rectify4<T>(T(A,B,C,D) x) -> (y) { y(a,b,c,d) = max(x(a,b,c,d), 0) }")
    add = wb.operator("def add4<T>(T(A,B,C,D) x, T(A,B,C,D) z) -> (y) { y(a,b,c,d) = z(a,b,c,d) + x(a,b,c,d) }")
    flat = wb.operator("def flat<T>(T(N,C,H,W) x) -> (y) { y(n,i) = x(n, i/16, i/4%4, i%4) where i in 0:C*16 }")
    b = wb.graph.Builder()

    def conv(x, out: int, into: int, seed: int):
        return b.call("conv2d", x, array(out, into, 3, 3, seed=seed) / 3, stride=1, pad=1, dilation=1)

    x = b.call(rectify, normalised(b, conv(b.parameter("x", "float32[n, 1, 8, 8]"), 6, 1, 0), 6))
    y = b.call(rectify, b.call(add, conv(b.call(rectify, conv(x, 6, 6, 1)), 6, 6, 2), x))
    z = b.call("max_pool2d", y, k=2, stride=2, pad=0)
    z = b.call(rectify, b.call(add, conv(z, 4, 6, 3), normalised(b, conv(z, 4, 6, 4), 4)))
    return b.model(b.call("matmul", b.call(flat, z), array(64, 10, seed=5)))


def test_residual_networks_compute_in_integers_from_end_to_end():
    before = residual_network() | p.simplify_inference()
    seen = array(40, 1, 8, 8, seed=1)
    after = before | p.quantize([(seen,)])
    assert [of for _, of in floats_in(after)] == ["quantise_4d", "scale_2d_axis_1"]
    assert sum(each.name.startswith("add_4d") for each in after.operators) == 2
    floats = before | p.quantize([(seen,)], integers=False)
    unseen = array(20, 1, 8, 8, seed=2)
    exact, mine, rounded = (each.evaluate(unseen) for each in (before, after, floats))
    assert np.abs(mine - exact).max() < 1.5 * np.abs(rounded - exact).max() < 0.2 * np.abs(exact).max()
    assert np.mean(mine.argmax(1) == exact.argmax(1)) >= 0.95
    assert np.array_equal(wb.build(after)(unseen), mine)


def test_fixed_point_is_the_nearest_of_what_floats_give():
    """Scales, negative factors and shifts of an operator nobody planned for."""
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 4]")
    op = wb.operator("def bent<T: floats>(T(M,N) A, T(N) s) -> (C) { C(m,n) = (0.5 - A(m,n)) * s(n) }")
    y = b.call(op, b.call("matmul", x, array(4, 5)), np.array([1, -2, 3, 0.5, -0.25], "float32"))
    before = b.model(b.call("matmul", y, np.eye(5, dtype="float32")))
    given = array(50, 4, seed=2)
    integers, floats = (before | p.quantize([given], integers=each) for each in (True, False))
    assert [of for _, of in floats_in(integers)] == ["quantise_2d", "scale_2d_axis_1"]
    assert "bent" in names(floats)
    a, c = integers.evaluate(given), floats.evaluate(given)
    steps = np.abs(before.evaluate(given)).max() / 127
    assert np.abs(a - c).max() <= 1.01 * steps
    assert np.mean(a == c) > 0.5


def test_what_only_chooses_is_known_by_its_definition():
    clipped = wb.operator("def clipped(float(N) x) -> (y) { y(i) = min(max(x(i), 0.0), 6.0) }")
    turned = wb.operator("def turned(float(M,N) x) -> (y) { y(n,m) = n > m ? x(m,n) : -inf }")
    by_value = wb.operator("def by_value(float(N) x) -> (y) { y(i) = x(i) > 0.0 ? x(i) : 0.0 }")
    assert [selection(each) is None for each in (clipped, turned, by_value)] == [True, False, True]
    narrow = selection(turned)
    assert narrow is not None
    found = narrow.evaluate(np.arange(4, dtype=np.int8).reshape(2, 2))
    assert np.array_equal(found, [[-128, -128], [1, -128]])


def test_what_is_kept_stays_in_floats():
    after = small_network() | p.quantize([(array(4, 3, 8, 8),)], keep=["first", "last"])
    assert sorted(each.name for each in after.operators if "int8" in each.name) == ["conv2d_in_int8"]
    assert "conv2d" in names(after)
    assert "matmul" in names(after)


def test_integers_are_exact_where_numbers_are_whole():
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 3]")
    w = np.array([[127, -127], [3, 5], [-9, 0]], "float32")
    before = b.model(b.call("matmul", x, w))
    given = np.array([[127, 4, -3], [1, 2, 3]], "float32")
    assert np.array_equal((before | p.quantize([given])).evaluate(given), before.evaluate(given))


def test_a_bias_is_rounded_to_the_scale_of_the_sums():
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 4]")
    op = wb.operator("""
def layer(float(M,K) A, float(N,K) B, float(N) c) -> (C) {
    C(m,n) +=! A(m,k) * B(n,k)
    C(m,n) = C(m,n) + c(n)
}""")
    before = b.model(b.call(op, x, array(5, 4), array(5)))
    given = array(30, 4, seed=3)
    after = before | p.quantize([given])
    assert names(after) == ["layer_in_int8", "quantise_2d", "scale_2d_axis_1"]
    assert sorted(each.dtype.name for each in after.constants if each.ndim) == ["float32", "int32", "int8"]
    a, c = before.evaluate(given), after.evaluate(given)
    assert 0 < np.abs(a - c).max() < 0.03 * np.abs(a).max()


def test_what_cannot_be_quantised_is_left():
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[n, 4]")
    before = b.model(b.tuple(b.call(ODD, x, array(4, 5), array(5)), b.call("softmax", x)))
    assert not (before | p.quantize([array(2, 4)])).trace[0].changed
    with pytest.raises(ModelError, match="at least one batch"):
        p.quantize([])
    with pytest.raises(ModelError, match="infinite or no number"):
        b.model(b.call("matmul", x, array(4, 5))) | p.quantize([np.full((2, 4), np.nan, "float32")])
