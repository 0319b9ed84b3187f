"""`viz.tree`: the nest as data and words, and a trace that can be pasted."""

from __future__ import annotations

import workbench as wb
from tests.viz.values import naive, parsed, seidel, tiled
from workbench import viz
from workbench.viz.views.program.tree_data import LoopNode, StatementNode
from workbench.viz.views.program.tree_view import trace_text


def test_the_nest():
    (outer,) = viz.tree(tiled()).data
    names, node = [], outer
    while isinstance(node, LoopNode):
        names.append((node.name, node.detail, node.kind))
        init, *rest = node.children
        node = init
    assert names == [
        ("m_o", "m / 64", "parallel"), ("n_o", "n / 64", "serial"), ("m_i", "m % 64", "serial"),
        ("n_i", "n % 64", "vector"),
    ]  # fmt: skip
    assert node == StatementNode("C.init", ("m", "n"), 0, "C(m, n) = 0.0")
    (inner,) = rest
    assert inner.children == (StatementNode("C", ("m", "n", "k"), 1, "C(m, n) += A(m, k) * B(k, n)"),)


def test_statements_keep_the_colours_of_the_domain():
    from workbench.viz.draw.palette import statement_role

    svg = viz.tree(naive()).svg
    assert f"--wb-{statement_role(0)}" in svg
    assert f"--wb-{statement_role(1)}" in svg


def test_the_trace_can_be_pasted():
    names = {"wb": wb, "matmul": wb.ops.matmul}
    exec(trace_text(tiled()), names)
    assert names["schedule"] == tiled()


def test_a_trace_with_a_step_that_is_no_call_is_replayed():
    schedule = wb.autoschedule(seidel(), fusion="default", N=6, T=3)
    names = {"wb": wb, "seidel": seidel()}
    exec(trace_text(schedule), names)
    assert str(names["schedule"]) == str(schedule)


def test_the_drawing_is_well_formed_and_holds_every_loop():
    root = parsed(viz.tree(tiled()).svg)
    texts = "".join(e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text"))
    assert all(name in texts for name in ("m_o", "n_o", "m_i", "n_i", "parallel", "vector"))


def test_boxes_hold_their_words():
    for schedule in (tiled(), wb.schedule(wb.ops.layer_norm), wb.autoschedule(wb.ops.conv2d_bias)):
        scene = viz.tree(schedule).scene
        from workbench.viz.draw.scene import Text

        assert all(m.x + m.width <= scene.width + 0.01 for m in scene.marks if isinstance(m, Text))


def test_text(golden):
    golden(viz.tree(tiled()).text)


def test_loops_that_are_bound_have_a_badge_and_an_order():
    bound = naive() | wb.decompose_reduction("C") | wb.bind("C/m", "block.x") | wb.bind("C/n", "thread.y")
    assert "thread.y" in viz.tree(bound).svg
    assert "block.x" in str(viz.tree(bound))
    assert len(viz.order(bound, "m", "n", statement="C").data.threads) > 1
