"""`viz.graph`: every call is a node, every value an edge; modules fold, colours say groups, engines and changes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import workbench as wb
from tests.graph.random_models import random_model
from tests.support import examples
from tests.viz.values import parsed
from workbench.errors import WorkbenchError
from workbench.graph.terms.nodes import Call, Primitive
from workbench.graph.terms.walking import postorder
from workbench.viz.draw.layered import layered
from workbench.viz.views.models.folding import folded, folded_id
from workbench.viz.views.models.graph_layout import laid_out
from workbench.viz.views.models.graph_view import graph, whole_graph, with_times
from workbench.viz.views.models.model_graph import ModelGraph

HOSTILE = "<img src=x onerror=alert(1)>"
BLOCK = """
fn main(x: float32[n, 64], w: float32[64, 32], b: float32[32], g: float32[32]) {
    %h = bias_relu(matmul(x, w), b)
    softmax(layer_norm(%h, g, b, 0.00001))
}
"""
RECURRENT = """
fn cell(x: float32[b, i], h: float32[b, k], w: float32[i, k], c: float32[k]) -> float32[b, k] {
    bias_relu(joined(matmul(x, w), h), c)
}
def joined<T>(T(M,N) a, T(M,N) b) -> (c) { c(i,j) = a(i,j) + b(i,j) }
fn run(xs: List<float32[b, i]>, h: float32[b, k], w: float32[i, k], c: float32[k]) -> float32[b, k] {
    match xs {
        Nil => h
        Cons(x, rest) => run(rest, cell(x, h, w, c), w, c)
    }
}
fn main(xs: List<float32[b, 8]>, h: float32[b, 4], w: float32[8, 4], c: float32[4]) {
    if 1 < 2 { softmax(run(xs, h, w, c)) } else { h }
}
"""
ODD = wb.operator("def twisted<T>(T(N,M) x) -> (y) { y(i,j) = exp(x(j,i)) + x(i,0) where i in 0:M, j in 0:N }")
JOINED = wb.operator("def joined2<T>(T(N,M) x, T(N,M) z) -> (y) { y(i,j) = x(i,j) - 0.5 * z(i,j) }")


def deep(stages: int = 3, blocks: int = 4):
    """A chain of residual blocks, of an operator that nobody planned for."""
    b = wb.graph.Builder()
    x = b.parameter("x", "float32[8, 8]")
    for stage in range(stages):
        for block in range(blocks):
            at, before = f"stage{stage}.block{block}", x
            for n in range(3):
                x = b.call(ODD, x, label=f"{at}.twist{n}")
            x = b.call(JOINED, x, before, label=f"{at}.join")
    return b.model(x)


def boxes_meet(value: ModelGraph) -> list[tuple[str, str]]:
    """Pairs of nodes whose boxes overlap."""
    places = list(laid_out(value).boxes.items())
    return [
        (name, other) for at, (name, a) in enumerate(places) for other, b in places[:at]
        if a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height
    ]  # fmt: skip


@pytest.mark.parametrize("text", [BLOCK, RECURRENT], ids=["block", "recurrent"])
def test_text(golden, text):
    picture = graph(wb.model(text))
    parsed(picture.svg)
    golden(picture.text)


def test_fused_text(golden):
    golden(graph(wb.graph.fused(wb.model(BLOCK))).text)


def test_every_call_of_an_operator_is_a_node_and_takes_what_it_takes():
    model = wb.model(BLOCK)
    found = whole_graph(model)
    calls = {n for n in postorder(model.main) if isinstance(n, Call) and isinstance(n.function, Primitive)}
    nodes = {node.calls[0]: node for node in found.nodes if node.calls}
    assert set(nodes) == calls
    for call, node in nodes.items():
        sources = {e.source for e in found.edges if e.target == node.id}
        assert {nodes[each].id for each in call.arguments if each in nodes} <= sources
        assert len(sources) <= len(call.arguments)


@pytest.mark.parametrize("seed", range(examples(quick=5, ci=15, full=200)))
def test_random_models_are_drawn_without_overlaps_and_edges_have_both_ends(seed):
    model = random_model(seed)
    found = whole_graph(model)
    known = {node.id for node in found.nodes}
    assert all(e.source in known and e.target in known for e in found.edges)
    assert sum(node.kind == "result" for node in found.nodes) >= 1
    assert boxes_meet(found) == []
    parsed(graph(model).svg)


@pytest.mark.parametrize("seed", range(examples(quick=8, ci=20, full=300)))
def test_layers_go_down_and_neighbours_do_not_touch(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 25))
    sizes = [(float(rng.integers(10, 120)), float(rng.integers(10, 50))) for _ in range(count)]
    edges = [(int(a), int(b)) for a, b in rng.integers(0, count, (count, 2)) if a < b]
    found = layered(sizes, edges)
    for (a, b), route in zip(edges, found.routes, strict=True):
        assert found.middles[a][1] < found.middles[b][1]
        assert all(high[1] <= low[1] + 1e-6 for high, low in pairwise(route))
    places = [(x - w / 2, y - h / 2, w, h) for (x, y), (w, h) in zip(found.middles, sizes, strict=True)]
    for at, (x, y, w, h) in enumerate(places):
        for x2, y2, w2, h2 in places[:at]:
            assert x + w <= x2 + 1e-6 or x2 + w2 <= x + 1e-6 or y + h <= y2 + 1e-6 or y2 + h2 <= y + 1e-6


def test_a_circle_is_drawn_with_one_edge_upwards():
    found = layered([(10, 10)] * 3, [(0, 1), (1, 2), (2, 0)])
    up = [route for route in found.routes if route[0][1] > route[-1][1]]
    assert len(up) == 1


def test_a_folded_module_is_one_node_with_all_its_calls():
    whole = whole_graph(deep())
    found = folded(whole, [("stage0", "block1")])
    node = found.node(folded_id(("stage0", "block1")))
    assert len(node.calls) == 4
    assert len(found.nodes) == len(whole.nodes) - 3
    assert any(e.source == node.id for e in found.edges)
    assert any(e.target == node.id for e in found.edges)


def test_a_large_model_is_folded_until_it_can_be_looked_at():
    assert len(graph(deep(6, 5)).data.nodes) <= 32
    assert len(graph(deep(6, 5), folds=()).data.nodes) == 6 * 5 * 4 + 2
    assert boxes_meet(whole_graph(deep(6, 5))) == []


def test_an_unknown_module_is_refused_with_the_known_ones():
    with pytest.raises(WorkbenchError, match=r"stage0\.block0"):
        graph(deep(1, 1), folds=["stage0.blok0"])
    with pytest.raises(WorkbenchError, match="expected a model"):
        graph(3)  # type: ignore[arg-type]


def test_groups_have_colours_and_cuts_their_reasons():
    result = wb.graph.fused(wb.model(BLOCK))
    found = whole_graph(result)
    assert [m.words for m in found.colouring.meanings] == ["matmul + bias_relu", "layer_norm + softmax"]
    assert {e.cut for e in found.edges if e.cut} == {cut.reason for cut in result.cuts}
    at = {node.name: found.colouring.of.get(node.id) for node in found.nodes}
    assert at["matmul"] == at["bias_relu"] != at["softmax"]
    assert any("bytes less" in line for node in found.nodes for line in node.details)


def test_regions_have_the_colours_of_their_engines():
    divided = wb.partition(wb.model(BLOCK), engines=["json"], by="rules", host="interpreter")
    found = whole_graph(divided)
    words = {n.name: found.colouring.meanings[found.colouring.of[n.id]].words for n in found.nodes if n.calls}
    assert words["matmul"] == "json"
    assert any("json_1" in node.path for node in found.nodes)


def test_what_a_pass_made_has_a_colour():
    before = wb.model(BLOCK)
    found = graph(before | wb.passes.fuse(), changes=True).data
    new = {n.name for n in found.nodes if n.calls and found.colouring.meanings[found.colouring.of[n.id]].words == "new"}
    assert new == {op.name for op in (before | wb.passes.fuse()).operators} - {op.name for op in before.operators}


def test_nodes_have_the_times_of_a_profile():
    built = wb.build(wb.model(BLOCK))
    arrays = [np.ones(shape, "f4") for shape in ((4, 64), (64, 32), (32,), (32,))]
    profile = built.profile(*arrays, seconds=0.01)
    found = with_times(whole_graph(built), profile)
    assert sum(node.milliseconds or 0 for node in found.nodes) == pytest.approx(profile.inside)
    assert sum(node.milliseconds or 0 for node in folded(found, [("nothing",)]).nodes) == pytest.approx(profile.inside)


def test_names_with_markup_are_text():
    b = wb.graph.Builder()
    model = b.model(b.call("softplus", b.parameter(HOSTILE, "float32[4]"), label=f"{HOSTILE}.{HOSTILE}.x"))
    for kind in ("image/svg+xml", "text/html"):
        assert "<img src=x" not in model._repr_mimebundle_()[kind]


def test_functions_that_call_themselves_stand_beside_and_others_stand_open():
    found = whole_graph(wb.model(RECURRENT))
    paths = {node.path for node in found.nodes if node.name == "matmul"}
    assert paths == {("fn run", "case Cons(x, rest)", "cell")}
    assert {node.name for node in found.nodes if node.kind == "function"} == {"run(…)"}
    assert {e.words for e in found.edges} >= {"condition", "then", "else", "Nil", "rest"}
