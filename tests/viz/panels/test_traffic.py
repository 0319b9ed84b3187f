"""The quick estimate of traffic agrees with exact counts where boxes are exact, and is near them elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import LoweringError
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Call, Index, integer
from workbench.poly.count.footprints import loop_footprints
from workbench.schedules import Schedule
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.domain.boxes import at_iteration
from workbench.viz.panels.domain.traffic import estimated_traffic

EXACT = {
    "naive": lambda: wb.schedule(wb.ops.matmul, M=12, N=10, K=8),
    "tiled": lambda: wb.schedule(wb.ops.matmul, M=16, N=16, K=16) | wb.tile(m=4, n=4),
    "exchanged": lambda: wb.schedule(wb.ops.matmul, M=12, N=10, K=8) | wb.interchange("n", "m"),
}
NEAR = {
    "one dimension": lambda: wb.schedule(wb.ops.jacobi_1d, N=40, steps=6),
    "triangle": lambda: wb.schedule(wb.ops.trmm, M=20, N=20),
    "stencil": lambda: wb.schedule(wb.ops.jacobi_2d, N=24, M=24, steps=4),
    "windows": lambda: wb.schedule(
        wb.ops.conv2d, N=1, C=4, H=10, W=10, F=4, KH=3, KW=3, stride=1, pad=1, dilation=1
    ),
}  # fmt: skip


def pairs(made: Schedule) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """(held, moved) exactly and as estimated, node by node."""
    exact = loop_footprints(made.program, made.tree)
    quick = estimated_traffic(made.program, made.tree)
    assert [f.path[-1].name if f.path else "" for f in exact] == [n.loop for n in quick]
    return [((f.held_bytes, f.moved_bytes), (n.held_bytes, n.moved_bytes)) for f, n in zip(exact, quick, strict=True)]


@pytest.mark.parametrize("name", EXACT)
def test_boxes_are_exact_for_boxes(name):
    for exact, quick in pairs(EXACT[name]()):
        assert quick == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("name", NEAR)
def test_elsewhere_they_are_within_a_factor_of_two(name):
    for exact, quick in pairs(NEAR[name]()):
        for a, b in zip(exact, quick, strict=True):
            assert a / 2 <= b <= 2 * a


def test_a_parent_comes_before_its_children():
    nodes = estimated_traffic(*(lambda s: (s.program, s.tree))(NEAR["windows"]()))
    assert nodes[0].parent == -1
    assert all(0 <= node.parent < at for at, node in enumerate(nodes) if at)


@pytest.mark.parametrize("name", ["attention", "embedding", "lstm_cell", "cholesky", "histogram", "argmax", "trace"])
def test_any_operator_has_an_estimate(name):
    base, note = with_sizes(wb.schedule(wb.ops.load(name)))
    assert base is not None
    assert note.startswith("counted for ")
    nodes = estimated_traffic(base.program, base.tree)
    assert nodes[0].held_bytes > 0
    assert all(node.moved_bytes >= 0 for node in nodes)


def test_open_sizes_are_refused():
    made = wb.schedule(wb.ops.matmul)
    with pytest.raises(LoweringError, match="needs every size"):
        estimated_traffic(made.program, made.tree)


def test_a_loop_that_begins_at_the_larger_of_two_is_followed():
    begins = Call("max", (Index("i"), integer(3)), INT32)
    first, second = (at_iteration({"i": np.arange(8)}, begins, nth, {}) for nth in (0, 1))
    assert [list(first["i"]), list(second["i"])] == [[0, 1, 2, 3], [4]]
