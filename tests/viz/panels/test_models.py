"""A model in a panel, without a browser: what is drawn, what folds, which schedule a call opens, what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import workbench as wb
from tests.viz.views.models.test_graph import BLOCK, HOSTILE, ODD, RECURRENT, deep
from workbench.errors import WorkbenchError
from workbench.graph.fusion.call_graph import operator_of
from workbench.viz.panels.models.pointing import picture_payload
from workbench.viz.views.models.graph_drawing import graph_chart
from workbench.viz.views.models.graph_view import whole_graph


def places(panel):
    return panel.network["graph"]["places"]


def opened(panel, name: str):
    """The schedule after a click on the first call of that name."""
    node = next(place for place in places(panel) if place["opens"] and name in re.split(": ?", place["words"]))
    panel.watching.act(panel, "open", node["opens"])
    return panel.schedule


def test_what_is_sent_is_what_is_drawn():
    panel = wb.panel(wb.model(BLOCK))
    chart = graph_chart(panel.watching.drawn)
    assert panel.network["graph"]["picture"] == picture_payload(chart.scene)
    assert [place["id"] for place in places(panel)] == list(chart.boxes)
    assert panel.panes == ["model"]
    json.dumps(panel.network)


def test_a_call_opens_with_its_types_and_sizes():
    b = wb.graph.Builder()
    x = b.parameter("x", "float64[6, 7]")
    panel = wb.panel(b.model(b.call(ODD, b.call(ODD, x))))
    schedule = opened(panel, "twisted")
    assert dict(schedule.program.sizes) == {"N": 6, "M": 7}
    assert panel.network["opened"]
    assert {"model", "domain", "code"} <= set(panel.panes)
    assert all(array.dtype.name == "float64" for array in schedule.program.arrays.values())


def test_a_named_dimension_stays_open_unless_it_has_a_number():
    assert opened(wb.panel(wb.model(BLOCK)), "softmax").program.symbols
    assert opened(wb.panel(wb.model(BLOCK), sizes={"n": 5}), "softmax").program.sizes["M"] == 5


def test_a_call_in_a_group_opens_the_kernel_of_the_group():
    result = wb.graph.fused(wb.model(BLOCK))
    panel = wb.panel(result)
    schedule = opened(panel, "bias_relu")
    assert schedule.program.name == result.groups[0].operator.name
    assert operator_of(result.before[0]).name == "matmul"


def test_an_opened_module_shows_the_modules_in_it():
    network = wb.panel(deep(6, 5)).watching
    network.fold("")
    assert {".".join(path) for path in network.folds} == {f"stage{n}" for n in range(6)}
    network.fold("stage2")
    assert {".".join(path) for path in network.folds if path[0] == "stage2"} == {f"stage2.block{n}" for n in range(5)}
    network.fold("stage2")
    assert {".".join(path) for path in network.folds} == {f"stage{n}" for n in range(6)}
    network.fold("*")
    assert len(network.drawn.nodes) == len(network.whole.nodes)


def test_stages_are_the_models_between_the_passes():
    model = wb.optimize(wb.model(BLOCK))
    panel = wb.panel(model)
    network = panel.watching
    assert len(network.stages) == 1 + sum(each.changed for each in model.trace)
    network.act(panel, "stage", "0")
    assert {op.name for op in model.start.operators} == {n.name for n in network.whole.nodes if n.calls}
    network.act(panel, "stage", str(len(network.stages) - 1))
    network.act(panel, "colours", "changes")
    assert "new" in {each["words"].partition(" (")[0] for each in panel.network["meanings"]}


def test_memory_is_planned_when_asked_for_or_the_reason_said():
    panel = wb.panel(wb.model(BLOCK), sizes={"n": 4})
    panel.watching.act(panel, "memory")
    found = {place["id"] for place in panel.network["memory"]["places"]}
    assert found == {"matmul", "bias_relu", "layer_norm", "softmax"}
    panel = wb.panel(wb.model(RECURRENT))
    panel.watching.act(panel, "memory")
    assert panel.network["memory"] is None
    assert panel.network["why_no_memory"]


def test_bars_open_their_operators():
    built = wb.build(wb.model(BLOCK))
    arrays = [np.ones(shape, "f4") for shape in ((4, 64), (64, 32), (32,), (32,))]
    panel = wb.panel(built, profile=built.profile(*arrays, seconds=0.01))
    bars = panel.network["time"]["places"]
    assert [bar["opens"] for bar in bars] == [place["opens"] for place in places(panel) if place["opens"]]


@pytest.mark.parametrize(("do", "what", "says"), [
    ("fold", "stage9", "stage0"), ("stage", "7", "0 to 0"), ("colours", "red", "kinds"), ("open", "n0", "no operator"),
    ("dance", "", "fold"),
])  # fmt: skip
def test_what_there_is_not_is_refused_with_what_there_is(do, what, says):
    panel = wb.panel(deep(1, 2))
    with pytest.raises(WorkbenchError, match=says):
        panel.watching.act(panel, do, what)


def test_a_model_without_operators_has_a_panel_too():
    panel = wb.panel(wb.model("fn main(xs: List<float32>) { match xs { Nil => 0.0  Cons(x, rest) => x } }"))
    assert any("match" in place["words"] for place in places(panel))


def test_without_a_kernel_the_picture_stands_there():
    model = wb.model(BLOCK)
    stored = wb.panel(model)._repr_mimebundle_()[0]
    assert "softmax" in stored["text/plain"]
    assert stored["image/svg+xml"].startswith("<svg")


def test_names_with_markup_are_sent_as_they_are():
    b = wb.graph.Builder()
    panel = wb.panel(b.model(b.call("softplus", b.parameter(HOSTILE, "float32[4]"))))
    assert any(place["words"].startswith(HOSTILE) for place in places(panel))
    assert whole_graph(panel.watching.model).nodes[0].name == HOSTILE
