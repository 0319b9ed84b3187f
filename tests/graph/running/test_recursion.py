"""Models with control flow as functions of Python: equal to the interpreter, and equal calls run together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.graph.running.comparing import agrees
from workbench.errors import CallError, KernelError
from workbench.graph.evaluation.values import Cell
from workbench.graph.running.programs import Program
from workbench.graph.running.recursion import agendas
from workbench.graph.running.recursion.segment_calls import MOST_ROWS, TRIES

OPERATORS = """
def joined<T>(T(M) l, T(M) r, T(N,L) w, T(N) b) -> (h) {
    h(n) = b(n)
    h(n) += l(k) * w(n,k)
    h(n) += r(k) * w(n,M+k) where k in 0:M
    h(n) = tanh(h(n))
}
def leaf<T>(T(K) x, T(N,K) v) -> (h) { h(n) +=! x(k) * v(n,k) }
def picked<T>(T(N) x, int32(K) at) -> (y) { y(k) = x(at(k)) }
def plus<T: numbers>(T(N) x, T(N) y) -> (z) { z(i) = x(i) + y(i) }
def twice<T: numbers>(T(N) x) -> (z) { z(i) = x(i) + x(i) }
def first<T>(T(N) x) -> (y) { y() = x(0) }
def best(float(N) x) -> (low, high) { low min=! x(i)  high max=! x(i) }
type Parse<a> = Word(a) | Phrase(Parse<a>, Parse<a>)
"""
TREE = """
fn node(t: Parse<float32[d]>, w: float32[h, 2*h], b: float32[h], v: float32[h, d]) -> float32[h] {
    match t {
        Word(x) => leaf(x, v)
        Phrase(l, r) => joined(node(l, w, b, v), node(r, w, b, v), w, b)
    }
}
fn main(t: Parse<float32[d]>, w: float32[h, 2*h], b: float32[h], v: float32[h, d]) -> float32[h] { node(t, w, b, v) }
"""
WEIGHTS = (5, 10), (5,), (5, 3)
random = np.random.default_rng(0)


def array(*shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype("f4")


def made(text: str) -> wb.Model:
    return wb.model(OPERATORS + text)


def parse(leaves: int, shared: Any = None) -> Any:
    """A tree of so many words, divided anywhere; with `shared`, some of its parts are one and the same."""
    if leaves == 1:
        return wb.graph.data("Word", array(3)) if shared is None else shared
    left = int(random.integers(1, leaves))
    return wb.graph.data("Phrase", parse(left, shared), parse(leaves - left))


@pytest.mark.parametrize("leaves", [1, 2, 3, 7, 20, MOST_ROWS + 9])
def test_a_network_over_random_trees_is_what_the_interpreter_says(leaves):
    given = made(TREE)
    built = wb.build(given)
    weights = [array(*shape) / 3 for shape in WEIGHTS]
    for shared in (None, wb.graph.data("Word", array(3))):
        tree = parse(leaves, shared)
        assert agrees(built(tree, *weights), given.evaluate(tree, *weights))


def rows(built: wb.graph.BuiltModel) -> set[int]:
    """How many rows the programs have whose first input is a leaf's word, or many of them."""
    shapes = [program.recording.inputs[0].shape for program in built.programs]
    return {shape[0] if len(shape) > 1 else 1 for shape in shapes}


def test_what_waits_on_one_level_is_one_call_of_a_power_of_two(monkeypatch):
    counts = []
    plain = Program.run
    monkeypatch.setattr(Program, "run", lambda self, *given: counts.append(1) or plain(self, *given))
    built = wb.build(made(TREE))
    word = [wb.graph.data("Word", array(3)) for _ in range(6)]
    pairs = [wb.graph.data("Phrase", *word[at : at + 2]) for at in (0, 2, 4)]
    tree = wb.graph.data("Phrase", wb.graph.data("Phrase", *pairs[:2]), pairs[2])
    built(tree, *(array(*shape) for shape in WEIGHTS))
    assert rows(built) == {8, 4, 1}  # of words, of states, of one state
    assert len(counts) == 4  # six words, three pairs, a pair of pairs, and the whole


def test_a_function_over_a_list_runs_for_all_elements_at_once():
    given = made("""
    fn each<a, b>(f: fn(a) -> b, xs: List<a>) -> List<b> {
        match xs { Nil => Nil   Cons(x, rest) => Cons(f(x), each(f, rest)) }
    }
    fn main(xs: List<float32[n]>, y: float32[n]) { each(fn(x) { plus(twice(x), y) }, xs) }
    """)
    built = wb.build(given)
    xs, y = [array(4) for _ in range(30)], array(4)
    assert agrees(built(xs, y), given.evaluate(xs, y))
    assert len(built.programs) == 1
    found = wb.graph.to_list(built(xs, y))
    assert not any(np.shares_memory(a, b) for a in found for b in found if a is not b)


