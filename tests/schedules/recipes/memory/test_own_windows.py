"""What a thread's windows read of a padded picture it pads itself; short rows of windows are computed side by side."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.schedules.analysis.blocking import blocking
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes import default_schedule
from workbench.schedules.recipes.products.known_operands import known_operands
from workbench.target import Target

WIDE = Target(vector_bits=512, vector_registers=32, cores=2)
PADDED = """def padded(float(C,H,W) I, float(F,C,KH,KW) K, float(F) b) -> (O) {
    P(c,y,x) = y >= 1 && y < H + 1 && x >= 1 && x < W + 1 ? I(c,y-1,x-1) : 0 where c in 0:C, y in 0:H+2, x in 0:W+2
    S(f,y,x) +=! P(c,y+kh,x+kw) * K(f,c,kh,kw)
    O(f,y,x) = max(S(f,y,x) + b(f), 0.0)
}"""
DEPTHWISE = PADDED.replace("float(F,C,KH,KW) K, float(F) b", "float(C,KH,KW) K, float(C) b").replace(
    "P(c,y+kh,x+kw) * K(f,c,kh,kw)", "P(f,y+kh,x+kw) * K(f,kh,kw)")  # fmt: skip


def chosen(text: str, target: Target, **sizes: int) -> wb.Schedule:
    with known_operands(frozenset({"K", "b"})):
        return default_schedule(wb.lower(wb.operator(text), KH=3, KW=3, **sizes), target)


def computed_at(schedule: wb.Schedule) -> list[str]:
    return [str(step) for step in schedule.trace if step.name == "compute_at"]


def test_threads_that_divide_rows_pad_what_they_read():
    sizes = {"C": 16, "H": 32, "W": 32, "F": 32}
    found = chosen(PADDED, WIDE, **sizes)
    assert computed_at(found) == ["compute_at('P', 'S/y_o')"]
    assert wb.generate(found, WIDE).source.count("#pragma omp parallel") == 1
    assert computed_at(chosen(PADDED, Target(vector_bits=512, vector_registers=32, cores=1), **sizes)) == []


def test_several_panels_of_filters_are_read_by_all_threads_where_they_are_smaller_than_the_picture():
    few, many = {"C": 64, "H": 32, "W": 32, "F": 64}, {"C": 128, "H": 16, "W": 16, "F": 128}
    assert computed_at(chosen(PADDED, WIDE, **few)) == ["compute_at('P', 'S/y_o')"]
    assert computed_at(chosen(PADDED, WIDE, **many)) == []


def test_a_nest_that_threads_will_divide_pads_what_it_reads():
    last = """def last(float(H,W,C) I, float(KH,KW,C) K) -> (O) {
        P(y,x,c) = y >= 1 && y < H + 1 && x >= 1 && x < W + 1 ? I(y-1,x-1,c) : 0 where c in 0:C, y in 0:H+2, x in 0:W+2
        S(y,x,c) +=! P(y+kh,x+kw,c) * K(kh,kw,c)
        O(y,x,c) = max(S(y,x,c), 0.0)
    }"""
    found = chosen(last, WIDE, C=72, H=24, W=24)
    assert computed_at(found) == ["compute_at('P', 'S/y_o')"]
    source = wb.generate(found, WIDE).source
    assert source.count("#pragma omp parallel") == 1
    assert "/ 72" not in source  # rows of channels are no part of a longer loop: a border stands between them
    assert computed_at(chosen(last, WIDE, C=16, H=6, W=6)) == []
    random = np.random.default_rng(3)
    arrays = random.standard_normal((24, 24, 72)).astype("f4"), random.standard_normal((3, 3, 72)).astype("f4")
    op = wb.operator(last)
    schedule = chosen(last, Target(cores=2), C=72, H=24, W=24)
    with wb.settings(threads=2):
        np.testing.assert_allclose(wb.build(schedule)(*arrays), op.evaluate(*arrays), rtol=1e-4, atol=1e-4)


def test_blocks_that_share_most_of_their_rows_are_padded_once():
    many = Target(vector_bits=512, vector_registers=32, cores=8)
    assert computed_at(chosen(PADDED, many, C=16, H=32, W=32, F=32)) == []


def test_windows_are_no_reason_to_divide_a_nest_whose_loops_outside_threads_divide() -> None:
    """Blocks of rows go to threads; in each row they would be woken again for what the columns read of it."""
    chain = """def chain(float(N,M) A) -> (O) {
        top(i) max=! fabs(A(i,j))
        B(i,j) = A(i,j) / (top(i) + 1.0)
        s(i) +=! B(i,j) * B(i,j)
        C(i,j) = B(i,j) * rsqrt(s(i) + 1.0)
        O(j) +=! C(i,j)
    }"""
    found = default_schedule(wb.lower(wb.operator(chain), N=800, M=700), WIDE)
    assert computed_at(found) == []
    assert [str(step) for step in found.trace if step.name == "parallelize"] == ["parallelize('O/i_o')"]
    assert [str(step) for step in found.trace if step.name == "stage"] == [
        "stage('B', 'B/i_i', filling='none')", "stage('C', 'C/i_i', filling='none')"]  # fmt: skip
    assert "vectorize('O/j')" in map(str, found.trace), "buffers of rows in blocks are rows"


@pytest.mark.parametrize("height", [13, 32])
@pytest.mark.parametrize("text", [PADDED, DEPTHWISE])
def test_results_are_the_oracles(text, height):
    random = np.random.default_rng(height)
    op, sizes = wb.operator(text), {"C": 16, "H": height, "W": 22, **({"F": 16} if text is PADDED else {})}
    found = chosen(text, Target(cores=2), **sizes)
    assert found.verdict
    shapes = [(16, height, 22), (16, 16, 3, 3) if text is PADDED else (16, 3, 3), (16,)]
    arrays = [random.standard_normal(shape).astype("f4") for shape in shapes]
    with wb.settings(threads=2):
        np.testing.assert_allclose(wb.build(found)(*arrays), op.evaluate(*arrays), rtol=1e-4, atol=1e-4)


def plan(text: str, **sizes: int):
    program = wb.lower(wb.operator(text), KH=3, KW=3, **sizes)
    (sums,) = (s for s in program.statements if s.name == "S")
    return blocking(structure(program, sums.id), WIDE)


def test_short_rows_have_others_beside_them():
    short, long = plan(DEPTHWISE, C=64, H=12, W=12), plan(DEPTHWISE, C=64, H=48, W=48)
    assert short is not None
    assert long is not None
    assert [d for d, _ in short.rows] == ["y"]
    assert long.rows == ()


def test_a_loop_shorter_than_a_vector_is_one_vector_with_lanes_left_out():
    text = "def few(float(M,N) x) -> (y) { y(m,n) = x(m,n+1) * 2.0 where n in 0:6, m in 0:M }"
    schedule = wb.schedule(wb.operator(text), M=5, N=8) | wb.vectorize("n")
    source = wb.generate(schedule, WIDE).source
    assert "put_first" in source
    assert "n += 8" in source
    x = np.arange(40, dtype="f4").reshape(5, 8)
    np.testing.assert_array_equal(wb.build(schedule)(x), wb.operator(text).evaluate(x))
