"""Rows that each iteration makes and uses itself are walked along, never across."""

from __future__ import annotations

import workbench as wb

ADD_AND_NORM = wb.operator("""
def add_and_norm(float(M,N) x, float(M,N) y, float(N) g) -> (Y) {
    z(m,n) = x(m,n) + y(m,n)
    total(m) +=! z(m,n)
    square(m) +=! (z(m,n) - total(m) / N) * (z(m,n) - total(m) / N)
    Y(m,n) = g(n) * ((z(m,n) - total(m) / N) * rsqrt(square(m) / N + 1e-5))
}
""")


def test_sums_over_rows_of_a_buffer_have_their_lanes_along_the_row():
    schedule = wb.autoschedule(ADD_AND_NORM, M=2048, N=768)
    steps = str(schedule).partition("loops")[0]
    assert "stage('z', 'z/m'" in steps
    assert all(f"vectorize('{name}/n')" in steps for name in ("total", "square", "Y"))
    assert "tile(" not in steps
    assert schedule.verdict
