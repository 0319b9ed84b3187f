"""Quotients and remainders in one form: the same integer, and spellings that mean one thing are one form."""

from __future__ import annotations

from random import Random

import pytest

from tests.support import examples
from workbench.codegen.passes.subscript_collapse import divisions, in_quotients
from workbench.lang.algebra.folding import fold
from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.algebra.polynomial import expression
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index

X, Y = Index("x", INT64), Index("y", INT64)


def anything(random: Random, depth: int) -> Expr:
    chance = random.random()
    if depth == 0 or chance < 0.2:
        return random.choice([X, Y, Const(random.randint(-9, 20), INT64)])
    if chance < 0.7:
        return Binary(random.choice("+-"), anything(random, depth - 1), anything(random, depth - 1), INT64)
    if chance < 0.8:
        return Binary("*", Const(random.randint(-9, 9), INT64), anything(random, depth - 1), INT64)
    return Binary(random.choice("/%"), anything(random, depth - 1), Const(random.randint(1, 12), INT64), INT64)


def test_the_form_is_the_same_integer():
    random = Random(5)
    for _ in range(examples(quick=200, ci=1000, full=20_000)):
        expr = anything(random, 5)
        form = expression(in_quotients(polynomial(expr)), INT64)
        for _ in range(4):
            at = {"x": random.randint(-300, 300), "y": random.randint(-300, 300)}
            assert fold(form, at) == fold(expr, at)


def over(op: str, a: Expr, c: int) -> Expr:
    return Binary(op, a, Const(c, INT64), INT64)


def plus(a: Expr, b: Expr) -> Expr:
    return Binary("+", a, b, INT64)


def times(c: int, a: Expr) -> Expr:
    return Binary("*", Const(c, INT64), a, INT64)


BLOCKED = plus(times(16, X), Y)


@pytest.mark.parametrize("whole", [X, BLOCKED, Binary("-", Const(62, INT64), X, INT64)], ids=["x", "16x + y", "62 - x"])
def test_what_a_division_leaves_cancels(whole):
    row, column = over("/", whole, 9), over("%", whole, 9)
    three = [over("/", whole, 63), over("%", over("/", whole, 9), 7), over("%", whole, 9)]
    other = [over("/", whole, 63), over("/", over("%", whole, 63), 9), over("%", over("%", whole, 63), 9)]
    assert in_quotients(polynomial(plus(times(9, row), column))) == polynomial(whole)
    for a, b, c in (three, other):
        assert in_quotients(polynomial(plus(times(63, a), plus(times(9, b), c)))) == polynomial(whole)


def test_what_does_not_cancel_stays():
    padded = plus(times(11, over("/", X, 9)), over("%", X, 9))
    assert len(divisions(in_quotients(polynomial(padded)))) == 1
