"""What is said about wrong programs: one golden text for every kind of message, read as prose."""

from __future__ import annotations

import pytest

from tests.lang.mistakes import MISTAKES
from workbench.errors import OperatorError
from workbench.lang import operator, operators


@pytest.mark.parametrize("name", MISTAKES)
def test_errors(name, golden):
    text = MISTAKES[name]
    with pytest.raises(OperatorError) as caught:
        operators(text)
    shown = text if len(text) < 400 else text[:60] + " ..."
    golden(f"{shown}\n\n{caught.value}")


def test_several_mistakes_in_one_text_are_all_reported():
    text = """
def f(float(M,K) A, float(K,N) B) -> (C, D) {
    C(m,n) +=! A(m,k) * B(k)
    D(m) = A(m,0) && true
    E(m) = tahn(A(m,0))
}"""
    with pytest.raises(OperatorError) as caught:
        operators(text)
    assert str(caught.value).startswith("3 errors")
    assert [f"line {line}, " in str(caught.value) for line in (3, 4, 5)] == [True] * 3


def test_a_statement_that_uses_a_wrong_one_is_not_reported_too():
    text = "def f(float(N) A) -> (C) {\n B(i) = nothing(i)\n C(i) = B(i) + A(i)\n}"
    with pytest.raises(OperatorError) as caught:
        operators(text)
    assert "errors" not in str(caught.value)


def test_at_most_ten_problems_are_reported():
    text = "def f(float(N) A) -> (C) {\n" + "".join(f"C{n}(i) = nothing(i)\n" for n in range(50)) + "}"
    with pytest.raises(OperatorError, match="10 errors"):
        operators(text)


@pytest.mark.parametrize("opening", ["(", "A(", "-", "!", "((", "[", "{", "exp(", "a ? ", "x="])
def test_a_hundred_thousand_of_anything_is_refused(opening):
    with pytest.raises(OperatorError):
        operators("def f(float(N) A) -> (B) { B(i) = " + opening * (100_000 // len(opening)) + " }")


def test_lets_that_double_are_refused():
    lets = ", ".join(f"x{n + 1} = x{n} + x{n}" for n in range(60))
    with pytest.raises(OperatorError, match="more than 20000 terms"):
        operators(f"def f(float(N) A) -> (B) {{ B(i) = x60 where x0 = A(i), {lets} }}")


def test_lets_that_nest_are_refused():
    lets = ", ".join(f"x{n + 1} = 1.0 + x{n}" for n in range(600))
    with pytest.raises(OperatorError, match="once its lets are put in"):
        operators(f"def f(float(N) A) -> (B) {{ B(i) = x600 where x0 = A(i), {lets} }}")


def test_a_text_without_a_def_defines_no_operator():
    assert operators("# nothing\n") == {}
    with pytest.raises(OperatorError, match="defines no operator"):
        operator("")


def test_two_unrelated_defs_are_not_one_operator():
    text = "def f(float(N) A) -> (B) { B(i) = A(i) } def g(float(N) A) -> (B) { B(i) = A(i) }"
    assert list(operators(text)) == ["f", "g"]
    with pytest.raises(OperatorError, match=r"several operators \(f, g\)"):
        operator(text)


def test_a_chain_of_operators_without_end_is_refused():
    chain = "+".join(["A(i)"] * 3000)
    with pytest.raises(OperatorError, match="operands in a row"):
        operator(f"def f(float(N) A) -> (O) {{ O(i) = {chain} }}")


@pytest.mark.slow
def test_too_many_statements_are_refused():
    with pytest.raises(OperatorError, match="more than 4000 statements"):
        operators("def f(float(N) A) -> (B) {" + "B(i) = A(i)\n" * 5000 + "}")


def test_calls_that_double_are_refused():
    defs = "".join(
        f"def f{n + 1}(float(N) A, int32 k) -> (B) {{ T = f{n}(A, k)  B = f{n}(T, k) }}\n" for n in range(40)
    )
    with pytest.raises(OperatorError, match=r"statements|deep"):
        operators("def f0(float(N) A, int32 k) -> (B) { B(i) = A(i) where i in 0:k }\n" + defs)


def test_a_long_chain_of_calls_is_refused():
    defs = "".join(f"def f{n + 1}(float(N) A) -> (B) {{ B = f{n}(A) }}\n" for n in range(2000))
    with pytest.raises(OperatorError, match="calls are nested more than 16 deep"):
        operators("def f0(float(N) A) -> (B) { B(i) = A(i) }\n" + defs)
