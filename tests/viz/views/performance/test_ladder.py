"""`viz.ladder`: bars as long as their rates, lines where they belong, words that say the same."""

from __future__ import annotations

import pytest

from tests.viz.values import parsed
from workbench import viz
from workbench.errors import WorkbenchError
from workbench.viz.draw.scene import Box, Line, Text

RUNGS = [("naive", 2.0), ("tile({'C/m': 8})", 5.0), ("vectorize('C/n_i') | parallelize('C/m_o') | unroll('m')", 40.0)]
LINES = {"default recipe": 80.0, "NumPy": 60.0}


def marks(kind, **given):
    return [m for m in viz.ladder(RUNGS, LINES, **given).scene.marks if isinstance(m, kind)]


def test_text(golden):
    picture = viz.ladder(RUNGS, LINES)
    parsed(picture.svg)
    golden(picture.text)


def test_a_bar_is_as_long_as_its_rate_and_a_line_is_where_its_bar_would_end():
    bars, lines = [box for box in marks(Box) if box.fill != "ground"], marks(Line)
    assert [bar.width / bars[0].width for bar in bars] == pytest.approx([1.0, 2.5, 20.0])
    assert [(line.start[0] - bars[0].x) / bars[0].width for line in lines] == pytest.approx([40.0, 30.0])


def test_no_line_runs_through_the_name_of_another():
    for line in marks(Line):
        through = [t for t in marks(Text) if t.anchor == "end" and t.x - t.width < line.start[0] < t.x]
        assert [t for t in through if t.y > line.start[1]] == []


def test_each_rung_says_what_its_step_gained():
    picture = viz.ladder(RUNGS, LINES)
    assert picture.data.gains == (2.5, 8.0)
    gained = [text for text in marks(Text) if text.text.endswith("×")]
    assert [text.text for text in gained] == ["2.5×", "8×"]
    for text in gained:
        assert text.x + text.width <= picture.scene.width
    lost = viz.ladder([("naive", 4.0), ("tile(m=8)", 3.0)])
    assert "0.75×" in str(lost), "what is lost is said as well"


def test_no_line_is_seen_through_a_number():
    grounds = [box for box in marks(Box) if box.fill == "ground"]
    rates = [text for text in marks(Text) if text.text in ("2", "5", "40")]
    assert len(grounds) == len(rates) == 3
    for box, text in zip(grounds, rates, strict=True):
        assert box.x < text.x
        assert box.x + box.width > text.x + text.width
    painted = viz.ladder(RUNGS, LINES).scene.marks
    assert max(map(painted.index, marks(Line))) < min(map(painted.index, grounds))


def test_names_with_markup_are_text():
    parsed(viz.ladder([("<script>", 1.0)], {"<b>": 2.0}, unit="images/s").html)


@pytest.mark.parametrize("rungs", [[], [("naive", 0.0)], [("naive", float("nan"))], [("naive", "fast")]])
def test_what_is_no_ladder_is_said(rungs):
    with pytest.raises(WorkbenchError, match=r"at least one rung|positive number"):
        viz.ladder(rungs)
