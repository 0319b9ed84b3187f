"""What a step of the history was expected to gain is what was proposed, and stands beside what it gained."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.schedules.transform import from_json
from workbench.viz.panels.choosing import gains
from workbench.viz.panels.choosing.menu import Menu, menu_payload
from workbench.viz.panels.history import History, Moment
from workbench.viz.panels.measuring import gained
from workbench.viz.panels.measuring.gained import UNKNOWN, expected_gain, gained_by_place
from workbench.viz.panels.measuring.measured import Measured

TARGET = wb.Target(vector_bits=256, cores=4, cache_bytes=(32 << 10, 512 << 10, 8 << 20))
# A sum over a band that is then scaled by what a table says, which no library has.
BAND = wb.operator("""
def band(float(N,D) X, float(N+4,D) Y, float(T) scale, int32(N) of) -> (Z, R) {
    Z(n,w) +=! fabs(X(n,d) - Y(n+w,d)) where w in 0:5
    R(n) = scale(of(n)) * Z(n,2)
}
""")
NAIVE = wb.schedule(BAND, N=512, D=64, T=32)
FIRST, SECOND = wb.parallelize("Z/n"), wb.vectorize("Z/d")


def timed(seconds):
    """A measurement of so many seconds, give or take a tenth."""
    return Measured("measured", seconds, 0.9 * seconds, 1.1 * seconds, threads=1)


def walked(*steps, start=NAIVE):
    """A history of so many steps, one after another."""
    history = History((Moment(start),))
    for step in steps:
        history = history.then(history.schedule | step)
    return history


@pytest.mark.parametrize(
    "made",
    [
        NAIVE,
        wb.schedule(wb.ops.jacobi_2d, N=64, M=64, steps=4),
        wb.schedule(wb.ops.matmul),  # of open sizes typical ones are taken
    ],
    ids=["band", "jacobi_2d", "matmul"],
)
def test_what_is_expected_is_what_was_proposed(made):
    menu = Menu(made, TARGET)
    while menu.more:
        menu.advance(0.05)
    offered = [c for c in menu_payload(menu)["steps"] if c["legal"] and c["gain"] > 1.05][:3]
    assert offered
    for choice in offered:
        expected, why = expected_gain(made, made | from_json(choice["step"]), TARGET)
        assert (expected, why) == (pytest.approx(choice["gain"], abs=1e-3), "")


def test_each_line_is_compared_with_the_one_before():
    history = walked(FIRST, SECOND)
    naive, first, second = gained_by_place(history, [timed(12.0), timed(6.0), timed(2.0)], TARGET)
    assert naive is None, "nothing stands before it"
    assert (first["measured"]["times"], second["measured"]["times"]) == (2.0, 3.0)
    assert (first["since"], second["since"]) == ("", "")
    assert second["measured"]["lower"] < 3.0 < second["measured"]["upper"]
    whole, _ = expected_gain(NAIVE, history.schedule, TARGET)
    assert first["expected"] * second["expected"] == pytest.approx(whole)
    assert whole > first["expected"] > 1.5


def test_a_branch_is_compared_with_where_it_left():
    history = walked(FIRST).at(0).then(NAIVE | SECOND)
    found = gained_by_place(history, [timed(12.0), timed(6.0), timed(4.0)], TARGET)
    assert found[2]["measured"]["times"] == 3.0


@pytest.mark.parametrize("between", [None, Measured("timed out")], ids=["not measured", "no time"])
def test_a_line_without_a_time_between_is_passed_over_by_model_and_clock(between):
    history = walked(FIRST, SECOND)
    found = gained_by_place(history, [timed(12.0), between, timed(2.0)], TARGET)[2]
    whole, _ = expected_gain(NAIVE, history.schedule, TARGET)
    assert (found["since"], found["measured"]["times"], found["expected"]) == ("naive", 6.0, whole)
    later = walked(wb.interchange("Z/w", "Z/n"), FIRST, SECOND)
    came = [timed(12.0), timed(8.0), between, timed(2.0)]
    assert gained_by_place(later, came, TARGET)[3]["since"].startswith("interchange(")


@pytest.mark.parametrize("before", [None, Measured("timed out")], ids=["not measured", "no time"])
def test_without_a_time_before_only_what_was_expected_is_said(before):
    (_, found) = gained_by_place(walked(FIRST), [before, timed(1.0)], TARGET)
    assert found["expected"] > 1.5
    assert found["measured"] is None


@pytest.mark.parametrize("own", [None, Measured("wrong")], ids=["not measured", "wrong"])
def test_of_a_line_without_a_time_nothing_is_said(own):
    assert gained_by_place(walked(FIRST), [timed(1.0), own], TARGET) == [None, None]


def test_where_the_model_has_nothing_it_says_so(monkeypatch):
    (_, bound) = gained_by_place(walked(wb.bind("Z/n", "block.x")), [timed(2.0), timed(1.0)], TARGET)
    assert (bound["expected"], bound["unmodelled"]) == (None, "gains on a GPU are not modelled")
    assert bound["measured"]["times"] == 2.0

    def fails(*_):
        raise wb.errors.LoweringError("no such count")

    monkeypatch.setattr(gained, "estimate", fails)
    gained._modelled.cache_clear()
    assert expected_gain(NAIVE, NAIVE | FIRST, TARGET) == (None, UNKNOWN)
    gained._modelled.cache_clear()


def test_the_reason_is_the_one_that_proposals_have():
    assert gains.unmodelled(None).startswith("gains are not modelled: ")
    assert gains.unmodelled(gains.estimate(NAIVE, TARGET)) == ""
