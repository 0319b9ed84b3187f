"""Rows ahead: the default recipe asks for later rows where a nest goes over large rows several times."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

SMALL = Target(vector_bits=256, cores=2, cache_bytes=(8 << 10, 64 << 10, 1 << 20))

TWICE = """def standardised(float(M,N) X) -> (Y, top) {
    top(m) max=! X(m,n)
    Y(m,n) = exp(X(m,n) - top(m))
}"""
ONCE = "def doubled(float(M,N) X) -> (Y) { Y(m,n) = 2 * X(m,n) }"
COLUMNS = """def columns(float(M,N) X) -> (Y, top) {
    top(n) max=! X(m,n)
    Y(m,n) = exp(X(m,n) - top(n))
}"""


def requests(text: str, **sizes: int) -> list[str]:
    schedule = default_schedule(wb.lower(wb.operator(text), sizes), SMALL)
    return [str(step) for step in schedule.trace if step.name == "prefetch"]


def test_two_passes_ask_in_the_last_one_for_the_row_after_the_next():
    assert requests(TWICE, M=100, N=512) == [f"prefetch({array!r}, 'Y/n', {2 * 512 // 8})" for array in "XY"]


def test_everything_that_the_last_loop_writes_is_asked_for():
    text = TWICE.replace("}", "    Z(m,n) = Y(m,n) * 2\n}").replace("(Y, top)", "(Y, Z, top)")
    assert requests(text, M=100, N=512) == [f"prefetch({array!r}, 'Y/n', 128)" for array in "XYZ"]


def test_a_request_keeps_no_value_from_being_computed_before_the_loop():
    text = TWICE.replace("exp(X(m,n) - top(m))", "X(m,n) / exp(top(m))")
    source = wb.generate(default_schedule(wb.lower(wb.operator(text), M=100, N=512), SMALL)).source
    assert "__builtin_prefetch" in source
    assert "= wb_exp_f32(top[m]);" in source


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (ONCE, {"M": 100, "N": 512}),
        (COLUMNS, {"M": 100, "N": 512}),
        (TWICE, {"M": 20, "N": 512}),  # all rows stay in the second cache
        (TWICE, {"M": 1000, "N": 100}),  # short rows
        (TWICE, {"M": 100, "N": 1500}),  # rows to come would push out those that are here
        (TWICE, {"M": 100, "N": 5000}),  # the row itself leaves the second cache
        (TWICE, {}),
    ],
)
def test_nothing_is_asked_for_where_it_does_not_help(text, sizes):
    assert requests(text, **sizes) == []


def test_a_request_stands_in_the_text_and_changes_no_value():
    op = wb.operator(TWICE)
    kernel = wb.build(default_schedule(wb.lower(op, {"M": 100, "N": 516}), SMALL))
    assert kernel.source.count("__builtin_prefetch") >= 1
    given = np.random.default_rng(0).standard_normal((100, 516)).astype(np.float32)
    for found, wanted in zip(kernel(given), op.evaluate(given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


BAG = "def bag(float(E,D) table, int32(B,L) I) -> (O) { O(b,d) +=! table(I(b,l),d) }"
MASKED = """def masked(float(E,D) table, int32(B,L) I) -> (O) {
    O(b,d) +=! I(b,l) >= 0 ? table(I(b,l),d) : 0 where d in 0:D
}"""
ROWS = "def rows(float(E,D) table, int32(N) I) -> (O) { O(n,d) = table(I(n),d) }"


@pytest.mark.parametrize(
    ("text", "sizes", "wanted"),
    [
        (BAG, {"E": 5000, "D": 64, "B": 9, "L": 20}, "prefetch('table', 'O/l', 16)"),
        (ROWS, {"E": 5000, "D": 256, "N": 50}, "prefetch('table', 'O/n', 4)"),
        (BAG, {"D": 64}, "prefetch('table', 'O/l', 16)"),
        (BAG, {"E": 50, "D": 64, "B": 9, "L": 20}, None),  # the table stays in the second cache
        (BAG, {}, None),  # who knows how long a row is
    ],
)
def test_rows_that_data_finds_are_asked_for(text, sizes, wanted):
    assert requests(text, **sizes) == ([wanted] if wanted else [])


@pytest.mark.parametrize(("text", "asked"), [(BAG, 4), (MASKED, 0), (ROWS, 4)])
def test_every_line_of_a_row_is_asked_for_and_the_index_is_one_that_is_read_anyway(text, asked):
    op = wb.operator(text)
    sizes = {"E": 5000, "D": 64, "B": 3, "L": 5, "N": 4}
    sizes = {name: size for name, size in sizes.items() if name in text}
    kernel = wb.build(default_schedule(wb.lower(op, sizes), SMALL))
    assert kernel.source.count("__builtin_prefetch") == asked
    rng = np.random.default_rng(1)
    table = rng.standard_normal((5000, 64)).astype(np.float32)
    places = rng.integers(0, 5000, (4,) if text is ROWS else (3, 5)).astype(np.int32)
    np.testing.assert_allclose(kernel(table, places), op.evaluate(table, places), rtol=1e-5, atol=1e-5)


SHIFTED = "def shifted(float(E,D) table, int32(B,L) I) -> (O) { O(b,d) +=! table(I(b,l+1),d) where l in 0:L-1 }"


@pytest.mark.parametrize(
    ("text", "dense", "place"),
    [
        (BAG, True, "b*5 + wb_min_i64(l + 16, 14 - 5 * b)"),  # the next bag follows
        (BAG, False, "b*8 + wb_min_i64(l + 16, 4)"),  # gaps lie between the bags
        (SHIFTED, True, "wb_min_i64(l + 16, 3) + 1"),  # not the whole bag is gone through
    ],
)
def test_the_rows_of_the_next_bag_follow_those_of_this_one(text, dense, place):
    """The last bag is followed by nothing: its last index is asked for again."""
    op, indices = wb.operator(text), np.arange(24, dtype=np.int32).reshape(3, 8) % 7
    table, indices = np.eye(5000, 64, dtype=np.float32), indices[:, :5].copy() if dense else indices[:, :5]
    plan = op.plan(table, indices)
    kernel = wb.build(default_schedule(plan.schedule.original, SMALL))
    assert place in kernel.source
    np.testing.assert_array_equal(kernel(table, indices), op.evaluate(table, indices))


def test_places_in_vast_tables_are_computed_in_64_bits():
    text = wb.generate(default_schedule(wb.lower(wb.operator(BAG), {"E": 1 << 26, "D": 64}), SMALL)).source
    assert "(int64_t)" in text.partition("table[")[2].partition("]")[0] + "]"
    text = wb.generate(default_schedule(wb.lower(wb.operator(BAG), {"E": 1 << 20, "D": 64}), SMALL)).source
    assert "(int64_t)I" not in text
