"""`wb.jvp` against gradients, `wb.vmap` against a loop over calls."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.lang.derived.differences import several
from tests.lang.derived.library import NONE, in_double, point

NAMES = [name for name in wb.ops.list() if name not in NONE]


@pytest.mark.parametrize("name", NAMES)
def test_tangents_and_gradients_agree(name):
    """⟨w, J v⟩ = ⟨Jᵀ w, v⟩, and the values are those of the operator."""
    at = point(name)
    op, tangent = at.op, wb.jvp(at.op)
    generator = np.random.default_rng(1)
    directions = {n: generator.standard_normal(at.value(n).shape) for n in at.inputs}
    own = [directions[n] for n in at.inputs if n in op.parameters]
    out = None
    if at.given:
        given = [at.given.get(n) for n in op.outputs]
        out = (*given, *(directions.get(n) for n in at.floats))
    results = several(wb.lang.evaluate(tangent, *at.arguments, *own, out=out))
    values, slopes = results[: len(op.outputs)], results[len(op.outputs) :]
    for value, expected in zip(values, at.outputs().values(), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12)
    seeds = {n: generator.standard_normal(s.shape) for n, s in zip(at.floats, slopes, strict=True)}
    gradients = at.gradient(seeds)
    left = sum(float(np.sum(seeds[n] * s)) for n, s in zip(at.floats, slopes, strict=True))
    right = sum(float(np.sum(gradients[n] * directions[n])) for n in at.inputs)
    assert abs(left - right) <= 1e-9 * (1 + abs(left))


@pytest.mark.parametrize("name", wb.ops.list())
def test_a_batch_is_a_loop_over_calls(name):
    points = [point(name, seed) for seed in (0, 5, 9)]
    op, batch = points[0].op, wb.vmap(points[0].op)
    columns = list(zip(*(p.arguments for p in points), strict=True))
    arguments = [c[0] if n in op.scalars else np.stack(c) for n, c in zip(op.parameters, columns, strict=True)]
    given = {n: np.stack([p.given[n] for p in points]) for n in points[0].given}
    out = tuple(given.get(n) for n in op.outputs) if given else None
    found = several(wb.lang.evaluate(batch, *arguments, out=out))
    for n, result in zip(op.outputs, found, strict=True):
        np.testing.assert_allclose(result, np.stack([p.outputs()[n] for p in points]), rtol=1e-12, atol=1e-12)


def test_axes_at_other_places():
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((4, 7, 5)), generator.standard_normal((5, 3))
    for place in (1, -2):
        batch = wb.vmap(in_double("matmul"), in_axes=(place, None))
        result = wb.lang.evaluate(batch, a, b)
        np.testing.assert_allclose(result, np.stack([a[:, n] @ b for n in range(7)]), atol=1e-12)


def test_batches_of_gradients():
    gradient = wb.grad(in_double("matmul"))
    batch = wb.vmap(gradient)
    shapes = ((6, 2, 3), (6, 3, 4), (6, 2, 4))
    arrays = [np.random.default_rng(n).standard_normal(shape) for n, shape in enumerate(shapes)]
    found = wb.lang.evaluate(batch, *arrays)
    np.testing.assert_allclose(found[0], arrays[2] @ arrays[1].transpose(0, 2, 1), atol=1e-12)
    np.testing.assert_allclose(found[1], arrays[0].transpose(0, 2, 1) @ arrays[2], atol=1e-12)


def test_directions_of_some_inputs():
    assert wb.jvp(wb.ops.load("matmul"), "A").parameters == ("A", "B", "t_A")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: wb.vmap(wb.ops.load("matmul"), (0,)), "in_axes has 1 entries and matmul takes 2 inputs: A, B"),
        (lambda: wb.vmap(wb.ops.load("matmul"), (4, 0)), "in_axes has 4 for 'A', which then has 3 axes"),
        (lambda: wb.vmap(wb.ops.load("matmul"), None), "no input of matmul has the new axis: in_axes=None"),
        (lambda: wb.vmap(wb.ops.load("matmul"), "0"), "in_axes is an int, None, or a tuple of them, not '0'"),
        (lambda: wb.vmap(wb.ops.load("conv1d"), (0, 0, 0, 0, 0)), "'stride' shapes the program"),
        (lambda: wb.jvp(wb.ops.load("one_hot")), "one_hot has no gradient: no input is of floats"),
        (lambda: wb.vmap(3), "vmap takes an operator, not 3"),
    ],
)
def test_messages(ask, message):
    with pytest.raises(wb.errors.OperatorError) as caught:
        ask()
    assert message in str(caught.value)


@pytest.mark.parametrize("name", [name for name in NAMES if wb.ops.load(name).generic])
def test_in_16_bits(name):
    """What an operator can be in float16, its derived operators can be."""
    op = wb.ops.load(name)
    try:
        op.astype("half")
    except wb.errors.OperatorError:
        return
    for derived in (wb.grad(op), wb.jvp(op), wb.vmap(op)):
        assert derived.astype("half").generic == ()


def test_batches_of_integers():
    whole = wb.operator("def f<T: integers>(T(N) x) -> (y) { y(i) = x(i) + 1 }")
    assert wb.vmap(whole).text.startswith("def f_vmap<T: integers>(T(B, N) x)")
    arrays = np.ones((2, 2, 3), np.int32), np.ones((2, 3, 2), np.int32)
    result = wb.lang.evaluate(wb.vmap(wb.ops.load("matmul")), *arrays)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, np.full((2, 2, 2), 3))
