"""What a panel is opened with: names of panes, sizes that must be known, what is drawn smaller, sensible axes."""

from __future__ import annotations

import re

import pytest

import workbench as wb
from tests.support import ROOT
from workbench.errors import LoweringError, WorkbenchError
from workbench.viz.messages.panes import CALLED, MORE, PANES

STRIDED = wb.operator("""
def pooled(float(N,N) A, int32 step, int32 gap) -> (B) {
    B(y,x) max=! A(step * y + gap * r, step * x + s) where
        y in 0:(N - 3 * gap) / step, x in 0:(N - 3) / step, r in 0:3, s in 0:3
}
""")


def test_panes_are_called_by_their_names_or_by_what_their_buttons_say():
    panel = wb.panel(wb.ops.trmm, panes=("loops", "memory", "tree"))
    assert panel.panes == ["tree", "footprint"]
    panel.panes = ["threads", "history"]
    assert panel.panes == ["lanes", "history"]


def test_an_unknown_pane_is_refused_with_the_near_one():
    with pytest.raises(WorkbenchError, match=r"unknown pane 'loop'; did you mean 'loops'\?"):
        wb.panel(wb.ops.trmm, panes=("loop",))
    panel = wb.panel(wb.ops.trmm)
    with pytest.raises(WorkbenchError, match="unknown pane"):
        panel.panes = ["nowhere"]
    assert panel.panes == list(PANES)


def test_the_buttons_say_what_is_accepted():
    source = (ROOT / "js" / "src" / "panel" / "panes.ts").read_text(encoding="utf-8")
    table = source.partition("const PANES")[2].partition("};")[0]
    buttons = dict(re.findall(r"^  (\w+): \['([^']+)'", table, re.MULTILINE))
    assert set(buttons) == {*PANES, *MORE}
    assert {title: name for name, title in buttons.items() if title != name} == CALLED


def test_all_sizes_that_must_be_known_are_named_at_once_and_the_hint_works():
    with pytest.raises(LoweringError) as refused:
        wb.panel(STRIDED)
    assert "once step, gap have values" in str(refused.value)
    (call,) = re.findall(r"wb\.panel\(pooled, sizes=dict\(.*?\)\)", str(refused.value))
    panel = eval(call, {"wb": wb, "pooled": STRIDED, "dict": dict})
    assert panel.schedule.program.symbols == ("N",), "what may stay open does"


def test_of_the_sizes_that_were_given_the_rest_is_asked_for():
    with pytest.raises(LoweringError, match=r"sizes=dict\(stride=2, dilation=1\)"):
        wb.panel(wb.ops.conv2d, sizes={"stride": 2})
    assert wb.panel(wb.ops.conv2d, sizes={"stride": 2, "dilation": 1}).schedule.program.sizes["stride"] == 2


@pytest.mark.parametrize(
    "steps",
    [(wb.tile(m=32, n=32, k=8), wb.stage("B", "k_o")), (wb.split_reduction("k", 8),)],
    ids=["tiled and copied", "in parts"],
)
def test_what_is_drawn_smaller_says_so_after_every_step(steps):
    made = wb.schedule(wb.ops.matmul, M=512, N=512, K=512)
    for step in steps:
        made = made | step
    first, *others = wb.panel(made).domain["notes"]
    assert first.startswith("drawn for ")
    assert first.endswith("instead of M=512, K=512, N=512")
    assert any(note.startswith("tiles of") for note in others)


def test_sizes_that_somebody_gave_are_no_surprise():
    panel = wb.panel(wb.schedule(wb.ops.matmul, M=512, N=512, K=512), sizes={"M": 6, "N": 6, "K": 6})
    assert not [note for note in panel.domain["notes"] if note.startswith("drawn for")]


def test_a_convolution_starts_on_the_image():
    for nest in wb.panel(wb.schedule(wb.ops.conv2d, stride=1, dilation=1)).domain["nests"]:
        assert (nest["x"], nest["y"]) == ("x", "y")
    (nest,) = wb.panel(wb.schedule(STRIDED, step=2, gap=1)).domain["nests"]
    assert (nest["x"], nest["y"]) == ("x", "y")


def test_one_window_is_still_looked_into():
    op = wb.operator("def moved(float(N+2) a, float(3) w) -> (b) { b(i) +=! a(i+k) * w(k) }")
    (nest,) = wb.panel(op).domain["nests"]
    assert {nest["x"], nest["y"]} == {"i", "k"}
