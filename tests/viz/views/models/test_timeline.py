"""`viz.timeline`: bars as long as nodes take, one after another, a line for each operator."""

from __future__ import annotations

import pytest

from tests.viz.values import parsed
from workbench.errors import WorkbenchError
from workbench.graph.running.profiling.profiles import NodeTime, Piece, Profile
from workbench.viz import timeline
from workbench.viz.draw.scene import Box
from workbench.viz.views.models.timeline_view import BAR, MOST_ROWS, OTHERS, timeline_rows


def profile(*times: tuple[str, float]) -> Profile:
    nodes = tuple(NodeTime(f"{n}.{at}", n, "", "", ms, None, 64) for at, (n, ms) in enumerate(times))
    return Profile(nodes, sum(ms for _, ms in times) * 1.1, 3)


SMALL = profile(("conv", 2.0), ("relu", 0.5), ("conv", 1.0), ("softmax", 0.25))


def bars(given: Profile) -> list[Box]:
    return [mark for mark in timeline(given).scene.marks if isinstance(mark, Box) and mark.height == BAR]


def test_text(golden):
    parsed(timeline(SMALL).svg)
    golden(timeline(SMALL).text)


def test_bars_follow_one_another_and_are_as_long_as_their_nodes():
    found = bars(SMALL)
    unit = found[0].width / 2.0
    assert [bar.width / unit for bar in found] == pytest.approx([2.0, 0.5, 1.0, 0.25])
    assert found[2].x == pytest.approx(found[1].x + found[1].width)
    assert found[0].y == found[2].y != found[1].y


def test_many_operators_share_the_last_line():
    many = profile(*((f"op{n}", 1.0 + n) for n in range(40)))
    rows = timeline_rows(many)
    assert len(rows) == MOST_ROWS
    assert sum(rows.values()) == pytest.approx(many.inside)
    assert list(rows)[-1] == OTHERS


def test_a_profile_without_nodes_is_a_picture_too():
    parsed(timeline(Profile((), 0.1, 1)).svg)


def test_what_is_no_profile_is_refused():
    with pytest.raises(WorkbenchError, match=r"built\.profile"):
        timeline(3)  # type: ignore[arg-type]


def test_calls_of_pieces_stand_above_their_nodes_with_gaps_between(golden):
    nodes = SMALL.nodes
    pieces = (Piece("node", 4, 1.0, 2.75, 2), Piece("node", 1, 5.0, 0.5, 0), Piece("main", 1, 6.0, 1.5, 2))
    found = Profile(nodes, 8.0, 3, pieces)
    parsed(timeline(found).svg)
    first, second, main, *rest = bars(found)
    unit = first.width / 2.75
    assert second.x - first.x == pytest.approx(4.0 * unit)
    assert first.y == second.y < main.y < rest[0].y
    assert [bar.x - first.x for bar in rest] == pytest.approx([0.0, 2.0 * unit, 5.0 * unit, 6.0 * unit])
    golden(timeline(found).text)
