"""Products of few rows: the large operand is gone through once, and in long pieces."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.schedules.texts import MATMUL
from workbench.schedules.analysis.blocking import blocking
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

SMALL = Target(vector_bits=256, cores=2, cache_bytes=(1 << 14, 1 << 15, 1 << 20))
TRANSPOSED = "def late(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }"


def plan(text: str, target: Target = SMALL, **sizes: int):
    program = wb.lower(wb.operator(text), sizes)
    update = next(s for s in program.statements if s.kind == "update")
    return blocking(structure(program, update.id), target)


@pytest.mark.parametrize(("rows", "vectors"), [(2, 6), (3, 4), (4, 3), (6, 2)])
def test_the_fewer_rows_the_more_columns_a_tile_has(rows, vectors):
    found = plan(MATMUL, M=rows, K=600, N=500)
    assert (found.rows, found.vector_size) == ((("m", rows),), 8 * vectors)


@pytest.mark.parametrize(("rows", "lines"), [(2, 8), (3, 8), (4, 4), (5, 4), (6, 4), (8, 3)])
def test_many_lines_of_a_row_come_in_powers_of_two(rows, lines):
    wide = Target(vector_bits=512, vector_registers=32, cache_bytes=(1 << 14, 1 << 15, 1 << 20))
    assert plan(MATMUL, wide, M=rows, K=600, N=500).vector_size == 16 * lines


def test_each_core_has_a_strip_of_the_columns():
    found = plan(MATMUL, M=4, K=600, N=500)
    assert found.strip % found.vector_size == 0
    assert 250 <= found.strip < 250 + found.vector_size


@pytest.mark.parametrize(
    "sizes",
    [
        {"M": 100, "K": 600, "N": 500},  # enough rows for a copy of the operand
        {"M": 4, "K": 600, "N": 8},  # it stays in the second cache
        {"M": 4, "K": 300, "N": 500},  # one panel
    ],
)
def test_other_products_have_no_strips(sizes):
    assert plan(MATMUL, **sizes).strip == 0


def test_one_row_is_summed_in_long_pieces_of_few_rows():
    found = plan(MATMUL, M=1, K=600, N=3000)
    assert (found.terms, found.vector_size) == (4, 1504)
    assert plan(MATMUL, M=1, K=600, N=100).vector_size == 256


@pytest.mark.parametrize("text", [MATMUL, TRANSPOSED])
@pytest.mark.parametrize("rows", [1, 2, 4, 9])
def test_they_are_right_where_nothing_fits(text, rows):
    sizes = {"M": rows, "K": 523, "N": 131}
    agree(default_schedule(wb.lower(wb.operator(text), sizes), SMALL), {})
