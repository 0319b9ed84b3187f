"""`viz.domain`: the plain data exactly, the words by golden files, the drawing as XML."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.viz.values import naive, padded_conv, parsed, refused, seidel
from workbench import viz
from workbench.errors import WorkbenchError
from workbench.viz.frames.frame import default_axes
from workbench.viz.views.domain.domain_view import offsets


def panel(value, **asked):
    (found,) = viz.domain(value, **asked).data.panels
    return found


def test_points_of_a_rectangle():
    found = panel(wb.lower(wb.ops.matmul, M=2, N=3, K=2), x="n", y="m")
    init, update = found.layers
    cells = {(n, m) for n in range(3) for m in range(2)}
    assert set(init.cells) == set(update.cells) == cells
    assert update.cells[2, 1] == "C(1, 2, *)"
    assert (init.folded, update.folded) == ((), ("k",))


def test_a_statement_without_an_axis_stands_before_the_others():
    found = panel(wb.lower(wb.ops.matmul, M=2, N=1, K=3), x="k", y="m")
    init, update = found.layers
    assert init.lane == "x"
    assert set(init.cells) == {(-1, 0), (-1, 1)}
    assert set(update.cells) == {(k, m) for k in range(3) for m in range(2)}


def test_a_triangle_is_a_triangle():
    found = panel(wb.lower(wb.ops.trmm), sizes={"M": 4})
    assert (found.x, found.y) == ("k", "m")
    assert set(found.layers[1].cells) == {(k, m) for m in range(4) for k in range(m + 1)}


def test_arrows_of_a_reduction_run_along_it():
    found = panel(wb.lower(wb.ops.matmul, M=1, N=1, K=3), x="k", y="m")
    chain = [(a.start, a.end) for a in found.arrows if a.kind == "reduction"]
    assert chain == [((0, 0), (1, 0)), ((1, 0), (2, 0))]
    assert [(a.source, a.start, a.end) for a in found.arrows if a.kind == "flow"] == [(0, (-1, 0), (0, 0))]


def test_arrows_of_a_stencil():
    found = panel(wb.lower(seidel(), N=6, T=3), statement="A.1")
    assert (found.x, found.y) == ("i", "t")
    steps = {(a.end[0] - a.start[0], a.end[1] - a.start[1]) for a in found.arrows if a.kind == "flow"}
    assert steps == {(1, 0), (-1, 1)}


def test_loops_of_a_schedule_can_be_axes():
    skewed = wb.autoschedule(seidel(), fusion="default", N=6, T=3)
    found = panel(skewed, x="A.1/i", y="t", statement="A.1")
    (layer,) = found.layers
    assert set(layer.cells) == {(t + i, t) for t in range(3) for i in range(1, 5)}
    assert layer.folded == ()
    steps = {(a.end[0] - a.start[0], a.end[1] - a.start[1]) for a in found.arrows if a.kind == "flow"}
    assert steps == {(1, 0), (0, 1)}


def test_sizes_that_are_small_are_kept_and_large_ones_said():
    assert viz.domain(wb.lower(wb.ops.matmul, M=5, N=6, K=7)).data.notes == ()
    (note,) = viz.domain(wb.lower(wb.ops.matmul, M=512, N=6, K=7)).data.notes
    assert note.startswith("drawn for M=")
    assert "instead of M=512" in note


def test_statements_without_a_common_loop_have_panels_of_their_own():
    found = viz.domain(wb.lower(wb.ops.attention)).data
    assert [[layer.statement for layer in p.layers] for p in found.panels] == [
        ["S.init", "S"], ["top.init", "top"], ["S.1"], ["total.init", "total"], ["O.init", "O"], ["O.1"],
    ]  # fmt: skip


def test_axes_of_a_convolution_slide_a_window():
    found = viz.domain(padded_conv()).data.panels[1]
    assert (found.x, found.y) in {("kw", "x"), ("kh", "y")}


def test_a_violated_dependence_is_drawn_and_named():
    verdict = refused(wb.schedule(seidel(), N=4096, T=100), wb.interchange("A.1/i", "t"))
    found = panel(verdict, statement="A.1")
    bad = {(a.start, a.end) for a in found.arrows if a.bad}
    assert bad == {((2, 0), (1, 1))}
    assert found.violated[0] == "A.1(0,2) → A.1(1,1) (flow, order)"


def test_the_witness_of_a_large_tile_fits_the_picture():
    verdict = refused(wb.schedule(seidel(), N=4096, T=100), wb.tile(t=4, i=32))
    picture = viz.domain(verdict, statement="A.1")
    (arrow,) = {(a.start, a.end) for a in picture.data.panels[0].arrows if a.bad}
    assert arrow == ((4, 0), (3, 1))
    assert "tiles of 4 as 2, tiles of 32 as 4" in picture.data.notes
    assert "violated" in picture.svg
    assert "stroke:var(--wb-bad" in picture.svg


def test_a_race_is_drawn():
    found = panel(refused(naive(), wb.parallelize("k")))
    assert {(a.start, a.end) for a in found.arrows if a.bad} == {((0, 0), (1, 0))}


def test_a_legal_schedule_has_no_red_arrow():
    assert not any(a.bad for p in viz.domain(naive()).data.panels for a in p.arrows)


def test_a_statement_without_dims():
    op = wb.operator("def total(float(N) A) -> (s) { s +=! A(i) }")
    found = panel(wb.lower(op, N=3))
    init, update = found.layers
    assert (found.x, found.y) == ("i", "")
    assert set(init.cells) == {(-1, 0)}
    assert set(update.cells) == {(i, 0) for i in range(3)}


def test_a_program_of_one_instance():
    found = panel(wb.lower(wb.operator("def one(float(N) A) -> (s) { s = 2.0 }")))
    assert set(found.layers[0].cells) == {(0, 0)}


def test_an_empty_domain_is_no_error():
    picture = viz.domain(wb.lower(wb.ops.matmul, M=0, N=3, K=3))
    assert "(no instances)" in picture.text
    parsed(picture.svg)


def test_gathers_and_promises_draw():
    parsed(viz.domain(wb.lower(wb.ops.embedding)).svg)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"x": "q"}, "unknown axis 'q'; .*known: m, n, k"),
        ({"statement": "D"}, "unknown statement 'D'.*known: C.init, C"),
        ({"sizes": {"Q": 3}}, "unknown size 'Q'.*known: "),
    ],
)
def test_unknown_names_list_the_known_ones(asked, message):
    with pytest.raises(WorkbenchError, match=message):
        viz.domain(wb.lower(wb.ops.matmul), **asked)


def test_anything_else_is_refused_with_advice():
    with pytest.raises(WorkbenchError, match="expected a Program, a Schedule or a Verdict, not Operator"):
        viz.domain(wb.ops.matmul)


def test_statements_that_share_points_stand_apart():
    shared = viz.domain(wb.lower(wb.ops.jacobi_1d)).data.panels[1]
    assert len(set(offsets(shared.layers))) == 2


def test_every_point_is_one_mark_with_a_name():
    picture = viz.domain(wb.lower(wb.ops.matmul, M=2, N=3, K=4), x="n", y="m")
    titles = [e.text for e in parsed(picture.svg).iter("{http://www.w3.org/2000/svg}title")]
    assert {t for t in titles if t.startswith("C(")} == {f"C({m}, {n}, *)" for m in range(2) for n in range(3)}


@pytest.mark.parametrize("name", ["matmul", "trmm", "jacobi_1d", "cumsum"])
def test_text(name, golden):
    golden(viz.domain(wb.lower(getattr(wb.ops, name))).text)


def test_a_dim_of_one_value_is_no_axis_where_there_are_others():
    """A convolution of one picture was drawn as a row on a GPU, where its batch and rows are one loop of blocks."""
    conv = wb.operator("""def f(float(N,C,H,W) X, float(O,C,3,3) F) -> (Y) {
        Y(n,o,h,w) +=! X(n,c,h+kh,w+kw) * F(o,c,kh,kw) }""")
    of_many = default_axes(wb.schedule(conv, N=8, C=4, H=10, W=10, O=4).program, ("Y",), ("n", "h"))
    of_one = default_axes(wb.schedule(conv, N=1, C=4, H=10, W=10, O=4).program, ("Y",), ("n", "h"))
    assert set(of_many) == {"n", "h"}
    assert "h" in of_one
    assert "n" not in of_one
    doubled = wb.operator("def f(float(N,M) X) -> (Y) { Y(i,j) = 2 * X(i,j) }")
    single = panel(wb.schedule(doubled, N=1, M=5), statement="Y")
    assert {single.x, single.y} == {"i", "j"}  # there are no others