def test_an_operator_of_two_results_waits_as_well():
    given = made("""
    fn each(xs: List<float32[n]>) -> List<(float32, float32)> {
        match xs { Nil => Nil   Cons(x, rest) => Cons(best(x), each(rest)) }
    }
    fn main(xs: List<float32[n]>) { each(xs) }
    """)
    built = wb.build(given)
    xs = [array(9) for _ in range(5)]
    assert agrees(built(xs), given.evaluate(xs))
    assert len(built.programs) == 1


def test_elements_of_other_sizes_are_other_calls():
    given = made("""
    fn each(xs: List<(float32[6], int32[n])>) -> List<float32[n]> {
        match xs { Nil => Nil   Cons((x, at), rest) => Cons(picked(x, at), each(rest)) }
    }
    fn main(xs: List<(float32[6], int32[2])>, ys: List<(float32[6], int32[3])>) { (each(xs), each(ys)) }
    """)
    built = wb.build(given)
    two, three = ([(array(6), np.arange(n, dtype="i4")) for _ in range(3)] for n in (2, 3))
    assert agrees(built(two, three), given.evaluate(two, three))
    assert len(built.programs) == 2
    two[1][1][0] = 6
    with pytest.raises(KernelError, match="picked_vmap: an index of x is out of range"):
        built(two, three)


LOOP = """
fn loop(x: float32[n], y: float32[n], left: int32) -> float32[n] {
    if left == 0 { x } else { loop(plus(x, y), y, left - 1) }
}
fn main(x: float32[n], y: float32[n], left: int32) { loop(x, y, left) }
"""


def test_a_loop_takes_no_memory_and_stops_to_wait_for_others():
    given = made(LOOP)
    built = wb.build(given)
    x, y = array(3), array(3)
    steps = np.array(40 * TRIES, "i4")
    np.testing.assert_allclose(built(x, y, steps), x + 40 * TRIES * y, rtol=1e-3)


def test_recursion_is_as_deep_as_memory_allows():
    given = made("""
    fn sum(xs: List<float32[n]>, y: float32[n]) -> float32[n] {
        match xs { Nil => y   Cons(x, rest) => plus(x, sum(rest, y)) }
    }
    fn main(xs: List<float32[n]>, y: float32[n]) { sum(xs, y) }
    """)
    xs = [np.full(2, at, "f4") for at in range(3000)]
    np.testing.assert_allclose(wb.build(given)(xs, np.zeros(2, "f4")), [sum(range(3000))] * 2)


def test_cells_are_written_and_read_in_order():
    given = made("""
    fn main(x: float32[n], c: ref(float32[n])) {
        let r = ref(x)
        let a = !r
        let _ = r := twice(a)
        let _ = c := plus(!r, !c)
        let f = fn(y: float32[n]) { r := plus(!r, y) }
        let _ = f(x)
        (a, !r, r)
    }
    """)
    x = array(3)
    mine, exact = Cell(x), Cell(x)
    assert agrees(wb.build(given)(x, mine), given.evaluate(x, exact))
    assert isinstance(mine.value, np.ndarray)
    assert agrees(mine.value, exact.value)


def test_a_function_that_is_a_result_can_be_called_later():
    given = made("""
    fn main(x: float32[n], k: int32) {
        let y = twice(x)
        (fn(z: float32[n]) { if k == 0 { z } else { plus(y, z) } }, fn(b: bool) { if b { twice } else { twice } })
    }
    """)
    x, z = array(3), array(3)
    add, chosen = wb.build(given)(x, np.array(1, "i4"))
    np.testing.assert_allclose(add(z), 2 * x + z, rtol=1e-6)
    assert callable(chosen)
    with pytest.raises(CallError, match="expected 1 arguments but found 2"):
        add(z, z)


def test_functions_of_python_are_called_with_arrays():
    given = made("""
    fn strange(x: float32[n]) -> float32[n] { twice(x) }
    fn loop(x: float32[n], left: int32) -> float32[n] {
        if left == 0 { x } else { loop(strange(twice(x)), left - 1) }
    }
    fn main(x: float32[n], left: int32) { loop(x, left) }
    """)
    seen = []

    def strange(x: np.ndarray) -> np.ndarray:
        seen.append(type(x))
        return x - 1

    found = wb.build(given, calls={"strange": strange})(np.ones(2, "f4"), np.array(3, "i4"))
    np.testing.assert_array_equal(found, [1, 1])
    assert seen == [np.ndarray] * 3


def test_blocks_that_python_cannot_nest_are_left_to_the_interpreters_machine():
    text = "x"
    for at in range(150):
        text = f"if k == {at} {{ twice(x) }} else {{ {text} }}"
    given = made(f"fn main(x: float32[n], k: int32) {{ {text} }}")
    built, x = wb.build(given), array(2)
    for k in (0, 149, 150):
        assert agrees(built(x, np.array(k, "i4")), given.evaluate(x, np.array(k, "i4")))


def test_what_waits_is_computed_before_it_takes_much_memory(monkeypatch):
    monkeypatch.setattr(agendas, "MOST_BYTES", 100)
    given = made(TREE)
    tree, weights = parse(40), [array(*shape) / 3 for shape in WEIGHTS]
    assert agrees(wb.build(given)(tree, *weights), given.evaluate(tree, *weights))
