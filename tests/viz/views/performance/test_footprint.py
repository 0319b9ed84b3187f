"""`viz.footprint`: numbers against a count by hand, words by golden files, the drawing as XML."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.viz.values import MACHINE, parsed
from workbench import poly, viz
from workbench.errors import LoweringError, WorkbenchError
from workbench.viz.views.performance.footprint_data import LoopRow

VALUES = {
    "matmul": lambda: (
        wb.schedule(wb.ops.matmul, M=256, N=256, K=256) | wb.tile(m=32, n=32, k=32) | wb.parallelize("m_o")
    ),
    "trmm": lambda: wb.schedule(wb.ops.trmm, M=60, N=40) | wb.tile(m=8, n=8),
    "heat_3d": lambda: wb.schedule(wb.ops.heat_3d, N=16, M=16, K=16, steps=4),
    "conv2d": lambda: wb.schedule(wb.ops.conv2d, N=1, C=8, H=28, W=28, F=8, KH=3, KW=3, stride=1, pad=1, dilation=1),
    "nobody planned for": lambda: wb.schedule(
        wb.operator("def odd(float(N) A) -> (s) { s(i / 3) +=! A(j) * A(N - 1 - i) where i in 0:N, j in i:N }"), N=50
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_text(name, golden):
    picture = viz.footprint(VALUES[name](), MACHINE)
    parsed(picture.svg)
    golden(picture.text)


def test_a_tile_holds_its_three_blocks():
    rows = {r.name: r for r in viz.footprint(VALUES["matmul"](), MACHINE).data.rows if isinstance(r, LoopRow)}
    assert rows["k_o"].footprint.held_bytes == 3 * 32 * 32 * 4
    assert (rows["k_o"].fits, rows["m_o"].fits) == ("L1", "L2")


def test_a_cache_that_holds_everything_moves_the_least():
    schedule = VALUES["conv2d"]()
    assert viz.footprint(schedule, MACHINE).data.levels[-1].moved_bytes == poly.bytes(schedule.program)


def test_a_cache_that_holds_nothing_moves_every_touch():
    machine = wb.Target(cache_bytes=(1, 0, 0))
    (level,) = viz.footprint(wb.schedule(wb.ops.matmul, M=4, N=3, K=5), machine).data.levels
    init, update = 4 * 3 * 4, 4 * 3 * 5 * 4 * 4  # C; A, B, C in and C out
    assert (level.keeps, level.moved_bytes) == ((), init + update)


def test_sizes_may_be_given_and_the_steps_are_taken_again():
    small = viz.footprint(VALUES["matmul"](), MACHINE, sizes={"M": 32, "N": 32, "K": 32})
    assert small.data.title == "matmul for M=32, K=32, N=32"
    assert small.data.rows[0].footprint.held_bytes == 3 * 32 * 32 * 4


def test_open_sizes_and_unknown_ones_are_refused():
    with pytest.raises(LoweringError, match=r'give sizes=\{"M": 64, "K": 64, "N": 64\}, or others'):
        viz.footprint(wb.schedule(wb.ops.matmul), MACHINE)
    with pytest.raises(WorkbenchError, match="unknown size 'Q'; known: M, K, N"):
        viz.footprint(wb.schedule(wb.ops.matmul), MACHINE, sizes={"Q": 3})


def test_marks_that_hold_as_much_do_not_cover_each_other():
    scene = viz.footprint(VALUES["matmul"](), MACHINE).drawing
    spots = [(m.x, m.y) for m in scene.marks if type(m).__name__ == "Marker" and m.title]
    assert all(abs(a[0] - b[0]) > 8 for a in spots for b in spots if a is not b and a[1] == b[1])
