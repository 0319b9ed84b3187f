"""Sizes from shapes."""

from __future__ import annotations

import pytest

from tests.runtime.hand import parameter
from workbench.codegen.kernel import Signature
from workbench.errors import CallError
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Expr, Size, integer
from workbench.runtime.arrays.symbols import solve_symbols

N, K, S = Size("N"), Size("K"), Size("S")


def op(kind: str, a: Expr, b: Expr) -> Expr:
    return Binary(kind, a, b, INT32)


def solved(shapes: list[tuple[int, ...] | None], *arrays: tuple[Expr | int, ...], **known: int) -> dict[str, int]:
    inputs = tuple(parameter(f"A{n}", shape) for n, shape in enumerate(arrays))
    signature = Signature("f", (*inputs, parameter("O", (N,), role="output")), ("N", "K"))
    return solve_symbols(signature, [*shapes, None], known)


def test_plain_sizes() -> None:
    assert solved([(3, 4)], (N, K)) == {"N": 3, "K": 4}


def test_arithmetic_is_solved_for_its_one_unknown() -> None:
    twice = op("+", op("*", integer(2), N), integer(1))
    assert solved([(7,), (9,)], (twice,), (op("-", K, N),)) == {"N": 3, "K": 12}


def test_what_is_known_helps() -> None:
    strided = op("+", op("*", op("-", N, integer(1)), S), K)
    assert solved([(11,), (3,)], (strided,), (K,), S=2) == {"S": 2, "K": 3, "N": 5}


@pytest.mark.parametrize("extent", [8, 0])
def test_an_extent_that_no_size_gives_leaves_it_unknown(extent: int) -> None:
    with pytest.raises(CallError, match=r"no array tells the size N; give it as a keyword: N=\.\.\. \(known: K=4\)"):
        solved([(extent,), (4,)], (op("+", op("*", integer(2), N), integer(1)),), (K,))


def test_a_floor_is_not_guessed() -> None:
    with pytest.raises(CallError, match="no array tells the size N"):
        solved([(3,), (4,)], (op("/", N, integer(2)),), (K,))
