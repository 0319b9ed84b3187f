"""C's `/` and `%` round towards zero for every number of a type, its least one too."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.chain.interpreter import interpreted

QUOTIENTS = ("x / 3", "x % 3", "x / -3", "x % -3", "x / 4", "-x / 3", "-x % 3", "(x - 1) / 3", "(x + i) % 5",
             "(x * 2) % 3", "x / 2147483647", "(x * 2) / 2147483647")  # fmt: skip


@pytest.mark.parametrize("number", ["short", "int", "long"])
def test_a_quotient_of_the_ends_of_a_type_is_rounded_towards_zero(number: str) -> None:
    dtype = {"short": np.int16, "int": np.int32, "long": np.int64}[number]
    body = " ".join(f"b[i][{n}] = {text};" for n, text in enumerate(QUOTIENTS))
    text = f"void f({number} x, {number} b[2][{len(QUOTIENTS)}]) {{ for (int i = 0; i < 2; i++) {{ {body} }} }}"
    program, before = wb.from_c(text), np.zeros((2, len(QUOTIENTS)), dtype)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    for x in (least, least + 1, -7, -1, 0, 5, most - 1, most):
        found = program(dtype(x), before.copy())
        np.testing.assert_array_equal(found, interpreted(text, {"x": x, "b": before})["b"], err_msg=f"x = {x}")


def test_a_comparison_at_the_end_of_a_type_is_not_rearranged_beyond_it() -> None:
    text = "void f(int n, long x, int A[n]) { for (int i = 0; i < n; i++) { long s = ~i + x; A[i] = s < x; } }"
    of = wb.from_c(text)
    for x in (2**63 - 1, 0, -5, -(2**62)):
        np.testing.assert_array_equal(wb.build(wb.schedule(of))(4, x, np.zeros(4, "int32")), [1, 1, 1, 1])
