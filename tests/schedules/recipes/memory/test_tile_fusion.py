"""Temporaries too large for the second cache are computed where they are used, if little is computed twice."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.schedules.recipes import default_schedule
from workbench.target import Target

SMALL = Target(vector_bits=256, cores=2, cache_bytes=(1 << 10, 4 << 10, 1 << 20))
DEPTHWISE = """def depthwise(float(C,H,W) I, float(C,KH) K) -> (O) {
    P(c,y,x) = y >= 1 && y < H + 1 ? I(c,y-1,x) : 0 where c in 0:C, y in 0:H+2, x in 0:W
    O(c,y,x) +=! P(c,y+kh,x) * K(c,kh)
}"""
SHARED = """def shared(float(C,H,W) I, float(F,C,KH) K) -> (O) {
    P(c,y,x) = y >= 1 && y < H + 1 ? I(c,y-1,x) : 0 where c in 0:C, y in 0:H+2, x in 0:W
    O(f,y,x) +=! P(c,y+kh,x) * K(f,c,kh)
}"""
PARTLY = """def partly(float(C,H) I) -> (O) {
    P(c,y) = 2 * I(c,y)
    O(c,y) = P(c+1,y) + 1 where c in 0:C-1
}"""
TWICE = """def twice(float(C,H) I) -> (O, Q) {
    P(c,y) = exp(I(c,y))
    O(c) +=! P(c,y)
    Q(y) +=! P(c,y)
}"""
SIZES = {"C": 8, "H": 21, "W": 30, "KH": 3, "F": 5}


def chosen(text: str, target: Target = SMALL) -> wb.Schedule:
    sizes = {k: v for k, v in SIZES.items() if k in text.partition("->")[0]}
    return default_schedule(wb.lower(wb.operator(text), sizes), target)


def moved(schedule: wb.Schedule) -> list[str]:
    return [str(step) for step in schedule.trace if step.name == "compute_at"]


def test_a_padded_picture_is_made_channel_by_channel():
    schedule = chosen(DEPTHWISE)
    assert moved(schedule) == ["compute_at('P', 'O/c')"]
    assert "float P_local[690]" in wb.generate(schedule, SMALL).source


def test_what_fits_the_first_cache_stays():
    assert moved(chosen(DEPTHWISE, Target(vector_bits=256, cores=2, cache_bytes=(1 << 16, 1 << 20, 1 << 25)))) == []


@pytest.mark.parametrize("text", [SHARED, PARTLY, TWICE])
def test_one_thread_computes_nothing_twice(text):
    alone = Target(vector_bits=256, cores=1, cache_bytes=SMALL.cache_bytes)
    assert moved(chosen(text, alone)) == []


def test_threads_compute_what_their_blocks_share():
    assert moved(chosen(SHARED)) == ["compute_at('P', 'O/y_o')"]
    assert [moved(chosen(text)) for text in (PARTLY, TWICE)] == [[], []]


@pytest.mark.parametrize("text", [DEPTHWISE, SHARED, PARTLY, TWICE])
def test_results_are_the_oracles(text):
    op, schedule = wb.operator(text), chosen(text)
    assert schedule.verdict
    given = wb.ops.sample_arrays(op, **schedule.program.sizes)
    found, wanted = wb.build(schedule, SMALL)(*given), op.evaluate(*given)
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, wanted)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


BLUR = """def blurred(float(H,W) I) -> (O) {
    R(y,x) = I(y,x) + I(y,x+1)
    O(y,x) = R(y,x) + 2 * R(y+1,x) + R(y+2,x)
}"""
CHAIN = """def chain(float(H,W) I) -> (O) {
    R(y,x) = I(y,x) * 2
    S(y,x) = R(y,x) + R(y+1,x)
    O(y,x) = S(y,x) - S(y+1,x)
}"""
FAR = """def far(float(H,W) I) -> (O) {
    R(y,x) = I(y,x) * 2
    O(y,x) = R(y,x) + R(y+40,x)
}"""
WIDE = Target(vector_bits=256, cores=2, cache_bytes=(1 << 12, 1 << 14, 1 << 20))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (BLUR, ["compute_at('R', 'O/y_o')"]),
        (CHAIN, ["compute_at('S', 'O/y_o')", "compute_at('R', 'S_local/y_o')"]),
        (FAR, []),
    ],
)
def test_blocks_of_rows_share_few_of_them(text, wanted):
    schedule = default_schedule(wb.lower(wb.operator(text), H=401, W=50), WIDE)
    assert moved(schedule) == wanted
    assert schedule.verdict


@pytest.mark.parametrize("text", [BLUR, CHAIN, FAR])
def test_blocks_of_rows_are_right(text):
    op = wb.operator(text)
    given = np.random.default_rng(0).integers(-9, 10, (401, 50)).astype(np.float32)
    kernel = wb.build(default_schedule(wb.lower(op, H=401, W=50), WIDE))
    np.testing.assert_array_equal(kernel(given), op.evaluate(given))
