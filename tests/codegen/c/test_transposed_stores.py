"""Sums whose lanes lie apart in memory are stored in squares; every number of rows and lanes stays right."""

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.target import Target

TEXT = """def f({0}(C,H,W) I, {0}(F,C,KH,KW) K) -> (O) {{
    O(f,y,x) +=! I(c,y+kh,x+kw) * K(f,c,kh,kw)
}}"""
SIZES = {"C": 3, "H": 4, "W": 25, "F": 21, "KH": 2, "KW": 3}


def by_hand(dtype: str, rows: int, lanes: int) -> wb.Schedule:
    schedule = wb.schedule(wb.operator(TEXT.format(dtype)), sizes=SIZES) | wb.tile({"O/x": rows, "O/f": lanes})
    schedule = schedule | wb.reorder(*(f"O/{x}" for x in ("y", "x_o", "f_o", "x_i", "f_i")))
    schedule = schedule | wb.distribute("O", loop="x_i")
    schedule = schedule | wb.reorder(*(f"O/{x}" for x in ("c", "kh", "kw", "x_i", "f_i")))
    for name in ("O.init", "O"):
        schedule = schedule | wb.unroll(f"{name}/x_i") | wb.vectorize(f"{name}/f_i")
    return schedule


WHOLE = [("float", rows, bits) for rows in (3, 4, 7) for bits in (128, 256, 512)]


@pytest.mark.parametrize(("dtype", "rows", "bits"), [*WHOLE, ("int32", 5, 256), ("double", 8, 256), ("int8", 8, 128)])
def test_what_is_stored_is_right(dtype, rows, bits):
    schedule = by_hand(dtype, rows, 16)
    text = wb.generate(schedule, Target(vector_bits=bits)).source
    assert ("put_four" in text) == (dtype in ("float", "int32") and rows >= 4)
    agree(schedule, target=Target(vector_bits=bits))


def test_neighbours_are_stored_as_they_are():
    product = wb.autoschedule(wb.ops.matmul, M=64, N=64, K=64)
    assert "put_four" not in wb.generate(product, Target(vector_bits=256)).source
