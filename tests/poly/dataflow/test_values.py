"""Expressions at instances: their cases, and the numbers that they are."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.lang.dtypes import FLOAT64
from workbench.lang.expr import Binary, Call, Const, Expr, Read, Select
from workbench.poly.dataflow.last_writers import Dataflow, assignments
from workbench.poly.dataflow.values import Value, changes_nothing
from workbench.poly.programs.affine import NotAffine
from workbench.poly.sets import isl

TEXT = """
void f(double A[6], double B[8], double C[8], double S[1]) {
    double p[8];
    for (int i = 0; i < 6; i++) p[i] = A[i];
    for (int i = 6; i < 8; i++) p[i] = 0.0;
    for (int i = 0; i < 8; i++) S[0] = S[0] + p[i] * p[i];
    for (int i = 0; i < 8; i++) B[i] = i < 6 ? p[i] : 2.0;
    for (int i = 0; i < 8; i++) C[i] = i < 6 ? 3.0 : 3.0 + p[i];
}"""


def value(array: str, where: str = "true") -> Value:
    """The value of the last assignment to an array, at some instances."""
    program = wb.from_c(TEXT)
    flow = Dataflow(program, assignments(program))
    step = next(s for s in reversed(flow.steps.values()) if s.array == array)
    points = step.domain.intersect(isl.parse_set(f"{{ {step.tuple} : {where} }}"))
    return Value(flow, step, isl.Set.identity(points), step.value)


def test_a_number_behind_copies_choices_and_arithmetic():
    assert value("C").constant() == 3.0
    assert value("B", "i >= 6").constant() == 2.0
    assert value("B", "i < 6").constant() is None
    assert value("p").constant() == 0.0
    squares = value("S", "i >= 6")
    assert isinstance(squares.expr, Binary)
    assert squares.part(squares.expr.right).constant() == 0.0
    assert squares.constant() is None


def test_numbers_of_any_size_are_exact():
    big = value("p").part(Const((1 << 63) - 1, FLOAT64))
    assert big.constant() != (1 << 63) - 2
    assert big.part(Call("max", (Const(-1, FLOAT64), Const(4, FLOAT64)), FLOAT64)).constant() == 4


def test_updates_by_the_identity_change_nothing():
    assert changes_nothing(value("S", "i >= 6"), "+")
    assert not changes_nothing(value("S", "i >= 5"), "+")
    assert not changes_nothing(value("S", "i >= 6"), "*")
    assert not changes_nothing(value("S", "i >= 6"), None)


def test_an_update_that_loses_its_cell_changes_something():
    update = value("S", "i >= 6")
    assert isinstance(update.expr, Binary)
    lost = Binary("*", update.expr.left, update.expr.right, FLOAT64)
    assert not changes_nothing(update.part(lost), "+")


def test_cases_of_reads_and_choices():
    chosen = value("B")
    assert isinstance(chosen.expr, Select)
    then, otherwise = chosen.cases() or (chosen, chosen)
    assert then.where.domain().is_equal(isl.parse_set("{ S3_0[i] : 0 <= i < 6 }"))
    assert otherwise.expr == Const(2.0, FLOAT64)
    (moved,) = then.cases() or (then,)
    assert isinstance(moved.expr, Read)
    assert moved.expr.tensor == "A"
    assert moved.cases() is None  # nothing wrote A
    assert value("S").cases() is None  # an operation is in no other words
    assert len(value("C", "i >= 6").cases() or ()) == 2


@pytest.mark.parametrize("expr", [Read("A", (), FLOAT64)])
def test_data_are_no_numbers(expr: Expr):
    with pytest.raises(NotAffine):
        value("p").part(expr).number()
