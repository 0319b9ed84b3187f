"""What is said about wrong models: one golden text for every kind of message, read as prose."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from tests.graph.mistakes import MISTAKES, TYPES
from workbench.errors import ModelError
from workbench.graph import model


@pytest.mark.parametrize("name", MISTAKES)
def test_errors(name, golden):
    text = MISTAKES[name]
    with pytest.raises(ModelError) as caught:
        model(text)
    shown = text.replace("\0", "\\0")
    golden(f"{shown}\n\n{caught.value}")


@pytest.mark.parametrize("name", TYPES)
def test_one_mistake_is_one_error(name):
    with pytest.raises(ModelError) as caught:
        model(TYPES[name])
    assert ("errors" in str(caught.value)) == (name == "several")


@pytest.mark.parametrize(
    "opening", ["(", "{", "fn(x) {", "f(", "!", "ref(", "if ", "match ", "let ", "%a = ", "((", "1 + ("]
)
def test_a_hundred_thousand_of_anything_is_refused(opening):
    text = "fn main(x: int32) { " + opening * (100_000 // len(opening)) + " }"
    with pytest.raises(ModelError):
        model(text)


@pytest.mark.parametrize("opening", ["(", "fn(", "ref(", "List<", "float32[(", "float32[-"])
def test_deep_types_are_refused(opening):
    with pytest.raises(ModelError):
        model("fn main(x: " + opening * 10_000 + ") { x }")


def test_ten_thousand_parentheses_that_close_are_refused_in_words():
    with pytest.raises(ModelError, match="nests more than 1000 levels deep"):
        model("fn main(x: int32) { " + "(" * 10_000 + "x" + ")" * 10_000 + " }")


def test_nine_hundred_parentheses_are_read():
    assert model("fn main(x: int32) { " + "(" * 400 + "x" + ")" * 400 + " }").evaluate(3) == 3


def test_a_text_of_ten_megabytes_is_refused_in_words():
    with pytest.raises(ModelError, match="has 10000020 characters"):
        model("fn main(x: int32) { " + "x" * 10_000_000)


@pytest.mark.parametrize("text", [None, 3, b"fn main() { 1 }"])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(ModelError, match="written as a text"):
        model(text)


def test_a_constant_of_another_shape_is_refused():
    with pytest.raises(ModelError, match=r"const#0 is said to be float32\[3\] but the array is float32\[4\]"):
        model("const#0: float32[3]\nfn main() { const#0 }", [np.zeros(4, np.float32)])


PIECES = "fn main ( ) { } let x = %a if else match => , : float32 [ n ] < > List Nil Cons 1 2.5 + - ! := ref . type |"


def test_pieces_of_a_text_in_any_order_are_refused_or_read():
    random = np.random.default_rng(0)
    for _ in range(400):
        text = "fn main(x: int32) { " + " ".join(random.choice(PIECES.split(), size=random.integers(1, 30)))
        with suppress(ModelError):
            model(text)
