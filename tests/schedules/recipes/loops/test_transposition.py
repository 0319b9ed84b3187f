"""Copies across: long runs are written, short rows that follow one another are read as one."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.poly.programs.tree import path
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

AVX2 = Target(vector_bits=256, cores=2, cache_bytes=(32 << 10, 512 << 10, 16 << 20))
LARGE = replace(AVX2, cache_bytes=(32 << 10, 512 << 10, 128 << 20))
ACROSS = "def across(float(M,N) A) -> (B) { B(n,m) = A(m,n) }"
LAST = "def last(float(N,C,H,W) I) -> (O) { O(n,h,w,c) = I(n,c,h,w) }"
PADDED = "def padded(float(N,C,H,V) I, int32 W) -> (O) { O(n,h,w,c) = I(n,c,h,w) where w in 0:W }"


def order(text: str, target: Target = AVX2, **sizes: int):
    schedule = default_schedule(wb.lower(wb.operator(text), sizes), target)
    return schedule, [x.name for x in path(schedule.tree, schedule.program.statements[0].id)]


def test_a_block_writes_several_lines_of_few_rows():
    schedule, loops = order(ACROSS, LARGE, M=1024, N=1024)
    assert loops == ["m_o", "n_o", "m_i_o", "n_i", "m_i_i"]
    assert "tile({'B/n': 16, 'B/m': 128})" in map(str, schedule.trace)


def test_a_block_that_goes_past_the_caches_writes_four_lines():
    schedule, loops = order(ACROSS, M=2048, N=1024)
    assert loops == ["m_o", "n_o", "m_i_o", "n_i", "m_i_i"]
    assert {"tile({'B/n': 32, 'B/m': 64})", "nontemporal('B')"} <= set(map(str, schedule.trace))


def test_a_vector_that_is_added_on_the_way_changes_nothing():
    """It walks along what is read, so that two arrays speak for lanes that scatter what is written."""
    biased = "def biased(float(M,N) A, float(N) b) -> (B) { B(n,m) = max(A(m,n) + b(n), 0.0) }"
    schedule, loops = order(biased, LARGE, M=1024, N=1024)
    assert loops == ["m_o", "n_o", "m_i_o", "n_i", "m_i_i"]
    assert "tile({'B/n': 16, 'B/m': 128})" in map(str, schedule.trace)


def test_it_asks_for_the_rows_of_later_squares():
    schedule, _ = order(ACROSS, M=2048, N=1024)
    assert "prefetch('A', 'B/n_i', 64)" in map(str, schedule.trace)
    code = wb.generate(schedule, AVX2).source
    assert "WB_UNROLL for (int64_t m_i_i_row = 0; m_i_i_row < 8; m_i_i_row++) {" in code
    assert "__builtin_prefetch(&A[(64 * m_o + 8 * m_i_o + m_i_i_row)*1024 + 32 * n_o + n_i + 64]);" in code
    assert "_turn_past(" in code


def test_rows_that_collide_go_past_the_cache_before_it_is_full():
    assert "nontemporal('B')" in map(str, order(ACROSS, M=1024, N=512)[0].trace)
    assert "nontemporal('B')" not in map(str, order(ACROSS, M=1000, N=520)[0].trace)
    assert "nontemporal('B')" not in map(str, order(ACROSS, M=256, N=512)[0].trace)


def test_what_is_read_again_stays_in_the_cache():
    again = ACROSS.replace("-> (B) {", "-> (B, S) {").replace("}", " S(n) +=! B(n,m) }")
    schedule = default_schedule(wb.lower(wb.operator(again), M=2048, N=1024), AVX2)
    assert "nontemporal" not in schedule.python()


def test_what_squares_leave_goes_by_four_and_one_by_one():
    across = wb.schedule(wb.operator(ACROSS), M=24, N=23) | wb.tile({"m": 8, "n": 32}) | wb.vectorize("m_i")
    code = wb.generate(across, AVX2).source
    whole, fours, rest = (code.index(t) for t in ("n_i + 7 < ", "n_i + 3 < ", "n_i++"))
    assert whole < fours < rest
    agree(across)


@pytest.mark.parametrize(("width", "loops"), [(14, ["n", "h_w_o", "c_o"]), (16, ["n", "h", "w_o", "c_o"])])
def test_rows_that_fill_no_registers_are_joined(width, loops):
    schedule, found = order(LAST, N=2, C=32, H=12, W=width)
    assert found[: len(loops)] == loops
    assert schedule.verdict


def test_rows_with_gaps_between_them_are_not_joined():
    assert "h_w" not in "".join(order(PADDED, N=2, C=32, H=12, V=15, W=14)[1])


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (ACROSS, {"M": 1024, "N": 1024}),
        (ACROSS, {"M": 1030, "N": 1024}),
        (ACROSS, {"M": 2048, "N": 1031}),
        (ACROSS, {"M": 2050, "N": 1024}),
        (ACROSS, {"M": 37, "N": 1024}),
        (LAST, {"N": 2, "C": 19, "H": 5, "W": 7}),
        (LAST, {"N": 1, "C": 32, "H": 12, "W": 14}),
        (PADDED, {"N": 2, "C": 17, "H": 3, "V": 9, "W": 7}),
    ],
)
def test_every_element_finds_its_place(text, sizes):
    agree(default_schedule(wb.lower(wb.operator(text), sizes), AVX2))
