"""`wb.grad`: every operator of the library and random ones against central differences; what is said and written."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import workbench as wb
from tests.lang.derived.differences import Point, complaints, several
from tests.lang.derived.library import NONE, in_double, point
from tests.lang.derived.random_operators import judged
from tests.support import examples
from workbench.lang.expr import Binary, reads

NAMES = [name for name in wb.ops.list() if name not in NONE]
TWICE = [
    "matmul", "layer_norm", "softmax", "conv1d", "lstm_cell", "bias_gelu", "log_sum_exp", "linear_recurrence", "symm",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_library_against_differences(name):
    assert complaints(point(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_gradient_is_an_operator_like_any_other(name):
    gradient = wb.grad(wb.ops.load(name))
    again = wb.operators(gradient.text)[gradient.name]
    assert again == gradient
    assert again.text == gradient.text
    assert not [warning for warning in gradient.warnings if "Reduction without" in warning]


@pytest.mark.parametrize("name", sorted(NONE))
def test_without_floats_there_is_none(name):
    with pytest.raises(wb.errors.OperatorError, match=NONE[name]):
        wb.grad(wb.ops.load(name))


@pytest.mark.parametrize("name", TWICE)
def test_gradients_of_gradients(name):
    at = point(name)
    outputs = at.outputs()
    generator = np.random.default_rng(3)
    seeds = [generator.standard_normal(outputs[n].shape) for n in at.floats]
    gradient = wb.grad(at.op)
    assert complaints(Point(gradient, [*at.arguments, *seeds]), tolerance=1e-5) == []


@pytest.mark.parametrize("batch", range(4))
def test_random_operators_against_differences(batch):
    count = examples(quick=3, ci=8, full=40)
    words: Counter[str] = Counter()
    for seed in range(5000 * batch, 5000 * batch + count):
        word, found = judged(seed)
        words[word] += 1
        assert not found.wrong, f"seed {seed}: {found.wrong}"
    assert words["compared"] >= count // 4


def test_differences_see_a_wrong_gradient():
    at = point("softmax")
    right = wb.grad(at.op)
    wrong = wb.operator(right.text.replace("d_X(m, n) =", "d_X(m, n) = 1.01 *"))
    assert wrong != right
    assert complaints(at, of=right) == []
    assert complaints(at, of=wrong) != []


# --- places where the slope is chosen


def only(op: wb.Operator, *arguments):
    return wb.lang.evaluate(wb.grad(op), *arguments)


def test_equal_places_of_a_maximum_have_equal_shares():
    op = wb.operator("def f(double(N) x) -> (m) { m max=! x(i) }")
    np.testing.assert_array_equal(only(op, np.array([1.0, 3.0, 3.0, 2.0]), 1.0), [0, 0.5, 0.5, 0])


def test_a_product_with_zeros():
    op = wb.operator("def f(double(N) x) -> (p) { p *=! x(i) }")
    np.testing.assert_array_equal(only(op, np.array([2.0, 0.0, 3.0]), 1.0), [0, 6, 0])
    np.testing.assert_array_equal(only(op, np.array([0.0, 0.0, 3.0]), 1.0), [0, 0, 0])


def test_a_branch_that_is_not_taken_says_nothing():
    op = wb.operator("def f(double(N) x) -> (y) { y(i) = x(i) > 0 ? sqrt(x(i)) : 0 }")
    np.testing.assert_array_equal(only(op, np.array([0.0, 4.0]), np.ones(2)), [0, 0.25])


def test_relu_and_abs_are_flat_at_0():
    op = wb.operator("def f(double(N) x) -> (y) { y(i) = relu(x(i)) + abs(x(i)) }")
    np.testing.assert_array_equal(only(op, np.array([0.0, 2.0, -2.0]), np.ones(3)), [0, 2, -1])


def test_a_guarded_gather_keeps_its_scatter_inside():
    op = wb.operator("def f(double(N) x, int32(M) at) -> (y) { y(i) = at(i) >= 0 ? x(at(i)) : 0 }")
    gradient = only(op, np.ones(3), np.array([-5, 2, 2], np.int32), np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(gradient, [0, 0, 6])


# --- form


@pytest.mark.parametrize("name", ["conv2d", "conv3d", "depthwise_conv2d", "blur", "jacobi_2d", "avg_pool2d"])
def test_windows_gather(name):
    """No cell of a gradient is written by several instances: outputs are parallel without atomics.

    (Phases of a stride may meet where it and a dilation have a divisor in common.)
    """
    for statement in wb.grad(wb.ops.load(name)).statements():
        written = [s for t in statement.targets for s in t.subscripts]
        assert all(str(type(s).__name__) in ("Index", "Const", "Size", "Binary") for s in written)
        free = {each for each in statement.indices("free") if not each.endswith("_phase")}
        assert len({s.name for s in written if hasattr(s, "name")} & free) == len(free), statement.text


def test_the_gradient_of_a_convolution_is_a_convolution(golden):
    golden(wb.grad(wb.ops.load("conv2d")).text)


def test_gradients_as_text(golden):
    names = [
        "matmul", "softmax", "layer_norm", "attention", "lstm", "cummax", "argmax", "embedding", "upsample_nearest",
    ]  # fmt: skip
    golden("\n\n".join(wb.grad(wb.ops.load(name)).text for name in names))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_computed_again_that_nobody_reads(name):
    gradient = wb.grad(wb.ops.load(name))
    made = {target.tensor for s in gradient.statements() for target in s.targets}
    used = set(gradient.outputs)
    for s in gradient.statements():
        own = {target.tensor for target in s.targets}
        used |= {each.tensor for each in reads(*s.values)} - own
        used |= {each.tensor for target in s.targets for each in reads(*target.subscripts)}
    assert made <= used


@pytest.mark.parametrize("name", ["layer_norm", "batch_norm", "group_norm", "instance_norm"])
def test_deviations_from_a_mean_are_not_summed_up(name):
    sums = [s for s in wb.grad(wb.ops.load(name)).statements() if s.reduction == "+"]
    assert not [s for s in sums if isinstance(s.values[0], Binary) and s.values[0].op == "-"]


@pytest.mark.parametrize(
    "mean",
    ["total(m) / (N + 1)", "total(m) / 3", "total(m) * N", "other(m) / N", "part(m) / N", "total(M - 1 - m) / N"],
)
def test_deviations_from_what_is_no_mean_are_summed_up(mean):
    op = wb.operator(f"""
    def f(double(M,N) X, double(M,N) Z) -> (y) {{
        total(m) +=! X(m,n)
        other(m) +=! Z(m,n)
        part(m) +=! X(m,n) where n in 1:N
        y(m) +=! d * d where d = X(m,n) - {mean}
    }}""")
    sums = [s.values[0] for s in wb.grad(op).statements() if s.reduction == "+"]
    assert any(isinstance(value, Binary) and value.op == "-" for value in sums)
    generator = np.random.default_rng(0)
    assert complaints(Point(op, [generator.standard_normal((3, 4)), generator.standard_normal((3, 4))])) == []


# --- what is kept


@pytest.mark.parametrize(
    ("name", "saved"),
    [("softmax", ("Y", "Y_1", "total")), ("layer_norm", ("total", "square")), ("attention", ("S", "total", "O_1")),
     ("lstm_cell", ("Z", "cell")), ("conv2d", ("P",)), ("max_pool2d", ("P", "O"))],
)  # fmt: skip
def test_saved_values_are_given(name, saved):
    at = point(name)
    forward, gradient = wb.saving(at.op, saved), wb.grad(at.op, saved=saved)
    results = dict(zip(forward.outputs, several(wb.lang.evaluate(forward, *at.arguments)), strict=True))
    generator = np.random.default_rng(0)
    seeds = [generator.standard_normal(results[n].shape) for n in at.floats]
    plain = several(wb.lang.evaluate(wb.grad(at.op), *at.arguments, *seeds))
    given = several(wb.lang.evaluate(gradient, *at.arguments, *(results[n] for n in saved), *seeds))
    for a, b in zip(plain, given, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    assert len(list(gradient.statements())) < len(list(wb.grad(at.op).statements()))


def test_the_tape_shows_bytes():
    tape = wb.tape(wb.ops.load("softmax"))
    assert [str(each) for each in tape] == [
        "Y_1: T(M, N), 4 * M * N bytes", "total: T(M), 4 * M bytes"
    ]  # fmt: skip
    assert tape[0].bytes(M=3, N=5) == 60
    assert "- Y_1: T(M, N), 4 * M * N bytes" in wb.grad(wb.ops.load("softmax")).doc


def test_held_tensors_are_constants():
    op = in_double("softmax")
    generator = np.random.default_rng(0)
    x, seed = generator.standard_normal((4, 5)), generator.standard_normal((4, 5))
    held = wb.grad(op, held="top")
    np.testing.assert_allclose(wb.lang.evaluate(held, x, seed), only(op, x, seed), atol=1e-14)
    assert "count" not in held.text


def test_only_what_is_asked_for():
    assert wb.grad(wb.ops.load("matmul"), "B").outputs == ("d_B",)
    assert wb.grad(wb.ops.load("matmul"), ("B", "A")).outputs == ("d_B", "d_A")


# --- messages


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: wb.grad(wb.ops.load("softmax"), "Z"), "wrt: unknown tensor 'Z'; known: X"),
        (lambda: wb.grad(wb.ops.load("nll"), "label"), "nll has no gradient by 'label', which is int32"),
        (lambda: wb.grad(wb.ops.load("conv1d"), "pad"), "no gradient by 'pad', which is a size of the program"),
        (lambda: wb.grad(wb.ops.load("softmax"), saved="q"), "saved: unknown value 'q'; known: top, Y_1, Y, total"),
        (lambda: wb.grad(wb.ops.load("softmax"), held="q"), "held: unknown tensor 'q'; known: X, Y, top, total"),
        (lambda: wb.grad("softmax"), "grad takes an operator, not 'softmax'"),
        (lambda: wb.grad(wb.ops.load("softmax"), 3), "wrt: expected a name or several, found 3"),
        (lambda: wb.saving(wb.ops.load("gemm"), "C_1"), "which the caller gives as out="),
    ],
)
def test_messages(ask, message):
    with pytest.raises(wb.errors.OperatorError) as caught:
        ask()
    assert message in str(caught.value)
