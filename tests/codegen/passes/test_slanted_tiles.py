"""Register tiles on slanted domains: boxes inside, single cells at the border, nothing outside."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.target import Target

MACHINE = Target(vector_bits=256)
# What i, j and k run over; every one of them is a sum over k into C(i, j).
DOMAINS = {
    "lower triangle": "where j in 0:i+1, k in 0:K",
    "upper triangle": "where j in i:N, k in 0:K",
    "diagonal band": "where j in max(i-2, 0):min(i+5, N), k in 0:K",
    "sum from the row on": "where k in i+1:K",
    "sum up to the row": "where k in 0:min(i, K)",
    "sum around the row": "where k in max(i-4, 0):min(i+6, K)",
    "sum up to the column": "where k in 0:min(j, K)",
    "triangle of triangles": "where j in 0:i+1, k in j:K",
    "steep": "where j in 0:min(2*i+1, N), k in 0:K",
    "sum twice as far": "where k in 0:min(2*i, K)",
}
TILES = [(6, 8), (3, 16)]


def operator(where):
    return wb.operator(f"def slanted(float(M,K) A, float(K,N) B) -> (C) {{\n C(i,j) +=! A(i,k) * B(k,j) {where} }}")


def scheduled(op, tile, sizes):
    """Registers in i and j, the sum around them."""
    start = wb.schedule(op, sizes=sizes) | wb.decompose_reduction("C") | wb.tile({"C/i": tile[0], "C/j": tile[1]})
    for order in (("i_o", "j_o", "k", "i_i", "j_i"), ("i_o", "j_o", "i_i", "j_i", "k")):
        loops = [f"C/{x}" for x in order]
        found = wb.preview(start, wb.reorder(*loops))
        if found.verdict:
            return found | wb.unroll("C/i_i") | wb.vectorize("C/j_i" if order[-1] == "j_i" else "C/k")
    raise AssertionError("neither order is legal")


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("tile", TILES)
def test_every_cell_gets_what_is_its_own(name, tile):
    op, random = operator(DOMAINS[name]), np.random.default_rng(0)
    for (m, n, k), bound in (((18, 21, 18), True), ((13, 13, 17), True), ((13, 13, 17), False), ((1, 1, 1), False)):
        A, B = (random.integers(-3, 4, shape).astype(np.float32) for shape in ((m, k), (k, n)))
        kernel = wb.build(scheduled(op, tile, {"M": m, "N": n, "K": k} if bound else {}), debug=True)
        np.testing.assert_array_equal(kernel(A, B), op.evaluate(A, B))


@pytest.mark.parametrize(("name", "pieces"), [
    ("lower triangle", 1), ("sum from the row on", 2), ("sum up to the row", 2), ("sum around the row", 3),
])  # fmt: skip
def test_a_tile_inside_the_domain_is_a_box(name, pieces):
    schedule = scheduled(operator(DOMAINS[name]), (6, 8), {"M": 48, "N": 48, "K": 48})
    source = wb.generate(schedule, MACHINE).source
    assert "wb_v8f32 C_r[6][1];" in source
    sums = [line for line in source.split("\n") if "for (int64_t k =" in line]
    assert len({line.strip() for line in sums}) == pieces


def test_boxes_are_entered_only_where_something_is_added():
    """Without contributions the cells of a box may lie outside the array."""
    op = operator("where k in i+1:K")
    A, B = np.ones((13, 13), np.float32), np.ones((13, 16), np.float32)
    kernel = wb.build(scheduled(op, (6, 8), {"M": 13, "N": 16, "K": 13}))
    room = np.full((30, 16), 7, np.float32)
    kernel(A, B, out=room[8:21])
    np.testing.assert_array_equal(room[8:21], op.evaluate(A, B))
    assert (room[:8] == 7).all()
    assert (room[21:] == 7).all()
    assert "if (wb_min_i64(6 * i_o + 6, 13) < 13)" in kernel.source


def test_what_is_no_slanted_tile_stays_as_it_is():
    square = wb.schedule(operator("where k in 0:K"), M=16, N=16, K=16) | wb.decompose_reduction("C")
    square = square | wb.tile({"C/i": 4, "C/j": 8}) | wb.reorder("C/i_o", "C/j_o", "C/k", "C/i_i", "C/j_i")
    assert not wb.rewrites(square | wb.unroll("C/i_i") | wb.vectorize("C/j_i"), MACHINE)["slanted tiles"].changed
