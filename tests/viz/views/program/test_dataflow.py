"""`viz.dataflow`: who writes what, who reads it, how many bytes; drawn so that no track and no label meets another."""

from __future__ import annotations

from itertools import combinations

import pytest

import workbench as wb
from tests.viz.draw.test_layout import OPERATORS, collisions, outside, scheduled
from tests.viz.values import parsed
from workbench import viz
from workbench.viz.draw.scene import Line

GATED = """
def gated(float(B,I) X, float(I,H) G, float(I,H) U, float(H,O) D) -> (Y) {
    g(b,h) +=! X(b,i) * G(i,h)
    u(b,h) +=! X(b,i) * U(i,h)
    a(b,h) = g(b,h) * sigmoid(g(b,h)) * u(b,h)
    Y(b,o) +=! a(b,h) * D(h,o)
}
"""


def gated(**sizes):
    return wb.schedule(wb.operator(GATED), sizes)


def edges(picture):
    """(statement, kind, array) → bytes."""
    return {(s.name, e.kind, e.array): e.touched_bytes for s in picture.data.steps for e in (*s.reads, *s.writes)}


def test_edges_have_the_bytes_of_the_cells_that_are_touched():
    found = edges(viz.dataflow(gated(B=4, I=8, H=16, O=2)))
    assert found == {
        ("g", "read", "X"): 4 * 8 * 4, ("g", "read", "G"): 8 * 16 * 4, ("g", "write", "g"): 4 * 16 * 4,
        ("u", "read", "X"): 4 * 8 * 4, ("u", "read", "U"): 8 * 16 * 4, ("u", "write", "u"): 4 * 16 * 4,
        ("a", "read", "g"): 4 * 16 * 4, ("a", "read", "u"): 4 * 16 * 4, ("a", "write", "a"): 4 * 16 * 4,
        ("Y", "read", "a"): 4 * 16 * 4, ("Y", "read", "D"): 16 * 2 * 4, ("Y", "write", "Y"): 4 * 2 * 4,
    }  # fmt: skip


def test_a_statement_that_reads_half_of_an_array_has_half_of_its_bytes():
    triangle = wb.schedule(wb.ops.trmm, M=10, N=3)
    assert edges(viz.dataflow(triangle))["C", "read", "L"] == 55 * 4


def test_places_are_told():
    picture = viz.dataflow(gated(B=4, I=8, H=16, O=2))
    assert picture.data.places == {
        "X": "outside", "G": "outside", "U": "outside", "D": "outside",
        "g": "between", "u": "between", "a": "between", "Y": "result",
    }  # fmt: skip


def test_an_open_size_leaves_shapes():
    picture = viz.dataflow(wb.schedule(wb.ops.matmul))
    assert set(edges(picture).values()) == {None}
    assert "A  M × K" in picture.text
    assert "B  K × N" in picture.text


def test_a_program_without_instances_moves_nothing():
    assert set(edges(viz.dataflow(gated(B=0, I=8, H=16, O=2))).values()) <= {0}


def test_statements_that_share_loops_share_a_box():
    together = wb.autoschedule(wb.operator(GATED), fusion="max", B=4, I=8, H=16, O=2)
    apart = viz.dataflow(gated(B=4, I=8, H=16, O=2))
    assert len(apart.data.nests) == 4
    assert len(viz.dataflow(together).data.nests) < 4
    assert apart.data.nests[2].loops == ("b", "h")


def test_copies_that_a_step_makes_are_statements_too():
    staged = wb.schedule(wb.ops.matmul, M=8, N=8, K=8) | wb.tile(m=4) | wb.stage("B", "m_o")
    picture = viz.dataflow(staged)
    assert picture.data.places["B_local"] == "between"
    assert ("B_local.load", "read", "B") in edges(picture)
    assert ("C", "read", "B_local") in edges(picture)


@pytest.mark.parametrize("program", OPERATORS)
def test_nothing_lies_on_anything_else(program):
    picture = viz.dataflow(scheduled(program))
    assert collisions(picture.scene) == []
    assert outside(picture.scene) == []
    upright = [m for m in picture.scene.marks if isinstance(m, Line) and m.start[0] == m.end[0]]
    for a, b in combinations(upright, 2):
        meets = min(a.end[1], b.end[1]) >= max(a.start[1], b.start[1])
        assert a.start[0] != b.start[0] or not meets, (a, b)


def test_html_leads_into_each_nest():
    picture = viz.dataflow(scheduled("attention"))
    assert picture.html.count("<details>") == len(picture.data.nests) == 6
    assert "into the nest of top.init, top" in picture.html
    assert "<script" not in picture.html
    parsed(picture.svg)


def test_one_nest_leads_nowhere():
    assert "<details>" not in viz.dataflow(scheduled("matmul")).html


def test_a_figure_for_a_paper():
    assert wb.figure(gated(B=4, I=8, H=16, O=2), "dataflow").axes[0].get_label().startswith("dataflow of gated")
