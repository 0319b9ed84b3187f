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


WINDOWS = wb.operator("def windows(float(C,H,W) I, float(C,KH,KW) K) -> (O) { O(y,x) +=! I(c,y+kh,x+kw) * K(c,kh,kw) }")


@pytest.mark.parametrize(("channels", "row", "rows_too"), [(8, 16, True), (8, 96, False), (1, 16, False)])
def test_rows_of_taps_are_written_out_where_sums_are_deep_and_what_comes_out_is_short(channels, row, rows_too):
    """Where there is one channel, the taps are the whole sum."""
    tiled = wb.schedule(WINDOWS, C=channels, H=10, W=row + 2, KH=3, KW=3) | wb.tile({"O/x": row})
    ordered = tiled | wb.reorder(*(["O/c"] if channels > 1 else []), "O/kh", "O/kw", "O/x_i")
    text = wb.generate(ordered | wb.vectorize("O/x_i"), target=wb.Target("avx2")).source
    assert "WB_UNROLL_TAPS for (int64_t kw" in text
    assert ("WB_UNROLL_TAPS for (int64_t kh" in text) == rows_too
