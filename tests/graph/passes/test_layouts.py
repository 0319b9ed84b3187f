"""`convert_layout`: what is left to move, and that the same is computed, also by operators nobody planned for."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.mangled_models import mangled_model
from tests.graph.passes.test_random_networks import random_network
from tests.graph.random_models import random_arguments
from tests.support import examples
from workbench.errors import CallError, ModelError
from workbench.graph.evaluation.values import same
from workbench.graph.passes.convert_layout import movements
from workbench.graph.passes.support.layouts.relayouts import moves, relaid, transposition
from workbench.ops.catalogue import load

NHWC = (0, 2, 3, 1)
RELU, ADD, ODD = (
    wb.operator(text)
    for text in (
        "def relu4(float(N,C,H,W) x) -> (y) { y(n,c,h,w) = max(x(n,c,h,w), 0.0) }",
        "def add4(float(N,C,H,W) x, float(N,C,H,W) z) -> (y) { y(n,c,h,w) = x(n,c,h,w) + z(n,c,h,w) }",
        """def odd(float(N,C,H,W) x, float(C,F) w) -> (y) {
            s(n,f,h) +=! x(n,c,h,v) * w(c,f)
            y(n,f,h,v) = s(n,f,h) * v where v in 0:W
        }""",
    )
)


def array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).integers(-2, 3, shape).astype(np.float32)


def convolutions(count: int = 10, channels: int = 4, size: int = 6) -> wb.Model:
    b = wb.graph.Builder()
    y, last, before = b.parameter("x", f"float32[n, 3, {size}, {size}]"), 3, None
    for at in range(count):
        y = b.call(RELU, b.call("conv2d", y, array(channels, last, 3, 3, seed=at) / 8, stride=1, pad=1, dilation=1))
        last = channels
        if at % 2 == 0:
            y = before = y if before is None else b.call(ADD, y, before)
    return b.model(y)


def without_calls(op, shapes) -> float:
    """Movements cost their cells, and calls nothing."""
    return float(np.prod(shapes[0])) if moves(op) is not None else 0.0


def agrees(before: wb.Model, after: wb.Model, *arguments) -> None:
    a, b = before.evaluate(*arguments), after.evaluate(*arguments)
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * np.abs(a).max())
    assert wb.model(str(after), after.constants) == after


def test_ten_convolutions_are_left_with_two_movements():
    before = convolutions()
    after = before | wb.passes.convert_layout(NHWC)
    assert len(movements(before)) == 0
    assert len(movements(after)) == 2
    assert sum(each.name == "conv2d_I0231_K1230_O0231" for each in after.operators) == 1
    assert not any(each.name in ("conv2d", "relu4", "add4") for each in after.operators)
    agrees(before, after, array(2, 3, 6, 6))


def test_movements_that_are_there_vanish_between_convolutions():
    b = wb.graph.Builder()
    y = b.parameter("x", "float32[n, 5, 5, 3]")
    for at in range(3):
        y = b.call(transposition(4, (0, 3, 1, 2)), y)
        y = b.call(RELU, b.call("conv2d", y, array(3, 3, 3, 3, seed=at), stride=1, pad=1, dilation=1))
        y = b.call(transposition(4, NHWC), y)
    before = b.model(y)
    after = before | wb.passes.convert_layout(cost=without_calls)
    assert len(movements(before)) == 6
    assert len(movements(after)) == 0
    agrees(before, after, array(2, 5, 5, 3))


def test_what_is_slow_as_it_is_written_is_computed_otherwise():
    """Measured costs: told here, the NHWC kernel of an operator nobody planned for is ten times as fast."""
    b = wb.graph.Builder()
    y = b.call(RELU, b.call(ODD, b.call(RELU, b.parameter("x", "float32[n, 3, 4, 5]")), array(3, 6)))
    before = b.model(y)

    def cost(op, shapes) -> float:
        return 1.0 if moves(op) is not None else 10.0 if op.name == "odd" else 1.0

    after = before | wb.passes.convert_layout(cost=cost)
    assert "odd" not in {each.name for each in after.operators}
    agrees(before, after, array(2, 3, 4, 5))
    assert (before | wb.passes.convert_layout(cost=lambda op, shapes: 1.0)) == before


def test_measured_costs_choose_something_that_computes_the_same():
    before = convolutions(count=2, size=4)
    after = before | wb.passes.convert_layout(sizes={"n": 1})
    assert len(movements(after)) <= 2
    agrees(before, after, array(1, 3, 4, 4))


def test_values_that_somebody_else_reads_stand_as_they_are_written():
    text = """
def relu4(float(N,C,H,W) x) -> (y) { y(n,c,h,w) = max(x(n,c,h,w), 0.0) }
fn main(x: float32[n, 3, 4, 4], deep: bool) {
    %y = relu4(conv2d(x, const#0, stride=1, pad=1, dilation=1))
    let z = relu4(%y)
    (%y, if deep { conv2d(z, const#1, stride=1, pad=1, dilation=1) } else { z })
}"""
    before = wb.model(text, [array(3, 3, 3, 3), array(3, 3, 3, 3, seed=1)])
    after = before | wb.passes.convert_layout(NHWC)
    assert movements(after)
    for deep in (True, False):
        arguments = array(2, 3, 4, 4), np.bool_(deep)
        assert same(before.evaluate(*arguments), after.evaluate(*arguments))


@pytest.mark.parametrize("seed", range(examples(quick=10, ci=40, full=1000)))
def test_random_models_compute_the_same_in_random_layouts(seed):
    """Costs are drawn, so that any layout may be the best."""
    random = np.random.default_rng(seed)
    drawn: dict[object, float] = {}

    def cost(op, shapes) -> float:
        return drawn.setdefault((op, shapes), float(random.uniform(0.0, 1.0)))

    for before, arguments in (
        (mangled_model(seed), random_arguments(seed)),
        (random_network(seed), (array(3, 4, seed=seed),)),
    ):
        after = before | wb.passes.convert_layout((1, 0), cost=cost)
        try:
            expected = before.evaluate(*arguments)
        except CallError:
            continue
        _close(expected, after.evaluate(*arguments))
        assert wb.model(str(after), after.constants) == after


def _close(a, b) -> None:
    if isinstance(a, tuple):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            _close(left, right)
    elif isinstance(a, np.ndarray) and a.dtype.kind == "f":
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    else:
        assert same(a, b)


@pytest.mark.parametrize("name", ["layer_norm", "softmax", "conv2d_bias"])
def test_a_relaid_operator_computes_the_same(name):
    op = load(name)
    first = op.parameters[0]
    rank = op.tensors[first].rank
    order = tuple(range(rank))[::-1]
    other = relaid(op, ((first, order),))
    assert other is not None
    shapes = {"layer_norm": [(3, 5), (5,), (5,), ()], "conv2d_bias": [(2, 3, 5, 4), (4, 3, 2, 2), (4,)]}
    given = [array(*shape) for shape in shapes.get(name, [(3, 5)])]
    moved = [np.ascontiguousarray(given[0].transpose(order)), *given[1:]]
    expected, found = op.evaluate(*given), other.evaluate(*moved)
    for a, b in zip(np.atleast_1d(expected), np.atleast_1d(found), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_what_is_no_order_is_refused():
    with pytest.raises(ModelError, match=r"to=\(0, 0, 1\) is no order of axes; expected \(0, 2, 3, 1\)"):
        wb.passes.convert_layout((0, 0, 1))
