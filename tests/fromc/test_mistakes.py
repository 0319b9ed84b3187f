"""What is not read is refused at its place, with what was expected and what to write instead."""

from __future__ import annotations

from functools import cache

import pytest

import workbench as wb
from tests.fromc.mistakes import MISTAKES
from workbench.errors import LoweringError, OperatorError


@cache
def message(text: str) -> str:
    with pytest.raises(OperatorError) as caught:
        wb.from_c(text)
    return str(caught.value)


def test_messages(golden):
    golden("\n\n".join(f"## {name}\n{message(text)}" for name, text in MISTAKES.items()))


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_a_message_points_at_a_line(name):
    if name not in ("nothing", "nothing written"):
        assert "^" in message(MISTAKES[name])


@pytest.mark.parametrize("text", [None, 3, b"void f() {}", ["for"]])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(OperatorError, match="takes C as a text"):
        wb.from_c(text)


def test_an_unknown_function_lists_the_known_ones():
    with pytest.raises(OperatorError, match="no function 'h'; known: f, g"):
        wb.from_c(MISTAKES["two functions"], "h")
    assert wb.from_c(MISTAKES["two functions"], "g").name == "g"


def test_long_and_deep_texts_are_refused():
    assert "brackets nest" in message("void f(double A[2]) { A[0] = " + "(" * 5000 + "1" + ")" * 5000 + "; }")
    assert "at most" in message("/*" + " " * 300_000 + "*/")
    assert "deep" in message("void f(double A[2]) { A[0] = " + "-" * 3000 + "1; }")
    assert "deep" in message("void f(double A[2]) { A[0] = " + " + ".join(["A[1]"] * 3000) + "; }")


def test_a_bound_through_a_product_of_sizes_asks_for_the_sizes():
    text = "void f(int n, int m, double A[n]) { for (int i = 0; i < n * m; i++) A[i] = 1; }"
    with pytest.raises((OperatorError, LoweringError), match="not affine"):
        wb.from_c(text)
