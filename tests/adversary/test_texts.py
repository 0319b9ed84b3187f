"""Operator texts of any size and alphabet: an answer in bounded time, with the fix one would like to read."""

from __future__ import annotations

import resource
import time

import numpy as np
import pytest

import workbench as wb
from workbench.errors import OperatorError

MILLION = 1_000_000
LONG = {
    "a comment": "def f(float(N) A) -> (B) { # " + "x" * MILLION + "\n B(i) = A(i) }",
    "a name": "def f(float(N) " + "A" * MILLION + ") -> (B) { B(i) = 1.0 }",
    "a number": "def f(float(N) A) -> (B) { B(i) = A(i) + " + "1" * MILLION + " }",
    "parentheses": "def f(float(N) A) -> (B) { B(i) = " + "(" * 100_000 + "A(i)" + ")" * 100_000 + " }",
    "fewer parentheses": "def f(float(N) A) -> (B) { B(i) = " + "(" * 90_000 + "A(i)" + ")" * 90_000 + " }",
    "digits": "def f(float(N) A) -> (B) { B(i) = A(i) + " + "1" * 190_000 + " }",
    "hexadecimal digits": "def f(float(N) A) -> (B) { B(i) = A(i) + 0x" + "f" * 190_000 + " }",
    "a chain": "def f(float(N) A) -> (B) { B(i) = A(i)" + " + A(i)" * 5_000 + " }",
    "branches": "def f(float(N) A) -> (B) { B(i) = " + "A(i) > 0 ? 1.0 : " * 3_000 + "2.0 }",
    "closing braces": "}" * 190_000,
    "loops": "def f(float(N) A) -> (B) {" + "for t in 0:N {" * 3_000 + "B(i) = A(i)" + "}" * 3_000 + "}",
    "einsum": None,
}


@pytest.mark.parametrize("what", LONG)
def test_long_texts_are_refused_in_bounded_time_and_memory(what: str) -> None:
    text, before, start = LONG[what], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(OperatorError) as caught:
        wb.einsum("m" * MILLION + "->m") if text is None else wb.operator(text)
    assert time.process_time() - start < 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("body", "message", "fix"),
    [
        ("B(i) = A(i) + 1e999", "the number does not fit into double", "infinity is written inf"),
        ("B(i) = A(i) - 1e999", "the number does not fit into double", "infinity is written inf"),
        ("B(i) = -1e999", "the number does not fit into double", "infinity is written inf"),
        ("B(i) = A(i) + ١", "expected an expression but found '١'", "the letters a to z, digits and _"),
        ("B(ｉ) = A(ｉ)", "expected an expression", "the letters a to z, digits and _"),
        ("B(i\u200d) = A(i)", "found '\\u200d'", "the letters a to z, digits and _"),
        ("B(i\u202e) = A(i)", "found '\\u202e'", "the letters a to z, digits and _"),
        ("B(i) = A(i) \ud800", "found '\\ud800'", "the letters a to z, digits and _"),
        ("B(i) = A(i)\x00", "found '\\x00'", ""),
        ("// what it does\n B(i) = A(i)", "found '/'", "a comment starts with #"),
        ("B(i) = 1.0 if A(i) > 0 else 0.0", "found 'if'", "write condition ? value : other"),
        ("B = sum(A(i))", "unknown tensor or function 'sum'", "a sum is an assignment: s +=! A(i)"),
        ("B = mean(A(i))", "unknown tensor or function 'mean'", "divided by the extent"),
        ("B(i) = A(i)**2", "found '*'", "powers are written pow(x, y), squares x * x"),
    ],
)  # fmt: skip
def test_slips_and_foreign_letters_get_a_fix(body: str, message: str, fix: str) -> None:
    with pytest.raises(OperatorError) as caught:
        wb.operator(f"def f(float(N) A) -> (B) {{ {body} }}")
    assert message in str(caught.value)
    assert fix in str(caught.value)
    assert "^" in str(caught.value)


def test_huge_constants_keep_their_value() -> None:
    text = "def f(double(N) A) -> (B) { B(i) = A(i) * 1e308 + 9223372036854775807 - 0." + "1" * 10_000 + " }"
    op = wb.operator(text)
    given = np.array([0.0, 1.5, -1e300])
    np.testing.assert_array_equal(op(given), op.evaluate(given))


def test_two_hundred_statements() -> None:
    steps = "\n".join(f"T{n}(i) = T{n - 1}(i) + {n}" for n in range(1, 200))
    op = wb.operator(f"def f(float(N) X) -> (T199) {{ T0(i) = X(i)\n{steps} }}")
    np.testing.assert_array_equal(op(np.ones(5, "f4")), np.full(5, 19_901, "f4"))


def test_deep_loops_and_many_dimensions() -> None:
    text = "def f(float(N) X) -> (float(N) Y) {" + "".join(f"for t{n} in 0:3 {{" for n in range(8))
    op = wb.operator(text + "Y(i) +=! X(i) * X(q) where q in 0:N " + "}" * 9)
    np.testing.assert_array_equal(op(np.ones(4, "f4")), np.full(4, 4, "f4"))
    names = [[f"{letter}{n}" for n in range(12)] for letter in "Ni"]
    sizes, indices = map(", ".join, names)
    wide = wb.operator(f"def g(float({sizes}) X) -> (Y) {{ Y({indices}) = X({indices}) + 1 }}")
    assert wide(np.ones((2,) * 12, "f4")).sum() == 2 * 2**12
