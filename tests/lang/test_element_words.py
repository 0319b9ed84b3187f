"""What is said of the types of a generic operator holds for its instances."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from workbench.lang import describe
from workbench.lang.binding.element_words import element_words
from workbench.lang.dtypes import DTYPES, dtype

GENERIC = [name for name in wb.ops.list() if wb.ops.load(name).generic]
NAMED = {"integers": ("int8", "int32", "int64"), "float16": ("float16",), "int8": ("int8",)}


def said(word: str, element: str) -> str:
    """The type that a word like `T (float16: float)` gives where T is an element type."""
    for kinds, of in re.findall(r"([\w, ]+?): (\w+)", word):
        if element in {each for kind in kinds.strip().split(", ") for each in NAMED[kind]}:
            return dtype(of).name
    head = word.partition(" ")[0]
    return element if head == "T" else dtype(head).name


@pytest.mark.parametrize("name", GENERIC)
def test_words_say_the_types_of_every_instance(name):
    op = wb.ops.load(name)
    assert op.generic == ("T",)
    asked = 0
    for element in ("float32", "float64", "float16", "int32", "int64", "int8"):
        try:
            made = op.astype(element)
        except wb.errors.OperatorError:
            continue
        asked += 1
        words = {tensor: said(word, element) for tensor, word in element_words(op).items()}
        assert words == {tensor: each.dtype.name for tensor, each in made.tensors.items()}, element
    assert asked >= 2


def test_a_sheet_names_the_variable_and_what_it_stands_for():
    sheet = describe(wb.operator("def f<T: floats>(T(N) x, T a) -> (y) { y(n) = a * x(n) }"))
    assert "x: input T, 0:N" in sheet
    assert "y: output T (float16: float), 0:N" in sheet
    assert sheet.splitlines()[-2:] == ["type variables", "    T: floats"]


def test_an_operator_without_variables_has_its_types():
    op = wb.operator("def f(half(N) x, uint8 a) -> (y) { y(n) = a * x(n) }")
    assert {DTYPES[dtype(word).name] for word in element_words(op).values()} == {t.dtype for t in op.tensors.values()}
