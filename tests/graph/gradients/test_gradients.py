"""Gradients of models against central differences in double precision; straight code stays straight; refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.graph.gradients.differences import close, in_double
from tests.graph.programs import EXAMPLES
from tests.graph.random_models import random_arguments, random_model
from tests.support import examples
from workbench.errors import ModelError
from workbench.graph import Model
from workbench.graph.evaluation.arguments import checked_argument
from workbench.graph.gradients.structures import elements_of, holds_floats
from workbench.graph.terms.nodes import Function, NewReference
from workbench.graph.terms.types import FunctionType
from workbench.graph.terms.walking import postorder

LOOP = """
fn loop(h: float64[n], xs: List<float64[n]>, w: float64[n]) -> float64[n] {
    match xs { Nil => h   Cons(x, rest) => loop(tanh1(add1(mul1(h, w), x)), rest, w) }
}
def tanh1<T>(T(N) x) -> (y) { y(i) = tanh(x(i)) }
def add1<T: numbers>(T(N) x, T(N) y) -> (z) { z(i) = x(i) + y(i) }
def mul1<T: numbers>(T(N) x, T(N) y) -> (z) { z(i) = x(i) * y(i) }
fn main(h: float64[n], xs: List<float64[n]>, w: float64[n]) -> float64[n] { loop(h, xs, w) }
"""
BRANCH = """
def total<T>(T(N) x) -> (s) { s +=! x(i) * x(i) }
fn main(x: float64[n], s: float64) -> (float64[n], float64) {
    if total(x) > float64(1.0) { (softplus(x), s * s) } else { (gelu_tanh(x), s) }
}
"""
GENERATED = ("if", "tuples", "map", "list_of_tensors", "option", "tree", "own_type", "functions_in_data",
             "operator_as_value", "constructor_as_value", "polymorphic_in_dims", "resnet_block", "lstm_cell",
             "tree_lstm", "attention", "mlp", "accumulated", "size_arguments", "any_element_type")  # fmt: skip

WITHOUT_FLOATS = ("if", "tuples", "map", "tree", "constructor_as_value")
BACKWARD = ("softmax_grad", "linear_grad_x", "bias_relu_grad_X", "matmul_grad_A")


def doubled(model: Model, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments as the entry of a model in double precision takes them."""
    of = model.type_of(model.entry)
    assert isinstance(of, FunctionType)
    pairs = zip(arguments, of.parameters, strict=True)
    return tuple(checked_argument(_wide(value), kind, model.datatypes, "argument") for value, kind in pairs)


def _wide(value: Any) -> Any:
    match value:
        case np.ndarray() if value.dtype == np.float32:
            return value.astype(np.float64)
        case list() | tuple():
            return type(value)(map(_wide, value))
        case wb.graph.Data(constructor, fields):
            return wb.graph.Data(constructor, tuple(map(_wide, fields)))
        case _:
            return value


@pytest.mark.parametrize("name", GENERATED)
def test_examples_with_control_flow_and_data(name: str) -> None:
    example = EXAMPLES[name]
    model = in_double(wb.model(example.text, example.constants))
    arguments = doubled(model, example.arguments)
    if name in WITHOUT_FLOATS:
        with pytest.raises(ModelError, match=r"no parameter holds floats|holds no floats"):
            wb.grad(model)
    else:
        assert close(wb.grad(model), model, arguments, seed=1)


@pytest.mark.parametrize("seed", range(examples(quick=2, ci=8, full=1000)))
def test_random_models(seed: int) -> None:
    model = in_double(random_model(seed, 15))
    of = model.type_of("main")
    assert isinstance(of, FunctionType)
    if not holds_floats(of.result, model, elements_of(model)):
        with pytest.raises(ModelError, match="holds no floats"):
            wb.grad(model)
    else:
        close(wb.grad(model), model, doubled(model, random_arguments(seed)), seed)


@pytest.mark.parametrize("lengths", [0, 1, 4])
def test_a_loop_over_a_list(lengths: int) -> None:
    random = np.random.default_rng(lengths)
    model = wb.model(LOOP)
    xs = [random.standard_normal(3) for _ in range(lengths)]
    arguments = doubled(model, (random.standard_normal(3), xs, random.standard_normal(3)))
    assert close(wb.grad(model), model, arguments, seed=2)


