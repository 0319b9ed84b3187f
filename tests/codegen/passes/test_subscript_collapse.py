"""Fused loops that walk through memory: no division is left in the text, and lanes load neighbours."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.small_sizes import MACHINE
from workbench import poly
from workbench.codegen.passes.subscript_collapse import joined_subscripts
from workbench.lang.expr import Index
from workbench.lang.printing.index_text import index_map
from workbench.lang.printing.printer import show

CONV = wb.operator("def conv(float(C,H,W) I, float(F,C) K) -> (O) { O(f,h,w) +=! I(c,h,w) * K(f,c) }")
SIZES = {"C": 5, "H": 7, "W": 9, "F": 4}
FUSED = wb.schedule(CONV, **SIZES) | wb.fuse("h", "w", name="x")


def divisions(schedule):
    """`/` and `%` in the loops of the kernel, but for those that count registers and blocks."""
    text = wb.generate(schedule).source.partition("int conv(")[2]
    return [line for line in text.splitlines() if (" % " in line or "floordiv" in line or "/ 9" in line)]


APART = FUSED | wb.decompose_reduction("O")


@pytest.mark.parametrize(
    "schedule",
    [
        FUSED | wb.split("x", 16) | wb.parallelize("x_o"),
        FUSED | wb.split("x", 32) | wb.split("x_i", 8) | wb.unroll("x_i_i"),
        FUSED | wb.reverse("x") | wb.split("x", 5),
        FUSED | wb.shift("x", 7),
        FUSED | wb.skew("x", by="f", factor=2) | wb.interchange("x", "f"),
        APART | wb.tile({"O/f": 2, "O/x": 16, "O/c": 5}) | wb.vectorize("x_i") | wb.unroll("f_i"),
        APART | wb.unroll_jam("O/f", 3),
    ],
    ids=lambda s: " | ".join(map(str, s.trace[1:])),
)
def test_no_division_is_left_of_a_fused_loop(schedule):
    assert not divisions(schedule)
    agree(schedule)


def test_three_loops_as_one():
    schedule = FUSED | wb.fuse("f", "x") | wb.split("f_x", 10)
    assert all("O[10 * f_x_o + f_x_i]" in line for line in divisions(schedule) if "O[" in line)
    agree(schedule)


def test_a_fused_loop_runs_in_lanes(golden):
    schedule = FUSED | wb.decompose_reduction("O") | wb.interchange("O/c", "O/x") | wb.vectorize("O/x")
    text = wb.generate(schedule, MACHINE).source
    golden(text[text.index("int conv(") :])
    agree(schedule)


@pytest.mark.parametrize("layout", [(63, 9, 1), (1, 36, 4), (63, 1, 7), (128, 16, 1)], ids=str)
def test_other_layouts(layout):
    """Cells are joined only where the rows of an array follow one another."""
    program = poly.lower(CONV, SIZES, {"O": layout})
    schedule = wb.schedule(program) | wb.fuse("h", "w", name="x")
    text = wb.generate(schedule).source
    assert ("x / 9" in text) == (layout[1] != 9 * layout[2])


def test_only_what_divides_common_variables_is_joined():
    array = wb.lower(wb.operator("def f(float(4,6,5,3) A) -> (B) { B(i) +=! A(i,j,k,l) }")).arrays["A"]
    _, rows = index_map("(x, y) -> (x / 6, x % 6, y / 3, y % 3)", ())
    assert [show(s) for s in joined_subscripts(array, rows, {})] == ["0", "x", "0", "y"]
    _, rows = index_map("(x, y) -> (x / 6, x % 6, y / 2, y % 2)", ())
    assert [show(s) for s in joined_subscripts(array, rows, {})] == ["0", "x", "y / 2", "y % 2"]
    assert joined_subscripts(array, tuple(map(Index, "abcd")), {}) == tuple(map(Index, "abcd"))


def test_reshapes_of_the_language_are_joined_too():
    flat = wb.operator("def flat(float(M,4,6) A) -> (B) { B(m,x) = A(m, x / 6, x % 6) where x in 0:24 }")
    schedule = wb.schedule(flat) | wb.vectorize("x")
    assert "%" not in wb.generate(schedule).source.partition("int flat(")[2].replace("x / 6, x % 6", "")
    data = np.arange(72, dtype="float32").reshape(3, 4, 6)
    np.testing.assert_array_equal(wb.build(schedule)(data), data.reshape(3, 24))
