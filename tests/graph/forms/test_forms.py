"""Forms of models: what has a `let` in which, and that none computes anything elsewhere or in another order."""

from __future__ import annotations

import numpy as np
import pytest

from tests.graph.programs import EXAMPLES, array
from workbench.graph import Model, model
from workbench.graph.forms.rebinding import is_word
from workbench.graph.forms.scopes import is_branch, scopes, value_node
from workbench.graph.terms.nodes import ATOMS, Call, Constant, Function, Let, Primitive, Tuple, Variable
from workbench.graph.terms.walking import operands, postorder, refreshed
from workbench.ops.catalogue import load

SHARED = """
fn main(x: float32[n], c: bool) {
    %a = softplus(x)
    if c { gelu_tanh(%a) } else { (gelu_tanh(softplus(%a)), %a).1 }
}
"""


def nodes(of: Model) -> list:
    return [node for function in of.functions.values() for node in postorder(function)]


@pytest.mark.parametrize("name", EXAMPLES)
def test_operands_of_a_normal_form_are_words(name):
    example = EXAMPLES[name]
    for node in nodes(model(example.text, example.constants).a_normal_form()):
        for at, operand in enumerate(operands(node)):
            if isinstance(node, Let) or is_branch(node, at):
                continue
            assert is_word(operand), (node, operand)


@pytest.mark.parametrize("name", EXAMPLES)
def test_in_basic_block_form_no_node_is_shared_between_scopes(name):
    example = EXAMPLES[name]
    changed = model(example.text, example.constants).basic_block_form()
    for function in changed.functions.values():
        assert all(is_word(node) for node in scopes(function).used_across())


def test_a_node_that_two_branches_share_is_computed_before_them_once(golden):
    golden("\n\n".join(map(str, (model(SHARED).basic_block_form(), model(SHARED).a_normal_form()))))


def test_a_graph_has_no_lets_where_order_does_not_matter():
    text = "fn main(x: float32[n]) {\n    let y = softplus(x)\n    let z = (y, y)\n    gelu_tanh(z.0)\n}"
    changed = model(text).graph_form()
    assert not [node for node in nodes(changed) if isinstance(node, Let)]
    assert changed == model("fn main(x: float32[n]) {\n    %y = softplus(x)\n    gelu_tanh((%y, %y).0)\n}")


def test_a_let_whose_value_reads_a_cell_keeps_its_place():
    text = "fn main() {\n    let r = ref(1)\n    let before = (!r, 7)\n    r := 2\n    (before.0, !r)\n}"
    assert model(text).graph_form().evaluate() == (1, 2)
    assert [node for node in nodes(model(text).graph_form()) if isinstance(node, Let)]


def test_work_does_not_move_into_a_function():
    """It would be done at each call of it."""
    text = "fn main(x: float32[n]) {\n    let y = softplus(x)\n    let f = fn(z) { (y, z) }\n    (f(1), f(2))\n}"
    kept = [node.variable.name for node in nodes(model(text).graph_form()) if isinstance(node, Let)]
    assert kept == ["f", "y"] or sorted(kept) == ["f", "y"]


def test_sharing_counts_and_names_do_not():
    once = "fn main(x: float32[n]) {\n    %a = softplus(x)\n    (%a, %a)\n}"
    twice = "fn main(x: float32[n]) { (softplus(x), softplus(x)) }"
    renamed = "fn main(input: float32[batch]) {\n    %1 = softplus(input)\n    (%1, %1)\n}"
    assert model(once) == model(renamed)
    assert hash(model(once)) == hash(model(renamed))
    assert model(once) != model(twice)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fn main(x: float32[n]) { (x, 1) }", "fn main(x: float32[n]) { (x, 2) }"),
        ("fn main(x: float32[n]) { (x, 0.0) }", "fn main(x: float32[n]) { (x, -0.0) }"),
        ("fn main(x: float32[n, n]) { x }", "fn main(x: float32[n, m]) { x }"),
        ("fn main(x: float32[n]) { softplus(x) }", "fn main(x: float32[n]) { gelu_tanh(x) }"),
        ("fn main(x: float32[n]) { x }", "fn main(x) { x }"),
        ("fn main(x: int32, y: int32) { x }", "fn main(x: int32, y: int32) { y }"),
        ("fn main(x: int32) { f(x) }\nfn f(x: int32) { x }", "fn main(x: int32) { g(x) }\nfn g(x: int32) { x }"),
        ("type A = B | C\nfn main() { B }", "type A = B\nfn main() { B }"),
    ],
)
def test_models_differ_that_mean_something_else(one, other):
    assert model(one) != model(other)


def test_an_operator_of_the_same_name_is_another_operator():
    text = "def softplus<T>(T(N) x) -> (y) { y(i) = x(i) }\n"
    main = "fn main(x: float32[n]) { softplus(x) }"
    assert model(text + main) != model(main)


def test_constants_are_compared_by_what_they_hold():
    text = "fn main() { const#0 }"
    first, second = model(text, [array(3)]), model(text, [array(3).copy()])
    assert first == second
    assert first != model(text, [array(3, seed=1)])
    assert first != model(text, [array(3).astype(float)])


def test_a_refreshed_function_is_another_with_the_same_meaning():
    first = model(EXAMPLES["nested_match"].text)
    copy = first.with_functions({"main": refreshed(first.main)})
    assert copy == first
    assert not {node for node in nodes(first) if isinstance(node, Variable)} & set(nodes(copy))


def chain(length: int) -> Function:
    """So many calls one after the other, made without any text."""
    x = Variable("x", None)
    term = x
    for _ in range(length):
        term = Call(Primitive(load("softplus")), (term,))
    return Function((x,), Tuple((term, Constant(np.array(1, np.int32)))))


@pytest.mark.parametrize("form", ["graph_form", "a_normal_form", "basic_block_form"])
def test_a_chain_of_two_thousand_nodes_has_every_form(form):
    first = Model({"main": chain(2000)})
    changed = getattr(first, form)()
    assert len(scopes(changed.main).blocks) == 2
    assert model(str(changed)) == changed


def test_what_a_let_stands_for_is_the_value_of_its_body():
    inner = Variable("y")
    assert value_node(Let(inner, Variable("x"), inner)) is inner
    assert isinstance(value_node(inner), ATOMS)