@pytest.mark.parametrize("size", [0.1, 2.0])
def test_a_branch_on_data(size: float) -> None:
    model = wb.model(BRANCH)
    x = size * np.random.default_rng(3).standard_normal(4)
    assert close(wb.grad(model), model, (x, np.float64(0.7)), seed=3)


@pytest.mark.parametrize("name", ["mlp", "attention", "tree_lstm"])
def test_the_second_derivative_of_examples(name: str) -> None:
    example = EXAMPLES[name]
    model = in_double(wb.model(example.text, example.constants))
    first = wb.grad(model)
    arguments = doubled(model, example.arguments)
    d_result = np.ones_like(model.evaluate(*arguments))
    assert close(wb.grad(first), first, (*arguments, d_result), seed=4)


@pytest.mark.parametrize("text", [LOOP, BRANCH])
def test_the_second_derivative_of_loops_and_branches(text: str) -> None:
    random = np.random.default_rng(5)
    model = wb.model(text)
    given = (random.standard_normal(3), [random.standard_normal(3)] * 2, random.standard_normal(3))
    arguments = doubled(model, given if text == LOOP else (given[0], 0.3))
    first, result = wb.grad(model), model.evaluate(*arguments)
    d_result = tuple(map(np.ones_like, result)) if isinstance(result, tuple) else np.ones_like(result)
    assert close(wb.grad(first), first, (*arguments, d_result), seed=5)


def test_straight_code_has_neither_cells_nor_closures() -> None:
    gradient = wb.grad(wb.model(EXAMPLES["mlp"].text, EXAMPLES["mlp"].constants))
    assert list(gradient.functions) == ["main"]
    nodes = list(postorder(gradient.main.body))
    assert not any(isinstance(node, NewReference | Function) for node in nodes)
    calls = {op.name for op in gradient.operators}
    assert calls == {"matmul", "bias_relu", "linear", "softmax", *BACKWARD}


def test_a_part_of_a_parameter_that_nothing_depends_on_has_gradient_zero() -> None:
    model = wb.model("fn main(p: (float64[n], float64[m], int32)) -> float64[n] { softplus(p.0) }")
    _, (d_x, d_y, k) = wb.grad(model).evaluate((np.zeros(2), np.ones(3), 7), np.ones(2))
    assert d_x.tolist() == [0.5, 0.5]
    assert d_y.tolist() == [0, 0, 0]
    assert k == 7


def test_a_parameter_that_is_not_annotated() -> None:
    gradient = wb.grad(wb.model("fn main(x: float32[n, 3], w) { matmul(x, w) }"))
    x, w = np.ones((2, 3), "float32"), np.ones((3, 4), "float32")
    _, d_x, d_w = gradient.evaluate(x, w, np.ones((2, 4), "float32"))
    assert d_x.dtype == np.float32
    assert d_x.tolist() == [[4] * 3] * 2
    assert d_w.tolist() == [[2] * 4] * 3


@pytest.mark.parametrize(
    ("text", "wrt", "message"),
    [
        ("fn main(x: float32[n]) { softplus(x) }", "y", "wrt: main has no parameter 'y'; it has x"),
        ("fn main(x: float32[n], k: int32) { softplus(x) }", "k", "k is int32, which holds no floats"),
        ("fn main(k: int32) { k + 1 }", None, "no parameter holds floats"),
        ("fn main(x: float32) { x < 1.0 }", None, "its result, bool, holds no floats"),
        ("fn main(f: fn(float32) -> float32, x: float32) { f(x) }", None, "no gradient by functions and cells"),
        ("fn main(x: float32) { ref(x) }", None, "no gradient by functions and cells"),
        ("fn main<t: any>(x: t[n]) -> t[n] { x }", None, "declare it: <t: floats>"),
    ],
)
def test_refusals_say_what_is_wrong(text: str, wrt: str | None, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        wb.grad(wb.model(text), wrt)
    assert message in str(caught.value)
