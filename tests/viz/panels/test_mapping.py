"""A legality map says of each of its steps what the checker says, a few at a time."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.viz.panels.values import SCHEDULES, schedule
from workbench.errors import WorkbenchError
from workbench.schedules import Schedule
from workbench.schedules.transform import from_json
from workbench.viz.panels.domain.traffic import node_rows
from workbench.viz.panels.mapping import KINDS, costs_payload, grid, judged_map, map_payload


def asked(made: Schedule, kind: str) -> dict:
    """The question about the largest statement and its last two dims."""
    own = max(made.program.statements, key=lambda s: len(s.dims))
    return {"kind": kind, "statement": own.name, "x": own.dims[-1], "y": own.dims[-2]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_every_cell_is_judged_as_its_step_is(name, kind):
    made = schedule(name)
    found = map_payload(made, **asked(made, kind), only=range(0, len(grid(made, **asked(made, kind)).steps), 5))
    assert len(found["rows"]) * len(found["columns"]) > 0
    for cell in found["cells"].values():
        if "step" in cell:
            step = from_json(cell["step"])
            assert str(step) == cell["text"]
            assert cell["legal"] == bool(made.can(step))
            assert bool(cell["reason"]) != cell["legal"]


def test_a_grid_says_where_each_step_stands():
    made = schedule("matmul")
    found = grid(made, "tile", "C", "n", "m")
    width = len(found.columns)
    place = found.rows.index("4") * width + found.columns.index("16")
    assert str(found.steps[place]) == "tile(m=4, n=16)"
    assert str(found.steps[found.rows.index("1") * width + found.columns.index("16")]) == "split('n', 16)"
    assert found.steps[0] is None
    assert (found.across, found.down) == ("n", "m")


def test_a_stencil_may_be_tiled_after_it_is_skewed():
    made = schedule("stencil")
    square = {"kind": "tile", "statement": "A.1", "x": "i", "y": "t"}
    plain = grid(made, **square)
    place = plain.rows.index("2") * len(plain.columns) + plain.columns.index("4")
    assert not judged_map(made, plain, [place])["cells"][str(place)]["legal"]
    skewed = made | wb.skew("A.1/i", by="t")
    assert judged_map(skewed, grid(skewed, **square), [place])["cells"][str(place)]["legal"]


def test_one_cell_at_least_is_judged_and_who_asks_goes_on():
    made = schedule("convolution")
    of = grid(made, **asked(made, "shift"))
    found = judged_map(made, of, seconds=0.0)["cells"]
    assert list(found) == ["0"]
    rest = [i for i in range(len(of.steps)) if str(i) not in found]
    assert list(judged_map(made, of, rest, seconds=0.0)["cells"]) == ["1"]
    assert judged_map(made, of, [])["cells"] == {}


def test_a_tile_that_keeps_more_moves_less():
    made = wb.schedule(wb.ops.matmul, M=128, N=128, K=128)
    found = map_payload(made, "tile", "C", "n", "m", only=None)
    assert all(len(node) == 4 for cell in found["cells"].values() for node in cell["nodes"])
    assert found["touches"] == [128 * 128 * 4, 128**3 * 16]
    assert found["note"] == ""


def test_interchanges_are_above_the_diagonal():
    made = schedule("convolution")
    of = grid(made, **asked(made, "interchange"))
    side = len(of.rows)
    assert side == 7
    assert [i for i, step in enumerate(of.steps) if step is not None] == [
        i * side + j for i in range(side) for j in range(side) if i < j
    ]


def test_what_is_asked_of_a_map_is_checked():
    made = schedule("matmul")
    with pytest.raises(WorkbenchError, match="tile"):
        grid(made, "tiles", "C", "n", "m")
    with pytest.raises(WorkbenchError, match=r"C\.init"):
        grid(made, "tile", "D", "n", "m")
    with pytest.raises(WorkbenchError, match="cells 0 to"):
        judged_map(made, grid(made, "tile", "C", "n", "m"), [10_000])


def test_what_steps_cost_is_told_a_few_at_a_time():
    made = wb.schedule(wb.ops.matmul, M=128, N=128, K=128)
    steps = [wb.tile(m=16, n=16), wb.interchange("n", "m"), wb.parallelize("k")]
    found = costs_payload(made, [step.to_json() for step in steps])
    (nodes, touches), after = found["now"], found["after"]
    assert nodes == node_rows(made)
    assert touches == [128 * 128 * 4, 128**3 * 16]
    assert after[0][0] == node_rows(made | steps[0])
    assert 1 <= len(after) <= 3
    assert costs_payload(wb.schedule(wb.ops.trmm), [])["note"].startswith("counted for")
