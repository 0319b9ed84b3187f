"""Functions of what several loops leave as it is are called before all of them, where they are called at all."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.runtime import verify

DECAY = "def decay(float(B) g, float(B,D,E) x, float(D) w) -> (y) { y(b,d,e) = sigmoid(g(b)) * x(b,d,e) + exp(w(d)) }"
GATHERED = "def gathered(float(V) g, int32(B) i, float(B,D,E) x) -> (y) { y(b,d,e) = tanh(g(i(b))) * x(b,d,e) }"
PADDED = """
def padded(float(B) g, float(B,D,E) x) -> (y) {
    y(b,d,e) = d > 1 ? log(g(b)) * x(b,d,e) : 0.0 where b in 0:B, d in 0:D, e in 0:E
}"""
FED = "def fed(float(D,E) x) -> (float(D,E) y) { y(0,e) = x(0,e)  y(d,e) = exp(-fabs(y(0,0))) * x(d,e) where d in 0:D }"


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(0.5, 1.5, shape).astype("float32")


def lines(text: str, *parts: str) -> list[int]:
    """The line in which each part first stands."""
    return [next(at for at, line in enumerate(text.splitlines()) if part in line) for part in parts]


@pytest.mark.parametrize("target", ["c", "cuda"])
def test_a_function_is_called_before_the_loops_that_leave_its_argument(target):
    schedule = wb.schedule(wb.operator(DECAY), B=3, D=4, E=5)
    if target == "cuda":
        schedule = schedule | wb.bind("b", "thread.x")
    body = wb.generate(schedule, target).source.rpartition("const float *")[2]
    sigmoid, rows, exp, row = lines(body, "sigmoid", "for (int64_t d", "exp", "for (int64_t e")
    assert sigmoid < rows < exp < row


def test_a_function_that_nobody_needs_is_not_called():
    """A loop of no iterations has no arguments either; the sizes are open, so that this is asked when it runs."""
    kernel = wb.build(wb.schedule(wb.operator(GATHERED)))
    for shape in ((2, 0, 3), (2, 3, 0), (0, 2, 2), (2, 1, 1), (3, 4, 5)):
        assert verify(kernel, data(4), np.arange(shape[0], dtype="int32"), data(*shape))


def test_what_a_condition_decides_stays_where_it_is():
    assert verify(wb.build(wb.schedule(wb.operator(PADDED), B=2, D=4, E=3)), -data(2), data(2, 4, 3))


def test_what_the_loop_writes_is_read_in_it():
    kernel = wb.build(wb.schedule(wb.operator(FED), D=4, E=3))
    assert verify(kernel, data(4, 3))
