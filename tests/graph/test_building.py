"""Models built by programs: the same as their texts, and a mistake is an error of the call that makes it."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.programs import array
from workbench.errors import ModelError, UnknownOperator
from workbench.graph import Builder, model
from workbench.graph.terms.nodes import Binder, Construction, Variable, Wildcard
from workbench.graph.text.printing_types import print_type


def test_a_network_is_what_its_text_is():
    b = Builder()
    x = b.parameter("x", "float32[n, 8]")
    hidden = b.call("bias_relu", b.call("matmul", x, array(8, 6)), array(6), label="hidden")
    built = b.model(b.call("softmax", hidden))
    text = "fn main(x: float32[n, 8]) {\n    %h = bias_relu(matmul(x, const#0), const#1)\n    softmax(%h)\n}"
    assert built == model(text, [array(8, 6), array(6)])
    assert "%hidden = bias_relu" in str(built)
    assert built.evaluate(array(3, 8)).shape == (3, 6)


def test_control_flow_data_and_cells_are_built():
    b = Builder()
    x, c = b.parameter("x", "float32[n]"), b.parameter("c", "bool")
    cell = b.let("cell", b.new_reference(0))
    b.write(cell, 1)
    f = b.function({"y": "float32[n]"}, lambda y: b.call("softplus", y))
    listed = b.call("Cons", x, b.call("Nil"))
    some = (Construction("Cons", (Binder(Variable("first")), Wildcard())), lambda first: b.call(f, first))
    found = b.match(listed, some, (Construction("Nil"), lambda: x))
    result = b.tuple(
        b.condition(c, found, x), b.read(cell), b.project(b.call("moments", np.ones((1, 3), "float32")), 0)
    )
    built = b.model(result)
    assert model(str(built), built.constants) == built
    y, one, mean = built.evaluate(array(4), True)
    assert np.allclose(y, np.log1p(np.exp(array(4))))
    assert (one, mean) == (1, 1)


def test_a_let_inside_a_branch_or_a_function_belongs_there():
    b = Builder()
    x, c = b.parameter("x", "float32[n]"), b.parameter("c", "bool")

    def body(y: Variable) -> Variable:
        return b.let("inside", b.call("softplus", y))

    f = b.function({"y": "float32[n]"}, body)
    built = b.model(b.condition(c, lambda: b.let("then", b.call(f, x)), lambda: x))
    text = """
    fn main(x: float32[n], c: bool) {
        if c {
            let g = fn(y: float32[n]) { let z = softplus(y); z }(x)
            g
        } else { x }
    }"""
    assert built == model(text)


def test_other_functions_are_called_by_name():
    helper = model("fn twice<a>(f: fn(a) -> a, x: a) -> a { f(f(x)) }").functions
    b = Builder(functions=helper)
    x = b.parameter("x", "float32[n]")
    built = b.model(b.call("twice", b.function({"y": "float32[n]"}, lambda y: b.call("softplus", y)), x))
    assert print_type(built.type_of("main")) == "fn(float32[n]) -> float32[n]"


def test_the_type_of_each_node_is_known_at_once():
    b = Builder()
    x = b.parameter("x", "float32[1, 3, h, w]")
    pooled = b.call("max_pool2d", x, k=2, stride=2, pad=0)
    assert print_type(b.type_of(pooled)) == "float32[1, 3, h / 2, w / 2]"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda b, x: b.call("matmul", x, np.ones((5, 2), "float32")),
            ModelError,
            r"matmul: B: expected float32\[4, N\]",
        ),
        (lambda b, x: b.call("matmul", x), ModelError, "expected 2 but found 1"),
        (lambda b, x: b.call("matmul", x, None), ModelError, "expected a term, an array or a number but found None"),
        (lambda b, x: b.call("matmull", x), UnknownOperator, "did you mean 'matmul'"),
        (lambda b, x: b.call("max_pool2d", x), ModelError, "no shape tells k, stride, pad"),
        (lambda b, x: b.project(x, 0), ModelError, "expected a tuple but found"),
        (lambda b, x: b.condition(x, x, x), ModelError, "expected bool"),
        (lambda b, x: b.call(x, x), ModelError, "x is no function"),
        (lambda b, x: b.read(x), ModelError, "a reference is needed"),
        (lambda b, x: b.parameter("y", "float31[n]"), ModelError, "did you mean 'float32'"),
        (lambda b, x: b.parameter("y", "float32[n"), ModelError, r"expected ',' or '\]'"),
        (lambda b, x: b.constant(np.array(["a"])), ModelError, "a constant has dtype <U1"),
        (lambda b, x: b.call("softmax", Variable("z")), ModelError, "z is used where nothing has bound it"),
    ],
)
def test_a_mistake_is_an_error_of_the_call_that_makes_it(make, error, message):
    b = Builder()
    x = b.parameter("x", "float32[n, 4]")
    with pytest.raises(error, match=message):
        make(b, x)


def test_a_mistake_leaves_the_builder_usable():
    b = Builder()
    x = b.parameter("x", "float32[n, 4]")
    with pytest.raises(ModelError):
        b.call("matmul", x, np.ones((5, 2), "float32"))
    assert b.model(b.call("softmax", x)).evaluate(array(2, 4)).shape == (2, 4)


def test_two_operators_of_one_name_are_refused():
    one, other = (wb.operator(f"def f(float(N) x) -> (y) {{ y(i) = {k}.0 * x(i) }}") for k in (2, 3))
    b = Builder()
    x = b.parameter("x", "float32[n]")
    with pytest.raises(ModelError, match="two operators of the model are named 'f'"):
        b.model(b.call(one, b.call(other, x)))


def test_a_variable_outside_what_binds_it_is_refused():
    b = Builder()
    x = b.parameter("x", "float32[n]")
    inner: list[Variable] = []
    f = b.function({"y": "float32[n]"}, lambda y: inner.append(y) or y)
    with pytest.raises(ModelError, match="y is used outside what binds it"):
        b.model(b.tuple(b.call(f, x), inner[0]))
