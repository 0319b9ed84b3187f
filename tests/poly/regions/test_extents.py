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


@pytest.mark.parametrize(
    ("condition", "along_i", "along_j"),
    [
        ("j >= i - 8 && j <= i + 8", 17, 17),
        ("j == 2 * i + 1", None, None),
        ("j >= 3 && j < 7 && i >= 2", 38, 4),
        ("j <= i", 40, 40),
        ("2 * j >= i && j <= i", 20, None),
        ("j % 3 == 0", None, None),
        ("j == 0 || i == 3", None, None),
        ("A(i,j) > 0 && j == i", None, None),
    ],
)
def test_runs_that_read_an_array_end_where_conditions_do(
    condition: str, along_i: int | None, along_j: int | None
) -> None:
    text = f"def f(float(N,N) A, float(N,N) B) -> (O) {{ O(i,j) = {condition} ? A(i,j) * B(j,i) : 0.0 }}"
    program = wb.lower(wb.operator(text), N=40)
    assert [poly.longest_run(program, "O", "B", dim) for dim in ("i", "j")] == [along_i, along_j]


def test_a_run_may_be_short_whatever_the_sizes_are() -> None:
    band = wb.lower(wb.operator(
        "def f(float(N,N) A, float(N,N) B) -> (O) { O(i,j) = j >= i - 2 && j <= i ? A(i,j) * B(j,i) : A(i,j) }"
    ))  # fmt: skip
    assert [poly.longest_run(band, "O", array, "j") for array in ("A", "B")] == [None, 3]
