"""Choices that the domain decides are gone from the program; the others lose the comparisons that always hold."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.lang.printing.printer import show

DECIDED = {
    "inside": ("(float(N) A) -> (B) { B(i) = i >= 0 && i < N ? A(i) : 0 }", "A(i)"),
    "outside": ("(float(N) A) -> (B) { B(i) = i >= N ? A(i - N) : 1 where i in 0:N }", "1.0"),
    "one end": ("(float(N) A) -> (B) { B(i) = i >= 0 && i < N ? A(i) : 0 where i in 0:N+2 }", "i < N ? A(i) : 0.0"),
    "both ends": (
        "(float(N) A) -> (B) { B(i) = i >= 1 && i <= N ? A(i - 1) : 0 where i in 0:N+2 }",
        "i >= 1 && i <= N ? A(i - 1) : 0.0",
    ),
    "inner": (
        "(float(N) A) -> (B) { B(i) = i < 3 ? (i < 5 ? A(i) : 7) : (i > 1 ? 2 * A(i) : 8) }",
        "i < 3 ? A(i) : 2.0 * A(i)",
    ),
    "a triangle": ("(float(N, N) A) -> (B) { B(i, j) = j <= i ? A(i, j) : 0 where i in 0:N, j in 0:i+1 }", "A(i, j)"),
    "data": ("(float(N) A, float(N) C) -> (B) { B(i) = C(i) > 0 && i < N ? A(i) : 0 }", "C(i) > 0.0 ? A(i) : 0.0"),
    "types": ("(float(N) A, int32(N) C) -> (B) { B(i) = i < N ? C(i) : A(i) }", "float(C(i))"),
}


@pytest.mark.parametrize("name", DECIDED)
def test_choices(name: str) -> None:
    text, expected = DECIDED[name]
    (statement,) = wb.lower(wb.operator(f"def f{text}")).statements
    assert show(statement.values[0]) == expected


@pytest.mark.parametrize("wrapping", ["int64(i * 1000000000)", "abs(i * 1000000000)", "int32(i << 30)"])
def test_a_number_that_may_wrap_around_decides_nothing(wrapping: str) -> None:
    op = wb.operator(f"def f(float(N) A) -> (B) {{ B(i) = {wrapping} < 0 ? A(i) : 7 }}")
    A = np.arange(20, dtype=np.float32)
    np.testing.assert_array_equal(wb.build(wb.schedule(op))(A), op.evaluate(A))
    assert "?" in show(wb.lower(op).statements[0].values[0])


def test_a_convolution_without_padding_copies() -> None:
    sizes = dict(N=1, C=2, H=5, W=6, F=3, KH=1, KW=1, stride=2, dilation=1)
    bare, padded = (wb.lower(wb.ops.conv2d.astype("float"), **sizes, pad=p).statement("S0") for p in (0, 1))
    assert show(bare.values[0]) == "I(n, c, y, x)"
    assert "?" in show(padded.values[0])
