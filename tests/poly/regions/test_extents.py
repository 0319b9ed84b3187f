"""What the dims of a statement take: each on its own, and together."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench import poly


def update(condition: str) -> poly.Program:
    where = f" where {condition}" if condition else ""
    text = f"def f(float(M,K) A, float(K,N) B) -> (C) {{ C(m,n) +=! A(m,k) * B(k,n){where} }}"
    return wb.lower(wb.operator(text), dict(M=6, N=8, K=5))


@pytest.mark.parametrize(
    ("condition", "dims", "box"),
    [
        ("", ("m", "n", "k"), True),
        ("m in 1:4", ("m", "n"), True),
        ("m in 0:M, n in m:N", ("m", "n"), False),
        ("m in 0:M, n in m:N", ("m", "k"), True),
        ("m in 0:5, k in m:K", ("m", "n"), True),
        ("m in 0:5, k in m:K", ("m", "n", "k"), False),
    ],
)
def test_dims_are_independent_where_they_make_a_box(condition: str, dims: tuple[str, ...], box: bool) -> None:
    program = update(condition)
    assert poly.independent(program, program.statement("C").id, dims) is box
