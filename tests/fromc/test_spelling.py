"""One spelling for what C writes in several ways; lengths of pointers."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.fromc.pieces import raised_at
from workbench.fromc.spelling import respelled
from workbench.lang.dtypes import BFLOAT16, BOOL
from workbench.lang.expr import Expr
from workbench.lang.printing.printer import show
from workbench.poly import out_of_bounds
from workbench.poly.programs.program import Program

TYPES = {"A": BFLOAT16, "M": BOOL}


def last(body: str) -> Expr:
    """The value of the last statement, in one spelling."""
    head = (
        "void f(const uint16_t A[8], const uint8_t M[8], const float X[8], const int idx[8], float Y[8], uint8_t N[8])"
    )
    program = wb.from_c(f"#include <stdint.h>\n{head} {{ for (int i = 0; i < 8; i++) {{ {body} }} }}")
    return respelled(program, TYPES).statements[-1].values[0]


SAME = {
    "numbers": ("Y[i] = X[i] * 2.0f;", "Y[i] = X[i] * (float)(1 + 1);"),
    "rounding": ("Y[i] = X[i] * 0.1f;", "Y[i] = X[i] * 0.100000001490116f;"),
    "truth": ("Y[i] = M[i] ? 1.0f : 0.0f;", "Y[i] = (M[i] != 0) ? 1.0f : 0.0f;"),
    "and": ("Y[i] = (X[i] > 0.0f) & (X[i] < 1.0f) ? X[i] : 0.0f;", "Y[i] = X[i] > 0.0f && X[i] < 1.0f ? X[i] : 0.0f;"),
    "held truth": ("int t = X[i] > 0.0f; Y[i] = t != 0 ? 1.0f : 0.0f;", "int t = X[i] > 0.0f; Y[i] = t ? 1.0f : 0.0f;"),
    "casts of indices": ("Y[i] = X[idx[i]];", "Y[i] = X[(int64_t)idx[i]];"),
}
DIFFERENT = {
    "negative zero": ("Y[i] = X[i] * 0.0f;", "Y[i] = X[i] * -0.0f;"),
    "order": ("Y[i] = X[i] - 1.0f;", "Y[i] = 1.0f - X[i];"),
    "narrow": ("Y[i] = (float)(uint8_t)idx[i];", "Y[i] = (float)idx[i];"),
    "an integer that is no truth": ("Y[i] = idx[i] != 0 ? 1.0f : 0.0f;", "Y[i] = idx[i] == 1 ? 1.0f : 0.0f;"),
}


@pytest.mark.parametrize("name", SAME)
def test_two_ways_to_write_it_come_out_the_same(name):
    one, other = map(last, SAME[name])
    assert show(one) == show(other)
    assert repr(one) == repr(other)


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_means_something_else_stays_different(name):
    one, other = map(last, DIFFERENT[name])
    assert repr(one) != repr(other)


def test_sixteen_bit_floats_have_their_types():
    body = "Y[i] = wb_from_bf16_f32(A[i]);"
    assert show(last(body)) == "float(A(i))"


def test_a_program_in_the_operator_language_stays_as_it_is():
    program = wb.poly.lower(wb.ops.load("softmax"), {"M": 3, "N": 4})
    types = {a.name: a.dtype for a in program.arrays.values()}
    once = respelled(program, types)
    assert [s.values for s in respelled(once, types).statements] == [s.values for s in once.statements]
    assert [s.accesses for s in once.statements] == [s.accesses for s in program.statements]


PIECES = """
#include <stdint.h>
int64_t f_workspace(int threads)
{
    (void)threads;
    return 96;
}

int f(const float *restrict A, float *restrict B, void *workspace, int threads)
{
    float *restrict t = (float *)((char *)workspace + 0);
    float *restrict u = (float *)((char *)workspace + 64);
    for (int i = 0; i < %s; i++) t[i] = A[i];
    for (int i = 0; i < %s; i++) u[i] = t[i];
    for (int i = 0; i < 8; i++) B[i] = u[i];
    return 0;
}
"""


def pieces(first: int, second: int, lengths: dict[str, int]) -> Program:
    return raised_at(PIECES % (first, second), "f", lengths)


def test_pieces_of_a_workspace_end_where_the_next_one_begins():
    assert not out_of_bounds(pieces(16, 8, {"A": 16, "B": 8}))
    (outside,) = (x for x in out_of_bounds(pieces(17, 8, {"A": 17, "B": 8})) if x.access.array == "t")
    assert outside.index == 16
    assert {x.access.array for x in out_of_bounds(pieces(16, 9, {"A": 16, "B": 8}))} == {"u"}


def test_pointers_have_the_lengths_they_are_given_and_no_others():
    assert [x.access.array for x in out_of_bounds(pieces(16, 8, {"A": 12}))] == ["A"]
