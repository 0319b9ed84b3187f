"""The one normal form of integer expressions: same value, same form for equal polynomials, types on request."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.lang.algebra.folding import fold
from workbench.lang.algebra.normal_form import (
    bound,
    constant,
    depends,
    divide,
    exact_quotient,
    extreme,
    growth,
    is_plain,
    mentions,
    polynomial,
    remainder,
    simplify,
)
from workbench.lang.algebra.polynomial import ZERO, atom, expression, number, split_linear
from workbench.lang.dtypes import FLOAT32, INT32, INT64, UINT8, UINT32
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary, integer, walk

NAMES = ("M", "N", "i", "j")
M, N, ROW, COLUMN = Size("M"), Size("N"), Index("i"), Index("j")
m, n, i, j = map(atom, (M, N, ROW, COLUMN))


def grown(children: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    """Index arithmetic over smaller index arithmetic."""
    binary = st.builds(Binary, st.sampled_from("+-*/%"), children, children, st.just(INT32))
    several = st.lists(children, min_size=2, max_size=3).map(tuple)
    extremes = st.builds(Call, st.sampled_from(["min", "max"]), several, st.just(INT32))
    return binary | extremes | st.builds(Unary, st.just("-"), children, st.just(INT32))


leaves = st.sampled_from([M, N, ROW, COLUMN]) | st.integers(-9, 9).map(integer)
exprs = st.recursive(leaves, grown, max_leaves=8)
values = st.fixed_dictionaries({name: st.integers(-7, 7) for name in NAMES})


@given(exprs, values)
def test_the_value_stays(expr: Expr, at: dict[str, int]):
    assert fold(simplify(expr), at) == fold(expr, at)
    assert fold(simplify(expr, INT32), at) == fold(expr, at)


@given(exprs)
def test_a_normal_form_is_its_own_normal_form(expr: Expr):
    once = simplify(expr)
    assert polynomial(once) == polynomial(expr)
    assert simplify(once) == once


@given(exprs)
def test_the_type_asked_for_is_everywhere(expr: Expr):
    assert {node.dtype for node in walk(simplify(expr))} == {INT64}
    assert {node.dtype for node in walk(simplify(expr, INT32))} == {INT32}


@given(exprs, exprs, values)
def test_quotients_round_down_and_remainders_complete_them(a: Expr, b: Expr, at: dict[str, int]):
    x, y = fold(a, at), fold(b, at)
    quotient = fold(expression(divide(polynomial(a), polynomial(b))), at)
    rest = fold(expression(remainder(polynomial(a), polynomial(b))), at)
    assert quotient == (x // y if y else 0)
    assert rest == (x % y if y else 0)


@given(exprs, exprs, exprs)
def test_equal_polynomials_are_equal_and_hash_alike(a: Expr, b: Expr, c: Expr):
    p, q, r = map(polynomial, (a, b, c))
    assert (p + q) * r == r * q + p * r
    assert hash((p + q) * r) == hash(r * q + p * r)
    assert not (p - q) + (q - p)


@given(exprs, values)
def test_growth_is_the_difference_of_neighbours(expr: Expr, at: dict[str, int]):
    found = growth(expr, "i")
    difference = fold(expr, {**at, "i": at["i"] + 1}) - fold(expr, at)
    assert found is None or found == difference
    assert depends(expr, "i") or difference == 0


@given(exprs)
def test_split_takes_a_linear_unknown_apart(expr: Expr):
    form = polynomial(expr)
    parts = split_linear(form, Size("N", INT64))
    if parts is not None:
        factor, rest = parts
        assert factor * n + rest == form


def test_split_refuses_what_is_not_linear():
    assert split_linear(n * n, Size("N", INT64)) is None
    assert split_linear(polynomial(Binary("/", N, integer(2), INT32)) * n, Size("N", INT64)) is None
    assert split_linear(m + 1, Size("N", INT64)) == (ZERO, m + 1)


def test_an_index_inside_a_read_is_seen_whatever_its_type():
    gather = Binary("+", Read("T", (ROW,), INT32), ROW, INT32)
    assert mentions(gather, "i")
    assert depends(gather, "i")
    assert growth(gather, "i") is None


def test_a_size_and_an_index_of_one_name_are_two_atoms():
    assert polynomial(Binary("-", Size("i"), Index("i"), INT32))
    assert growth(Size("i"), "i") == 0


def test_multiples_leave_a_floor_division():
    assert divide(n * 4 + i + 7, number(4)) == n + 1 + divide(i + 3, number(4))
    assert divide(divide(n, number(2)), number(3)) == divide(n, number(6))
    assert divide(n, number(-2)) == divide(-n, number(2))


def test_multiples_leave_a_remainder():
    assert remainder(n * 8 + i, number(4)) == remainder(i, number(4))
    assert remainder(remainder(n, number(12)), number(4)) == remainder(n, number(4))
    assert remainder(n, number(1)) == remainder(n, ZERO) == ZERO


def test_division_by_zero_is_zero():
    assert divide(n + 1, ZERO) == ZERO


def test_an_exact_quotient_takes_the_terms_that_divide():
    assert exact_quotient(m * n * 6 + n * 3 + m, n * 3) == (m * 2 + 1, m)
    assert exact_quotient(m, n) == (ZERO, m)


def test_extremes_are_flat_and_drop_what_never_wins():
    assert extreme("min", [n, extreme("min", [n + 1, m])]) == extreme("min", [n, m])
    assert extreme("max", [n, n - 3]) == n
    assert expression(extreme("min", [number(4), n])) == Call("min", (Size("N", INT64), Const(4, INT64)), INT64)


def test_terms_are_written_as_they_came():
    assert bound(number(5) - n - m) == Binary("-", Binary("-", integer(5), N, INT32), M, INT32)
    assert bound(-n + i * 2) == Binary("-", Binary("*", integer(2), ROW, INT32), N, INT32)
    assert bound(ZERO) == integer(0)


def test_only_signed_arithmetic_is_opened():
    wraps = Binary("-", Read("U", (), UINT32), Const(1, UINT32), UINT32)
    assert polynomial(wraps) == atom(wraps)
    real = Binary("+", Read("X", (), FLOAT32), Const(1.5, FLOAT32), FLOAT32)
    assert simplify(real) == real


def test_a_cast_that_keeps_every_value_of_index_arithmetic_is_no_matter():
    assert polynomial(Cast(Binary("+", ROW, integer(1), INT32), INT64)) == i + 1
    narrow = Cast(Size("s", INT64), INT32)
    assert polynomial(narrow) == atom(narrow)
    data = Cast(Read("U", (), UINT8), INT32)
    assert polynomial(data) == atom(data)


def test_plain_arithmetic_reads_nothing_and_does_not_wrap():
    assert is_plain(Binary("/", Unary("-", ROW, INT32), N, INT32))
    assert not is_plain(Read("T", (), INT32))
    assert not is_plain(Select(Const(True, INT32), ROW, COLUMN, INT32))
    assert not is_plain(Binary("+", Const(1, UINT32), Const(1, UINT32), UINT32))


def test_constants_are_known_in_any_spelling():
    assert constant(Binary("-", Binary("*", N, M, INT32), Binary("*", M, N, INT32), INT32)) == 0
    assert constant(Binary("-", N, M, INT32)) is None
