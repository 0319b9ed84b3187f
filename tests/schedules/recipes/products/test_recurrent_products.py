"""Products inside a loop over time keep their cells in registers, and threads are woken only where that pays."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.target import Target

STATES = wb.operator("""
def states(float(T,B,G) a, float(H,G) r, float(B,H) first) -> (h) {
    h(0,b,j) = first(b,j)
    for t in 0:T {
        u(t,b,k) +=! h(t,b,m) * r(m,k) where k in 0:G
        h(t+1,b,j) = tanh(a(t,b,j) + u(t,b,j) - 0.5 * u(t,b,j+H))
    }
}
""")


def scheduled(batch, width, cores=2):
    target = Target("c", vector_bits=512, cores=cores)
    return wb.autoschedule(STATES, target=target, T=32, B=batch, H=width, G=2 * width)


def test_rows_of_a_tile_are_those_that_do_not_wait_for_one_another():
    steps = str(scheduled(4, 64).steps())
    assert "tile({'u/b': 4" in steps
    assert "unroll('u/b_i')" in steps
    assert "'u/t'" not in steps


def test_a_small_product_in_every_step_is_not_divided_among_threads_and_a_large_one_is():
    assert "parallelize('u" not in str(scheduled(4, 90).steps())
    assert "parallelize('u" in str(scheduled(64, 256).steps())


@pytest.mark.parametrize(("batch", "width"), [(1, 17), (5, 33), (7, 64)])
def test_the_states_are_those_of_the_oracle(batch, width):
    rng = np.random.default_rng(0)
    shapes = (6, batch, 2 * width), (width, 2 * width), (batch, width)
    a, r, first = (0.3 * rng.standard_normal(shape).astype("float32") for shape in shapes)
    for threads in (1, 2):
        with wb.settings(threads=threads):
            np.testing.assert_allclose(STATES(a, r, first), STATES.evaluate(a, r, first), rtol=1e-4, atol=1e-5)
