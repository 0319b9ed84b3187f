"""Axes of a nest's picture: dims, loops, and loops that count something else by now than the dim of their name."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.viz.panels.values import schedule
from workbench.viz.panels import Panel
from workbench.viz.panels.gestures import step_for


def table(panel: Panel, place: list[int]) -> Any:
    """A table of the panel's numbers."""
    offset, rows, columns = place
    return np.frombuffer(panel.tables, "<i4")[offset : offset + rows * columns].reshape(rows, columns)


def test_a_loop_that_counts_something_else_than_its_dim_is_an_axis_and_can_be_dragged_on():
    made = schedule("stencil") | wb.skew("A.1/i", by="t")
    panel = wb.panel(made)
    first, nest = panel.domain["nests"]
    assert first["counts"] == {}
    assert nest["counts"] == {"i + t": "i"}
    assert nest["axes"] == ["t", "i", "j", "i + t"]
    own = panel.domain["statements"][1]
    points, times = (table(panel, own[name]) for name in ("points", "times"))
    skewed = points[:, own["dims"].index("i")] + points[:, own["dims"].index("t")]
    assert (times[:, own["counts"].index("i + t")] == skewed).all()
    given = {"statement": "A.1", "x": "i + t", "y": "t", "width": 4, "height": 2}
    assert str(step_for(made, "tile", given)) == "tile({'t': 2, 'A.1/i': 4})"


def test_tiles_and_plain_loops_are_called_by_their_names():
    made = schedule("matmul") | wb.tile(m=4, n=4)
    nest = wb.panel(made).domain["nests"][0]
    assert nest["counts"] == {}
    assert nest["axes"] == ["m", "n", "k", "m_o", "n_o", "m_i", "n_i"]


def test_the_axis_of_a_long_expression_has_a_short_name():
    made = wb.schedule(wb.ops.matmul, M=7, N=6, K=5) | wb.skew("n", by="m", factor=1000)
    made = made | wb.skew("n", by="m", factor=100000) | wb.skew("m", by="n", factor=1000)
    counts = wb.panel(made).domain["nests"][0]["counts"]
    assert counts["loop m"] == "m"
    assert set(counts.values()) == {"m", "n"}


def test_dims_of_a_copy_are_no_other_axes_for_the_statement_that_reads_it():
    made = wb.schedule(wb.ops.load("transpose"), M=64, N=64) | wb.tile(m=32, n=32) | wb.stage("A", "n_o")
    nest = wb.panel(made).domain["nests"][0]
    assert nest["counts"] == {}
    assert {"m_o", "n_o", "m", "n"} <= set(nest["axes"])
    assert {nest["x"], nest["y"]} == {"m", "n"}


def test_a_loop_around_several_statements_has_one_number_and_loops_of_one_name_have_their_own():
    panel = wb.panel(wb.schedule(wb.ops.jacobi_2d, N=9, M=9, steps=3))
    own = {each["name"]: each for each in panel.domain["statements"]}
    first, second = (dict(zip(own[name]["loops"], own[name]["numbers"], strict=True)) for name in ("B", "A.1"))
    assert first["t"] == second["t"]
    assert first["i"] != second["i"]
