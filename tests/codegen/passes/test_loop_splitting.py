"""Loops are divided where a choice changes: every border is right, and what cannot be divided is left."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.small_sizes import MACHINE
from workbench.codegen.nest.nest import For, Nest, walk
from workbench.codegen.passes.loop_splitting import divided
from workbench.codegen.passes.pipeline import lower_nest, rewritten

PADDED = "def f(float(H,W) I, int p) -> (P) {{ P(y,x) = {0} ? I(y-p,x-p) : -1 where y in 0:H+2*p, x in 0:W+2*p }}"
INSIDE = "y >= p && y < H + p && x >= p && x < W + p"
TURNED = "def f(float(N) I) -> (P) {{ P(x) = {0} where x in 0:{1} }}"


def loops(schedule: wb.Schedule) -> list[For]:
    return [x for x in walk(lower_nest(schedule.program, schedule.tree, MACHINE)) if isinstance(x, For)]


def text_of(schedule: wb.Schedule) -> str:
    """The kernel's own function."""
    source = wb.generate(schedule, MACHINE).source
    return source[source.rindex("\nint ") :]


def begun(schedule: wb.Schedule) -> Nest:
    """The nest before any rewrite, its vector loops not cut yet."""
    return rewritten(schedule.program, schedule.tree, MACHINE)[0]


BAND = "def f(float(N,N) A, float(N,N) B) -> (O) { O(i,j) = j >= i - 2 && j <= i + 3 ? A(i,j) * B(j,i) : 0 }"


@pytest.mark.parametrize("bound", [False, True])
def test_a_band_that_may_be_read_anywhere_is_computed_between_two_fills(bound):
    for n in (65, 90):
        sizes = {"N": n}
        schedule = wb.schedule(wb.operator(BAND), **(sizes if bound else {})) | wb.vectorize("O/j")
        agree(schedule, sizes, target=MACHINE)
        assert len([x for x in loops(schedule) if x.loop == "j"]) >= 3
        assert "wb_select" not in text_of(schedule)


@pytest.mark.parametrize("p", [0, 1, 3])
@pytest.mark.parametrize("lanes", [False, True])
@pytest.mark.parametrize("bound", [False, True])
def test_a_padded_picture_is_a_copy_with_a_frame(p, lanes, bound):
    sizes = {"H": 4, "W": 19, "p": p}
    schedule = wb.schedule(wb.operator(PADDED.format(INSIDE)), **(sizes if bound else {}))
    schedule = schedule | wb.vectorize("P/x") if lanes else schedule
    agree(schedule, sizes, target=MACHINE)
    text = wb.generate(schedule, MACHINE).source
    assert "wb_t[wb_l]" not in text
    assert ("? I_[" in text) != lanes or not p  # loops without lanes stay as they were written


@pytest.mark.parametrize(
    ("value", "length"),
    [
        ("x < N ? I(x) : 0", "2*N"),
        ("x <= N - 1 ? I(x) : I(0)", "2*N"),
        ("x >= N ? I(x-N) : 3", "2*N"),
        ("x > N - 1 ? I(x-N) : 3", "2*N"),
        ("N <= x && 2*N > x ? I(x-N) : 0", "3*N"),
        ("2*N - 1 - x >= N ? I(x) : 2", "2*N"),
        ("N > 2*N - 1 - x ? I(2*N-1-x) : 2", "2*N"),
        ("1 + (x < N ? I(x) * I(0) : 7) / 2", "2*N"),
        ("N > 12 && x >= 2 && x < N ? I(x-2) : 0", "2*N"),
        ("x < N ? I(x) : x < 2*N ? I(x-N) : 0", "3*N"),
    ],
)
@pytest.mark.parametrize("lanes", [False, True])
def test_every_border_is_right(value, length, lanes):
    for n in (9, 13, 21, 40):
        for sizes in ({}, {"N": n}):
            schedule = wb.schedule(wb.operator(TURNED.format(value, length)), **sizes)
            schedule = schedule | wb.vectorize("P/x") if lanes else schedule
            assert (len(loops(schedule)) > 1) == lanes or sizes
            agree(schedule, {"N": n}, target=MACHINE)


@pytest.mark.parametrize(
    "value",
    [
        "x % 2 == 0 && x < N ? I(x) : 0",
        "2 * x < N ? I(2*x) : 0",
        "x < N || x >= 2*N ? I(x % N) : 0",
        "x < 5 ? I(x) : 0",  # either value may be read anywhere: lanes choose in a row as short as this
    ],
)
def test_what_is_no_interval_is_left(value):
    schedule = wb.schedule(wb.operator(TURNED.format(value, "N")), N=21) | wb.vectorize("P/x")
    assert divided(begun(schedule)) == begun(schedule)
    agree(schedule, target=MACHINE)


def test_short_loops_are_left():
    schedule = wb.schedule(wb.operator(TURNED.format("x < N ? I(x) : 0", "2*N")), N=3) | wb.vectorize("P/x")
    assert divided(begun(schedule)) == begun(schedule)
    longer = wb.schedule(schedule.original.definition, N=4) | wb.vectorize("P/x")
    assert divided(begun(longer)) != begun(longer)
