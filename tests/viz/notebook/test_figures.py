"""`wb.figure`: every kind as a Matplotlib figure of vectors; PDF with its words as text."""

from __future__ import annotations

from io import BytesIO

import pytest

import workbench as wb
from tests.viz.values import MACHINE
from tests.viz.views.models.test_graph import BLOCK
from tests.viz.views.models.test_timeline import SMALL
from workbench import viz
from workbench.errors import WorkbenchError
from workbench.viz.notebook.figures import KINDS

CEILINGS = wb.Ceilings(1e11, {"L2": 1e11, "L3": 5e10, "memory": 1e10})
ASKED = {
    "footprint": {"target": MACHINE},
    "roofline": {"target": MACHINE, "ceilings": CEILINGS},
    "diff": {"target": MACHINE},
    "fusion": {"target": MACHINE},
}


def value(kind):
    if kind == "code":
        return wb.generate(wb.schedule(wb.ops.trmm, M=4, N=4), MACHINE)
    if kind == "fusion":
        return wb.schedule(wb.ops.blur, H=9, W=9) | wb.compute_at("R", "B/y")
    if kind == "graph":
        return wb.graph.fused(wb.model(BLOCK))
    if kind == "timeline":
        return SMALL
    return wb.schedule(wb.ops.trmm, M=6, N=5) | wb.tile(m=2, n=2)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_a_figure_of_the_same_words(kind):
    figure = wb.figure(value(kind), kind, **ASKED.get(kind, {}))
    drawn = getattr(viz, kind)(value(kind), **ASKED.get(kind, {})).drawing
    words = sorted(m.text for m in drawn.marks if type(m).__name__ == "Text")
    assert sorted(t.get_text() for t in figure.axes[0].texts) == words
    out = BytesIO()
    figure.savefig(out, format="svg")
    assert b"<image" not in out.getvalue()


def test_the_width_is_in_inches_and_keeps_proportions():
    own, narrow = (wb.figure(value("tree"), "tree", width=w).get_size_inches() for w in (None, 3.5))
    assert narrow[0] == pytest.approx(3.5)
    assert narrow[1] / narrow[0] == pytest.approx(own[1] / own[0])


def test_a_figure_is_no_part_of_pyplot():
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    wb.figure(value("tree"), "tree")
    assert pyplot.get_fignums() == before


def test_dollars_are_no_mathematics():
    figure = viz.Picture("costs $5$").figure()
    assert [t.get_text() for t in figure.axes[0].texts] == ["costs $5$"]
    figure.savefig(BytesIO(), format="pdf")


def test_a_pdf_is_the_same_bytes_twice(tmp_path):
    one, two = (viz.tree(value("tree")).save(tmp_path / f"{n}.pdf").read_bytes() for n in "ab")
    assert one == two
    assert one.startswith(b"%PDF")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("piechart",), "figure: unknown kind 'piechart'; .*known: .*domain.*tree"),
        ((3,), "unknown kind 3"),
    ],
)
def test_an_unknown_kind_lists_the_known_ones(asked, message):
    with pytest.raises(WorkbenchError, match=message):
        wb.figure(value("tree"), *asked)


@pytest.mark.parametrize(("name", "bad"), [("theme", "auto"), ("width", 0), ("width", "wide")])
def test_bad_themes_and_widths_are_refused(name, bad):
    with pytest.raises(WorkbenchError, match=name):
        wb.figure(value("tree"), "tree", **{name: bad})
