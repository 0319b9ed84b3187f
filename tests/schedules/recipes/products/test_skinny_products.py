"""Products of few rows: the large operand is gone through once, and in the order of memory."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.schedules.texts import MATMUL
from workbench.poly.programs.tree import path
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


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("bits", [256, 512])
def test_a_vast_operand_is_walked_through_once_for_all_of_a_few_rows(rows, bits):
    target = Target(vector_bits=bits, vector_registers=32, cores=2, cache_bytes=(1 << 14, 1 << 15, 1 << 20))
    found = plan(MATMUL, target, M=rows, K=600, N=5000)
    assert (found.rows, found.panel, found.terms) == ((("m", rows),), None, 8)
    assert found.vector_size % (bits // 32) == 0
    assert 4 * rows * found.vector_size <= target.cache_bytes[0] // 2  # the sums of a strip


def test_each_core_has_columns():
    assert plan(MATMUL, M=4, K=600, N=500).vector_size == 256


@pytest.mark.parametrize(
    "sizes",
    [
        {"M": 100, "K": 600, "N": 500},  # enough rows for a copy of the operand
        {"M": 8, "K": 600, "N": 500},  # fewer, of panels in its order
        {"M": 4, "K": 600, "N": 8},  # it stays in the second cache
        {"M": 4, "K": 15, "N": 5000},  # too few terms
    ],
)
def test_other_products_are_tiled_for_registers(sizes):
    found = plan(MATMUL, **sizes)
    assert found.terms == 1
    assert found.vector_size <= 48


@pytest.mark.parametrize(("rows", "packed"), [(6, False), (7, True), (64, True)])
def test_panels_of_more_rows_are_copied_in_the_order_of_memory(rows, packed):
    found = default_schedule(wb.lower(wb.operator(MATMUL), {"M": rows, "K": 523, "N": 400}), SMALL)
    assert ("B_local" in found.program.arrays) is packed
    if packed:
        copy = next(s for s in found.program.statements if s.name == "B_local.load")
        assert [x.name.rstrip("_1") for x in path(found.tree, copy.id)][-3:] == ["k", "n_panel", "n_lane"]
        assert "k_o" in [x.name for x in path(found.tree, copy.id)]


def test_where_a_block_of_the_reduction_is_all_of_it_panels_stand_by_themselves():
    found = default_schedule(wb.lower(wb.operator(MATMUL), {"M": 40, "K": 200, "N": 400}), SMALL)
    copy = next(s for s in found.program.statements if s.name == "B_local.load")
    assert "n_o" in [x.name for x in path(found.tree, copy.id)]


def test_one_row_is_summed_in_long_pieces_of_few_rows():
    found = plan(MATMUL, M=1, K=600, N=3000)
    assert (found.terms, found.vector_size) == (4, 1504)
    assert plan(MATMUL, M=1, K=600, N=100).vector_size == 256


@pytest.mark.parametrize("text", [MATMUL, TRANSPOSED])
@pytest.mark.parametrize("rows", [1, 2, 4, 6, 7, 9, 25])
def test_they_are_right_where_nothing_fits(text, rows):
    sizes = {"M": rows, "K": 523, "N": 131}
    agree(default_schedule(wb.lower(wb.operator(text), sizes), SMALL), {})
