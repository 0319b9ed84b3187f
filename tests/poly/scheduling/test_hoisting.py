"""Taking loops apart that only line up what runs one after another."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench import poly
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Index, Size
from workbench.poly.programs.tree import Band, Leaf, Loop, Sequence, loops
from workbench.poly.scheduling.hoisting import hoisted
from workbench.schedules.normal_form import normal_form


@pytest.fixture
def matmul():
    return wb.lower(wb.ops.matmul)


def row(name):
    return Index(name, INT64)


def test_what_stands_in_the_first_iteration_leaves_the_loop(matmul):
    zero = Const(0, INT64)
    inner = Loop("k", (("S0", zero), ("S1", row("k"))))
    outer = tuple(Loop(d, (("S0", row(d)), ("S1", row(d)))) for d in "mn")
    tree = Band((*outer, inner), Sequence((Leaf("S0"), Leaf("S1"))))
    assert normal_form(matmul, hoisted(matmul, tree)) == normal_form(matmul, poly.naive_tree(matmul))


def test_what_others_pass_stays_inside(matmul):
    one = Const(1, INT64)
    inner = Loop("k", (("S0", one), ("S1", row("k"))))
    outer = tuple(Loop(d, (("S0", row(d)), ("S1", row(d)))) for d in "mn")
    tree = Band((*outer, inner), Sequence((Leaf("S0"), Leaf("S1"))))
    assert hoisted(matmul, tree) == tree


def test_ranges_that_follow_one_another_become_loops_that_do():
    program = wb.lower(wb.operator("def f(float(N) A, float(M) B) -> (X, Y) { X(i) = A(i)\n Y(j) = B(j) }"))
    later = Binary("+", row("j"), Size("N", INT64), INT64)
    tree = Band((Loop("t", (("S0", row("i")), ("S1", later))),), Sequence((Leaf("S0"), Leaf("S1"))))
    apart = hoisted(program, tree)
    assert isinstance(apart, Sequence)
    assert [loop.rows for loop in loops(apart)] == [(("S0", row("i")),), (("S1", row("j")),)]


def test_ranges_that_meet_only_in_small_programs_stay_in_one_loop():
    program = wb.lower(wb.operator("""def f(float(N) A) -> (T) {
        T(j) = A(j) where j in 0:N + 1
        T(k) = T(k) + A(0) where k in 1:N
        T(l) = A(l) * 2 where l in 0:N + 1
    }""", ))
    n = Size("N", INT64)
    twice = Binary("*", Const(2, INT64), n, INT64)
    rows = (("S0", row("j")), ("S1", Binary("+", row("k"), n, INT64)), ("S2", Binary("+", row("l"), twice, INT64)))
    tree = Band((Loop("t", rows),), Sequence((Leaf("S0"), Leaf("S1"), Leaf("S2"))))
    assert not poly.violations(program, tree)
    assert not poly.violations(program, hoisted(program, tree))
