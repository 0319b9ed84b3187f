"""The interpreter: long lists, deep recursion, arguments of every kind, and what it says when they do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.graph.programs import TEXTS, array
from workbench.errors import CallError
from workbench.graph import Data, data, model, to_list
from workbench.graph.evaluation.evaluating import evaluate_model
from workbench.graph.evaluation.machine import Machine
from workbench.graph.evaluation.values import list_of, same
from workbench.lang import operator

SUM = "fn main(xs: List<int32>) -> int32 { match xs { Nil => 0   Cons(x, rest) => x + main(rest) } }"
LOOP = """
fn loop(i: int32, s: int32) -> int32 { if i < 1 { s } else { loop(i - 1, s + i) } }
fn main(n: int32) { loop(n, 0) }
"""


def test_a_list_of_ten_thousand_elements_is_folded():
    assert model(SUM).evaluate(list(range(10_000))) == sum(range(10_000))


def test_a_list_of_ten_thousand_elements_is_mapped_and_given_back():
    text = (TEXTS / "map.txt").read_text(encoding="utf-8")
    found = model(text).evaluate(range(10_000), 2)
    assert to_list(found)[-1] == 19_998
    assert "..." in repr(found)
    assert same(found, list_of(np.array(2 * n, np.int32) for n in range(10_000)))


def test_a_loop_in_last_position_leaves_no_frames_behind():
    depths = []

    def watched(op, **given):
        depths.append(len(frames))
        return op.evaluate(*(given[name] for name in op.parameters))

    made = model(LOOP)
    machine = Machine(dict(made.functions), made.datatypes, made.typing, watched)
    frames: list = []
    entered = machine._enter
    machine._enter = lambda stack, *rest: (frames.__setitem__(slice(None), stack), entered(stack, *rest))  # type: ignore
    assert machine.call(machine.named("main"), (np.array(300, np.int32),), {}) == 45_150
    assert len(depths) == 901
    assert max(depths) <= 3


def test_a_shared_node_is_computed_once():
    calls = []

    def counted(op, **given):
        given.pop("out")
        calls.append(op.name)
        return op.evaluate(**given)

    text = (
        "fn main(x: float32[n], c: bool) {\n    %a = softplus(x)\n    if c { (%a, %a) } else { (%a, gelu_tanh(%a)) }\n}"
    )
    evaluate_model(model(text), (array(3), True), {}, counted)
    assert calls == ["softplus"]


def test_what_only_one_branch_uses_is_computed_there_only():
    text = "fn main(n: int32) {\n    %deep = forever(n)\n    if n < 1 { n } else { %deep }\n}\n"
    assert model(text + "fn forever(n) { forever(n) }").evaluate(0) == 0


def test_a_function_of_a_model_can_be_called_from_python():
    add = model("fn main(a: int32) { fn(b: int32) { a + b } }").evaluate(3)
    assert add(np.array(4, np.int32)) == 7


def test_a_function_of_python_can_be_an_argument():
    text = "fn main(f: fn(float32[n]) -> float32[n], x: float32[n]) { f(x) }"
    assert np.array_equal(model(text).evaluate(lambda x: 2 * x, array(3)), 2 * array(3))


def test_arguments_are_taken_as_python_has_them():
    text = "fn main(x: float32[n], o: Option<int32>, t: Tree<int32>, p: (int32, bool)) { (x, o, t, p) }"
    x, option, tree, pair = model(text).evaluate([1, 2, 3], 4, (1, None, (2, None, None)), (5, True))
    assert x.dtype == np.float32
    assert option == data("Some", np.array(4, np.int32))
    assert tree.fields[2] == data("Node", np.array(2, np.int32), Data("Leaf"), Data("Leaf"))
    assert pair == (5, True)


@pytest.mark.parametrize(
    ("text", "arguments", "sizes", "message"),
    [
        ("fn main(x: float32[n]) { x }", (), {}, r"expected 1 arguments \(x\) but found 0"),
        ("fn main(x: float32[n]) { x }", (array(3, 4),), {}, r"x: expected float32\[n\] but found an array of shape"),
        ("fn main(x: float32[n]) { x }", (array(3).astype(float),), {}, r"expected type float32\[n\].*astype"),
        ("fn main(x: float32[n]) { x }", ("abc",), {}, r"expected a value of type float32\[n\] but found 'abc'"),
        ("fn main(x: float32[n]) { x }", (array(3),), {"m": 3}, "unknown dimension 'm'; known: n"),
        ("fn main(x: float32[n]) { x }", (array(3),), {"n": 4}, r"x, dimension 0 has 3: expected n \(n = 4 from what"),
        ("fn main(x: float32[n], y: float32[n]) { x }", (array(3), array(4)), {}, r"n = 3 from x, dimension 0"),
        ("fn main(x: float32[2*n + 1]) { x }", (array(4),), {}, r"x, dimension 0 has 4, which 2 \* n \+ 1 never is"),
        ("fn main(x: List<int32>) { x }", (3,), {}, r"expected a value of type List<int32> but found 3"),
        ("fn main(x: List<int32>) { x }", ([1, "a"],), {}, r"main: x\[1\]: expected a value of type int32"),
        ("fn main(x: List<int32>) { x }", (data("Some", 1),), {}, "unknown constructor of List 'Some'"),
        ("fn main(x: Option<int32>) { x }", (data("Some"),), {}, "Some: expected 1 fields but found 0"),
        ("fn main(x: Tree<int32>) { x }", ((1, 2),), {}, r"a Tree<int32> is None or \(value, left, right\)"),
        ("fn main(x: (int32, int32)) { x }", ((1, 2, 3),), {}, r"expected a value of type \(int32, int32\)"),
        ("fn main(x: int32) { x }", (2**40,), {}, "expected int32"),
        ("fn main(i: int32[n], t: float32[e, d]) { embedding(t, i) }", ([9], array(4, 2)), {}, "in the call of emb"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(text, arguments, sizes, message):
    with pytest.raises(CallError, match=message):
        model(text).evaluate(*arguments, **sizes)


def test_a_dimension_that_no_argument_tells_is_given_by_name():
    text = "fn main(x: float32[a, b]) -> float32[a, k] { top_k(x, k=k).0 }"
    assert model(text).evaluate(array(2, 5), k=3).shape == (2, 3)
    with pytest.raises(CallError, match="no argument tells k"):
        model(text).evaluate(array(2, 5))


def test_lists_of_another_length_of_elements_are_refused_by_the_operator():
    text = (TEXTS / "list_of_tensors.txt").read_text(encoding="utf-8")
    assert len(to_list(model(text).evaluate([array(3), array(3)]))) == 2


def test_an_operator_of_scalars_has_the_type_of_its_arguments():
    """Scalars alone do not tell an operator its type when it is called; a model knows it."""
    double = operator("def twice<T>(T a) -> (b) { b = a + a }")
    assert double.generic == ("T",)
    found = model("def twice<T>(T a) -> (b) { b = a + a }\nfn main(a: int64) { twice(a) }").evaluate(2**40)
    assert found == 2**41
    assert found.dtype == np.int64


@pytest.mark.parametrize("n", [0, 1, 7])
def test_awkward_sizes(n):
    text = "fn main(x: float32[n, 3]) {\n    let y = softmax(x)\n    (y, argmax(y))\n}"
    probabilities, (_, where) = model(text).evaluate(array(n, 3))
    assert probabilities.shape == (n, 3)
    assert np.array_equal(where, array(n, 3).argmax(1))
