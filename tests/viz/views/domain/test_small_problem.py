"""Schedules that change instances are drawn on a smaller problem, at sizes at which every step still does something."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench import viz
from workbench.errors import ScheduleError
from workbench.poly.programs.tree import path
from workbench.viz.frames.coordinates import subject
from workbench.viz.frames.frame import Asked
from workbench.viz.panels.on_gpu import mapped_to_gpu
from workbench.viz.views.domain.small_problem import small_enough

ENERGY = wb.operator("def energy(float(N,M) x) -> (e) { e +=! x(i,j) * x(i,j) }")
BLOCKED = wb.operator("def blocked(float(B,N,K) x, float(K) w) -> (y) { y(b,n) +=! x(b,n,k) * w(k) }")
SPLIT = {
    "a product": wb.schedule(wb.ops.matmul, M=512, N=512, K=512)
    | wb.tile(m=32, n=32, k=8)
    | wb.split_reduction("k_o", 4),
    "all to one number": wb.schedule(ENERGY, N=4096, M=300) | wb.tile(i=64, j=30) | wb.split_reduction("i_o", 16),
    "both sums": wb.schedule(ENERGY, N=4096, M=300) | wb.tile(i=64, j=32) | wb.split_reduction("j_o"),
    "open sizes": wb.schedule(BLOCKED) | wb.tile(n=16, k=24) | wb.split_reduction("k_o"),
}


@pytest.mark.parametrize("name", SPLIT)
def test_a_step_that_needs_many_iterations_is_drawn_where_it_has_them(name):
    schedule = SPLIT[name]
    panel = wb.panel(schedule)
    assert panel.domain["notes"][0].startswith("drawn for ")
    assert "first 12 values" not in " ".join(panel.domain["notes"])
    drawn, left = small_enough(schedule, Asked())
    assert [s.name for s in drawn.program.statements] == [s.name for s in schedule.program.statements]
    assert left.sizes == drawn.program.sizes
    points = {s["name"]: s["points"][1] for s in panel.domain["statements"]}
    assert all(points.values())
    assert sum(points.values()) < 20_000
    assert {s["name"]: set(s["loops"]) for s in panel.domain["statements"]} == {
        s.name: {x.name for x in path(schedule.tree, s.id)} for s in schedule.program.statements
    }


def test_sizes_that_were_asked_for_are_not_changed():
    asked = Asked(sizes={"K": 40})
    drawn, _ = small_enough(SPLIT["a product"], asked)
    assert drawn.program.sizes["K"] == 40
    with pytest.raises(ScheduleError, match="adds nothing up"):
        small_enough(SPLIT["a product"], Asked(sizes={"M": 4, "N": 4, "K": 8}))


@pytest.fixture(scope="module")
def mapped():
    """A convolution with a gate, mapped to a GPU: seven dims, and buffers."""
    op = wb.operator(
        "def gated(float(N,C,H,W) I, float(F,C,KH,KW) K) -> (O) {"
        " O(n,f,y,x) +=! I(n, c, y + kh, x + kw) * K(f,c,kh,kw) }"
    )
    return mapped_to_gpu(wb.schedule(op, N=2, C=48, H=30, W=30, F=64, KH=3, KW=3))


@pytest.mark.parametrize("view", [viz.domain, viz.order, viz.lanes])
def test_a_convolution_on_a_gpu_has_pictures_of_a_smaller_one_and_says_so(mapped, view):
    found = view(mapped)
    said = found.text.lower()
    assert "drawn for " in said
    assert "instead of " in said
    assert found.scene.width > 100


def test_what_is_small_already_is_drawn_as_it_is():
    schedule = wb.schedule(ENERGY, N=6, M=5)
    drawn, left = small_enough(schedule, Asked())
    assert drawn == subject(schedule)
    assert left == Asked()
