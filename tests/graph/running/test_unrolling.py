"""Runs on data of a form that comes again: one program, equal to the interpreter, where nothing else decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.graph.running.comparing import agrees
from tests.graph.running.test_recursion import LOOP, TREE, WEIGHTS, array, made, parse
from workbench.errors import KernelError
from workbench.graph.running.programs import Program
from workbench.graph.running.recursion import unrolling

RUNS = unrolling.WALKED + 2
SCAN = """
fn scan(xs: List<float32[n]>, s: float32[n], done: List<float32[n]>) -> (float32[n], List<float32[n]>) {
    match xs {
        Nil => (s, done)
        Cons(x, rest) => { let next = plus(twice(s), x);  scan(rest, next, Cons(next, done)) }
    }
}
fn main(xs: List<float32[n]>, s: float32[n]) { scan(xs, s, Nil) }
"""


@pytest.fixture
def runs(monkeypatch) -> list[Program]:
    """The programs that run, in order; those of whole runs are never given up."""
    found: list[Program] = []
    plain = Program.run
    monkeypatch.setattr(Program, "run", lambda self, *given: found.append(self) or plain(self, *given))
    monkeypatch.setattr(unrolling, "TIMED", 1 << 30)
    return found


def numbers(tree: Any) -> Any:
    """A tree of the same form with other numbers."""
    if isinstance(tree, np.ndarray):
        return array(*tree.shape)
    return wb.graph.data(tree.constructor, *map(numbers, tree.fields))


@pytest.mark.parametrize("leaves", [1, 2, 13])
def test_a_tree_like_one_before_is_one_program(leaves, runs):
    given, tree = made(TREE), parse(leaves)
    built, weights = wb.build(given), [array(*shape) / 3 for shape in WEIGHTS]
    for _ in range(RUNS):
        tree = numbers(tree)
        runs.clear()
        assert agrees(built(tree, *weights), given.evaluate(tree, *weights))
    assert len(runs) == 1
    assert len(runs[0].calls) == 2 * leaves - 1


@pytest.mark.parametrize("length", [0, 1, 40])
def test_a_list_as_long_as_one_before_is_one_program(length, runs):
    given = made(SCAN)
    built, s = wb.build(given), array(7)
    for _ in range(RUNS):
        xs = [array(7) for _ in range(length)]
        runs.clear()
        last, done = built(xs, s)
        assert agrees((last, done), given.evaluate(xs, s))
        assert not any(np.shares_memory(each, s) for each in wb.graph.to_list(done))
    assert len(runs) == 1


def test_other_lengths_element_types_and_shapes_are_other_forms(runs):
    given = made("""
    fn sum<t: numbers>(xs: List<t[n]>, y: t[n]) -> t[n] {
        match xs { Nil => y   Cons(x, rest) => plus(x, sum(rest, y)) }
    }
    fn main(xs: List<float32[n]>, ys: List<int32[m]>, x: float32[n], y: int32[m]) { (sum(xs, x), sum(ys, y)) }
    """)
    built = wb.build(given)
    for a, b, n, m in ((3, 2, 4, 5), (2, 3, 4, 5), (3, 2, 5, 4)):
        for _ in range(RUNS):
            xs, ys = [array(n) for _ in range(a)], [np.arange(m, dtype="i4") for _ in range(b)]
            arguments = xs, ys, array(n), np.ones(m, "i4")
            runs.clear()
            assert agrees(built(*arguments), given.evaluate(*arguments))
        assert len(runs) == 1


def test_what_a_tensor_decides_is_walked():
    given = made(LOOP.replace("fn main(x: float32[n], y: float32[n], left: int32) { loop(x, y, left) }", """
    fn main(xs: List<float32[n]>, y: float32[n], left: int32) {
        match xs { Nil => y   Cons(x, rest) => loop(x, y, left) }
    }"""))  # fmt: skip
    built, x, y = wb.build(given), array(3), array(3)
    for steps in range(RUNS):
        np.testing.assert_allclose(built([x], y, np.array(steps, "i4")), x + steps * y, rtol=1e-5)
    assert [each.unrolled for each in built._unrolling.contests.values()] == [None]


def test_functions_and_cells_in_values_are_walked():
    given = made("""
    fn main(xs: List<float32[n]>, y: float32[n]) {
        match xs { Nil => (fn(z: float32[n]) { plus(y, z) }, ref(y))   Cons(x, rest) => (fn(z) { plus(x, z) }, ref(x)) }
    }
    """)
    built, x, y = wb.build(given), array(3), array(3)
    for _ in range(RUNS):
        add, cell = built([x], y)
        np.testing.assert_array_equal(add(y), x + y)
        np.testing.assert_array_equal(cell.value, x)


def test_functions_of_python_are_called_in_their_order(runs):
    given = made("""
    fn seen(x: float32[n]) -> float32[n] { twice(x) }
    fn each(xs: List<float32[n]>) -> List<float32[n]> {
        match xs { Nil => Nil   Cons(x, rest) => Cons(seen(x), each(rest)) }
    }
    fn main(xs: List<float32[n]>) { each(xs) }
    """)
    order: list[float] = []
    built = wb.build(given, calls={"seen": lambda x: order.append(float(x[0])) or x})
    for _ in range(RUNS):
        built([np.full(2, at, "f4") for at in range(4)])
    assert order == [0.0, 1.0, 2.0, 3.0] * RUNS


def test_an_index_out_of_range_is_refused_there_too(runs):
    given = made("""
    fn each(xs: List<(float32[6], int32[n])>) -> List<float32[n]> {
        match xs { Nil => Nil   Cons((x, at), rest) => Cons(picked(x, at), each(rest)) }
    }
    fn main(xs: List<(float32[6], int32[n])>) { each(xs) }
    """)
    built = wb.build(given)
    xs = [(array(6), np.array([5, at], "i4")) for at in range(3)]
    for _ in range(RUNS):
        assert agrees(built(xs), given.evaluate(xs))
    xs[1][1][1] = 6
    with pytest.raises(KernelError, match="picked: an index of x is out of range"):
        built(xs)


def test_a_program_that_is_slower_is_not_run_again(monkeypatch, runs):
    monkeypatch.setattr(unrolling, "TIMED", 1)
    built, xs, s = wb.build(made(SCAN)), [array(2) for _ in range(3)], array(2)
    for _ in range(RUNS):
        built(xs, s)
    (contest,) = built._unrolling.contests.values()
    for ours, walked, count in ((1.0, 2.0, 1), (2.0, 1.0, 3)):
        contest.seconds, contest.walk_seconds = ours, walked
        runs.clear()
        built(xs, s)
        assert len(runs) == count


def test_the_profile_has_a_run_of_one_program(runs):
    built, xs, s = wb.build(made(SCAN)), [array(2) for _ in range(3)], array(2)
    for _ in range(RUNS):
        built(xs, s)
    (piece,) = built.profile(xs, s, seconds=0.01).pieces
    assert (piece.function, piece.rows) == ("main", 1)
