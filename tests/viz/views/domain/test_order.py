"""`viz.order`: who is visited when, by which thread, in which lanes."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.viz.values import naive, parsed, seidel, tiled
from workbench import viz
from workbench.viz.draw.scene import Polygon


def steps(value, **asked):
    """{thread: [cells of each step]}."""
    found = viz.order(value, **asked).data
    return {t.label: [s.cells for s in t.steps] for t in found.threads}


def test_a_naive_order_is_the_order_of_the_loops():
    found = steps(naive(M=1, N=2, K=3), x="k", y="n")
    assert found == {"": [((k, n),) for n in range(2) for k in range(3)]}


def test_an_interchange_turns_the_path():
    found = steps(naive(M=3, N=2, K=1) | wb.decompose_reduction("C") | wb.interchange("C/n", "C/m"), x="n", y="m")
    assert found == {"": [((n, m),) for n in range(2) for m in range(3)]}


def test_tiles():
    schedule = naive(M=4, N=4, K=1) | wb.tile(m=2, n=2)
    picture = viz.order(schedule)
    assert (picture.data.x, picture.data.y) == ("n", "m")
    visits = [s.cells[0] for s in picture.data.threads[0].steps]
    assert visits[:5] == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]
    tiles = [tile.cells for tile in picture.data.regions.tiles]
    assert ((0, 0), (0, 1), (1, 0), (1, 1)) in tiles
    assert len(tiles) == 4


def test_vector_lanes_are_one_step_and_threads_count_for_themselves():
    found = steps(tiled())
    assert list(found) == ["m_o=0", "m_o=1", "m_o=2"]
    assert found["m_o=0"][0] == ((0, 0), (1, 0), (2, 0), (3, 0))
    assert found["m_o=1"][0] == ((0, 4), (1, 4), (2, 4), (3, 4))
    assert found["m_o=2"][-1] == ((8, 8),)


def test_what_was_made_smaller_is_said():
    assert "tiles of 64 as 4" in viz.order(tiled()).data.notes
    assert "instead of M=1024" in viz.order(tiled()).text


def test_later_visits_are_counted():
    assert viz.order(naive(M=2, N=2, K=5), x="n", y="m").data.again == 2 * 2 * 4


def test_a_skewed_loop():
    skewed = wb.autoschedule(seidel(), fusion="default", N=5, T=2)
    found = steps(skewed, x="A.1/i", y="t", statement="A.1")
    assert found == {"": [((t + i, t),) for t in range(2) for i in range(1, 4)]}


def test_symbolic_tiles_are_shrunk_consistently():
    schedule = wb.schedule(wb.ops.matmul) | wb.tile(m=6, n=16)
    data = viz.order(schedule).data
    assert {"tiles of 6 as 2, tiles of 16 as 4"} <= set(data.notes)
    first = data.threads[0].steps[:8]
    assert [s.cells[0] for s in first] == [(n, m) for m in range(2) for n in range(4)]


def test_the_drawing_is_well_formed_and_numbered():
    root = parsed(viz.order(naive(M=2, N=3, K=1), x="n", y="m").svg)
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"1", "2", "3", "4", "5", "6"} <= set(texts)


@pytest.mark.parametrize("make", [naive, tiled], ids=["naive", "tiled"])
def test_text(make, golden):
    golden(viz.order(make()).text)


def test_lanes_with_others_between_them_are_no_capsule():
    """A vector of every second element: each lane has a disc of its own, and no outline runs over the others."""
    copied = wb.schedule(wb.operator("def copied(float(N) A) -> (B) { B(i) = A(i) }"), N=8)
    apart = copied | wb.split("i", 2) | wb.interchange("i_o", "i_i") | wb.vectorize("i_o")
    together = copied | wb.split("i", 4) | wb.vectorize("i_i")
    for schedule, corners in ((apart, 1), (together, 2)):
        outlines = [m for m in viz.order(schedule).scene.marks if isinstance(m, Polygon) and m.opacity == 1.0]
        assert outlines
        assert {len(m.points) for m in outlines} == {corners}
