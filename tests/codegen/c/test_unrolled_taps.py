"""Short loops of sums are unrolled, as long as what comes out is short too."""

import pytest

import workbench as wb

ROWS = wb.operator("def rows(float(N,M) A) -> (s) { s(m) +=! A(n,m) }")


def summed(columns: int, rows: int) -> wb.Schedule:
    """Columns in registers, some rows unrolled, and four turns of a loop around them."""
    tiled = wb.schedule(ROWS, N=4 * rows, M=256) | wb.tile({"s/m": columns, "s/n": rows})
    ordered = tiled | wb.reorder("s/m_o", "s/n_o", "s/n_i", "s/m_i")
    return ordered | wb.vectorize("s/m_i") | wb.unroll("s/n_i")


@pytest.mark.parametrize(("columns", "rows", "unrolled"), [(16, 4, True), (16, 16, False), (128, 4, False)])
def test_a_short_loop_around_what_is_unrolled_is_written_out_where_that_stays_short(columns, rows, unrolled):
    text = wb.generate(summed(columns, rows), target=wb.Target("avx2")).source
    assert ("WB_UNROLL_TAPS for (int64_t n_o" in text) == unrolled
