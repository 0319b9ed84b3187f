"""The dataflow that a panel shows: every statement at its place in the picture, and what cannot be counted said."""

from __future__ import annotations

from itertools import pairwise

import pytest

import workbench as wb
from tests.viz.draw.test_layout import RESIDUAL_BLOCK, RESIDUAL_SIZES
from workbench.viz.panels.views import view

# A mean and what is left of it, which no library has.
CENTRED = """
def centred(float(N,D) X) -> (m, Y, s) {
    m(n) +=! X(n,d)
    Y(n,d) = X(n,d) - m(n) / 16
    s(n) max=! fabs(Y(n,d))
}"""


def made(name: str) -> wb.Schedule:
    if name == "residual block":
        return wb.schedule(wb.operator(RESIDUAL_BLOCK), RESIDUAL_SIZES)
    if name == "attention":
        return wb.schedule(wb.ops.attention, B=2, M=8, N=8, D=4, E=4)
    return wb.schedule(wb.operator(CENTRED), N=6, D=16)


def texts(picture) -> list[tuple[float, float, str]]:
    return [(mark[1], mark[2], mark[3]) for mark in picture["marks"] if mark[0] == "text"]


@pytest.mark.parametrize("name", ["centred", "attention", "residual block"])
def test_every_statement_stands_where_it_can_be_pointed_at(name):
    panel = wb.panel(made(name))
    found = view(panel, "dataflow")
    picture, places = found["picture"], found["places"]
    own = [s.name for s in panel.schedule.program.statements]
    assert {place["opens"] for place in places} <= {*own}
    assert len(places) == len({place["id"] for place in places}) >= len([n for n in own if not n.endswith(".init")])
    for place in places:
        x, y, width, height = place["box"]
        titles = [(tx, ty) for tx, ty, words in texts(picture) if words == place["words"]]
        assert any(x <= tx <= x + width and y <= ty <= y + height for tx, ty in titles), place["words"]
        assert 0 <= y < y + height <= picture["height"]
    assert all(a["box"][1] + a["box"][3] <= b["box"][1] + 1 for a, b in pairwise(places)), "one below another"


def test_what_a_statement_reads_and_writes_is_said_in_bytes():
    places = view(wb.panel(made("centred")), "dataflow")["places"]
    said = {place["id"]: place["details"] for place in places}
    assert said["m"][1:] == ["reads X  384 B", "writes m  24 B"]
    assert said["Y"][1:] == ["reads X  384 B, m  24 B", "writes Y  384 B"]


def test_it_is_that_of_the_schedule_that_is_shown():
    panel = wb.panel(made("centred"))
    loops = [place["details"][0] for place in view(panel, "dataflow")["places"]]
    panel.apply(wb.interchange("Y/n", "Y/d"))
    assert [place["details"][0] for place in view(panel, "dataflow")["places"]] != loops
