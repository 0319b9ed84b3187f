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
from workbench.schedules.recipes.products.known_operands import known_operands
from workbench.target import Target

SMALL = Target(vector_bits=256, cores=2, cache_bytes=(1 << 14, 1 << 15, 1 << 20))
BATCHED = "def each(float(b,M,K) A, float(b,K,N) B) -> (C) { C(i,m,n) +=! A(i,m,k) * B(i,k,n) }"
TURNED = "def turned(float(K,M) A, float(K,N) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }"
WITH_BIAS = """def biased(double(M,K) A, double(K,N) B, double(N) c) -> (C) {
    C(m,n) +=! A(m,k) * B(k,n)
    C(m,n) = fmax(C(m,n) + c(n), 0)
}"""
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


@pytest.mark.parametrize(("rows", "columns"), [(4, 500), (6, 1400), (6, 4096), (3, 4096), (5, 11000)])
def test_each_core_has_as_many_columns(rows, columns):
    wide = Target(vector_bits=512, vector_registers=32, cores=2, cache_bytes=(1 << 15, 1 << 17, 1 << 20))
    strip = plan(MATMUL, wide, M=rows, K=600, N=columns).vector_size
    pieces = [min(strip, columns - start) for start in range(0, columns, strip)]
    assert len(pieces) % 2 == 0
    assert max(pieces) - min(pieces) < 16 * len(pieces)


def test_where_cores_divide_a_batch_a_strip_is_as_long_as_the_cache_lets_it():
    found = plan(BATCHED, b=8, M=4, K=600, N=500)
    assert found.vector_size == 504
    assert found.terms == 8


def test_doubles_take_twice_the_place():
    assert plan(MATMUL.replace("float", "double"), M=4, K=600, N=5000).vector_size <= (1 << 13) // (8 * 4)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (  # one walk for each i
            "def f(float(b,M,K) A, float(K,N) B) -> (C) { C(i,m,n) +=! A(i,m,k) * B(k,n) }",
            dict(b=4, M=4, K=64, N=2000),
        ),
        (  # windows overlap
            "def f(float(K,T) A, float(M,K,S) W) -> (C) { C(m,n) +=! A(k,n+s) * W(m,k,s) }",
            dict(M=4, K=64, T=2016, S=16),
        ),
    ],
)
def test_one_walk_must_serve_all(text, sizes):
    assert plan(text, **sizes).terms == 1


def test_what_is_known_is_packed_once_as_ever():
    program = wb.lower(wb.operator(MATMUL), {"M": 64, "K": 600, "N": 500})
    with known_operands({"B"}):
        found = default_schedule(program, SMALL)
    copy = next(s for s in found.program.statements if s.name == "B_local.load")
    assert "k_o" not in [x.name for x in path(found.tree, copy.id)]


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


@pytest.mark.parametrize("text", [MATMUL, TRANSPOSED, TURNED, WITH_BIAS, BATCHED])
@pytest.mark.parametrize("rows", [1, 2, 4, 6, 7, 9, 25])
def test_they_are_right_where_nothing_fits(text, rows):
    sizes = {"M": rows, "K": 523, "N": 131} | ({"b": 3} if text == BATCHED else {})
    agree(default_schedule(wb.lower(wb.operator(text), sizes), SMALL), {})
