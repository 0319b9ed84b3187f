"""Register tiles whose rows are cut short: as many as are left at once, where the sizes say how many these are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from workbench.codegen.passes.register_tiles.cells import rest_of
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index

TEXT = "def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
MOST = 12


def line(start: int, factor: int, variable: str) -> Expr:
    """start - factor * variable"""
    product = Binary("*", Const(factor, INT64), Index(variable, INT64), INT64)
    return Binary("-", Const(start, INT64), product, INT64)


def value(start: int, factor: int, at: int) -> int:
    return start - factor * at


lines = st.tuples(st.integers(-40, 40), st.integers(-30, 30))


@given(st.lists(lines, min_size=1, max_size=3), st.integers(2, 9), st.integers(0, 6), st.integers(0, 6))
def test_a_rest_is_what_is_left_wherever_something_is(ends, most, x, y):
    """Against every value that the ends of a loop take."""
    terms = [line(*each, "xy"[n % 2]) for n, each in enumerate(ends)]
    limit = terms[0] if len(terms) == 1 else Call("min", tuple(terms), INT64)
    rest = rest_of(limit, most)
    left = min(value(*each, (x, y)[n % 2]) for n, each in enumerate(ends))
    assert rest is None or not 0 < left < most or left == rest


@pytest.mark.parametrize(
    ("ends", "rest"),
    [
        ([(16, 6)], 4),
        ([(17, 6), (24, 12)], 5),  # tiles of 6 in blocks of 12
        ([(17, 6), (9, 12)], None),  # 5, or 3
        ([(16, 5)], 1),
        ([(16, 4)], None),  # nothing is left
        ([(16, 7)], None),
    ],
)
def test_rests_that_are_known(ends, rest):
    terms = tuple(line(*each, "xy"[n]) for n, each in enumerate(ends))
    most = {5: 5, 4: 4}.get(ends[0][1], 6)
    assert rest_of(terms[0] if len(terms) == 1 else Call("min", terms, INT64), most) == rest


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 40), st.integers(2, MOST), st.sampled_from([0, 2, 3]), st.integers(1, 40))
def test_every_rest_is_right(rows, height, blocks, columns):
    op = wb.operator(TEXT)
    schedule = wb.schedule(op, M=rows, N=columns, K=7)
    cut = {"C/m": height * blocks} if 0 < blocks * height < rows else {}
    inner = "C/m_i" if cut else "C/m"
    schedule = schedule | wb.decompose_reduction("C")
    schedule = schedule | wb.tile(cut) if cut else schedule
    schedule = schedule | wb.split(inner, height, names=("tile", "row")) | wb.split("C/n", 16, names=("panel", "lane"))
    order = [*(["C/m_o"] if cut else []), "C/tile", "C/panel", "C/k", "C/row", "C/lane"]
    schedule = schedule | wb.reorder(*order) | wb.unroll("C/row") | wb.vectorize("C/lane")
    rng = np.random.default_rng(rows)
    a, b = rng.integers(-4, 5, (rows, 7)).astype(np.float32), rng.integers(-4, 5, (7, columns)).astype(np.float32)
    np.testing.assert_array_equal(wb.build(schedule)(a, b), a @ b)


def test_what_is_left_is_one_tile():
    """16 pixels, 6 at a time: 6, 6 and 4, not 2 and 2."""
    op = wb.operator(TEXT)
    schedule = wb.schedule(op, M=16, N=32, K=64) | wb.decompose_reduction("C")
    schedule = schedule | wb.split("C/m", 6) | wb.split("C/n", 16)
    schedule = schedule | wb.reorder("C/m_o", "C/n_o", "C/k", "C/m_i", "C/n_i")
    text = str(wb.generate(schedule | wb.unroll("C/m_i") | wb.vectorize("C/n_i")))
    assert "wb_whole" not in text
    assert "[6]" in text
    assert "[4]" in text
