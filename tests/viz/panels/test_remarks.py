"""What is said beside a legal step: how many times as many instances it computes, and sums in another order."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench import poly
from workbench.schedules import preview
from workbench.viz.panels.choosing.menu import Menu, menu_payload
from workbench.viz.panels.choosing.remarks import REORDERED, Remark, more_often, of_trace, remarks, times
from workbench.viz.panels.history import History, Moment, history_payload
from workbench.viz.panels.mapping import costs_payload

# Each cell of the blurred row is read by three of the next.
BLUR = wb.operator("""
def blur(float(N) x) -> (a, b) {
    a(i) = x(i) + x(i+1) where i in 0:N-1
    b(i) = a(i) + a(i+1) + a(i+2) where i in 0:N-3
}
""")
AT = wb.compute_at("a", "b/i", keep=True)
TWICE = wb.operator("""
def twice(float(N) x) -> (c) {
    a(i) = x(i) * 2.0
    c(i) = a(i) + a(i+1) where i in 0:N-1
}
""")
SUMS = [("float", "+=!", True), ("int32", "+=!", False), ("float", "max=!", False)]


def counted(schedule: wb.Schedule, *names: str) -> int:
    """Instances of some statements."""
    return sum(poly.points(schedule.program, s.id) for s in schedule.program.statements if s.name in names)


def test_what_is_computed_anew_is_counted_exactly():
    before = wb.schedule(TWICE, N=65)
    step = wb.compute_at("a", "c/i")
    after = before | step
    ratio = counted(after, "a_local") / counted(before, "a")
    assert more_often(before.program, after.program) == [("a", ratio)]
    assert remarks(before, step) == [Remark(f"⚠ a: {times(ratio)} times as many instances", warns=True)], "twice is"
    assert ratio == 128 / 65


def test_what_stays_where_it_was_counts_too():
    before = wb.schedule(BLUR, N=103)
    ratio = counted(before | AT, "a", "a_local") / counted(before, "a")
    assert ratio == (102 + 300) / 102
    assert remarks(before, AT) == [Remark(f"⚠ a: {times(ratio)} times as many instances", warns=True)]


def test_where_nothing_is_computed_twice_nothing_is_said():
    before = wb.schedule(TWICE, N=65)
    assert remarks(before, wb.compute_at("a", "c/i", recompute=False)) == []
    assert remarks(before, wb.tile(i=8)) == []
    assert remarks(before, wb.compute_at("a", "nowhere")) == [], "what does not fit is refused, not remarked upon"


def test_sizes_that_are_assumed_are_said():
    (told,) = remarks(wb.schedule(TWICE), wb.compute_at("a", "c/i"))
    assert told == Remark("⚠ a: 2 times as many instances (counted for N=256)", warns=True)


def test_a_little_more_is_no_warning():
    (told,) = remarks(wb.schedule(TWICE, N=65) | wb.tile({"c/i": 8}), wb.compute_at("a", "c/i_o"))
    assert told == Remark("a: 1.1 times as many instances")


@pytest.mark.parametrize(("element", "update", "said"), SUMS)
def test_lanes_that_add_up_floats_are_said_to_add_in_another_order(element, update, said):
    made = wb.schedule(wb.operator(f"def f({element}(N) a) -> (s) {{ s {update} a(i) }}"), N=64)
    assert made.can(wb.vectorize("s/i"))
    assert (Remark(REORDERED) in remarks(made, wb.vectorize("s/i"))) == said


def test_lanes_of_a_loop_that_carries_no_sum_are_not():
    made = wb.schedule(wb.ops.matmul, M=32, N=32, K=32)
    assert remarks(made, wb.vectorize("C/n")) == []
    assert remarks(made, wb.vectorize("C/k")) == [Remark(REORDERED)]


def test_menu_costs_and_history_say_it():
    before = wb.schedule(wb.ops.matmul, M=32, N=32, K=32)
    step = wb.vectorize("k")
    menu = Menu(before, wb.Target(vector_bits=256), loop="k")
    while menu.more:
        menu.advance(1.0)
    why = {choice["text"]: choice["why"] for choice in menu_payload(menu)["steps"] if choice["legal"]}
    assert REORDERED in why[str(step)]
    assert not any(REORDERED in reasons for text, reasons in why.items() if text != str(step))
    assert costs_payload(before, [step.to_json()])["remarks"] == [{"text": REORDERED, "warns": False}]
    after = before | wb.tile(m=8, n=8) | step | wb.parallelize("m_o")
    assert of_trace(after) == (Remark(), Remark(REORDERED), Remark())
    said = history_payload(History((Moment(after),)))["remarks"]
    assert [told["text"] for told in said] == ["", REORDERED, ""]
    assert not any(told["warns"] for told in said)


def test_a_step_of_the_trace_is_judged_where_it_was_taken():
    step = wb.compute_at("a", "c/i_o")
    after = wb.schedule(TWICE, N=65) | wb.tile({"c/i": 8}) | step | wb.parallelize("c/i_o")
    (told,) = [remark for remark in of_trace(after) if remark.text]
    assert of_trace(after)[1] == told == remarks(after.undo(2), step)[0]
    assert preview(after.undo(2), step).program == after.program


def test_a_warning_is_told_as_one_in_menu_costs_and_history():
    before, step = wb.schedule(TWICE, N=65), wb.compute_at("a", "c/i")
    menu = Menu(before, wb.Target(vector_bits=256), statement="a")
    while menu.more:
        menu.advance(1.0)
    told = {choice["text"]: choice["warns"] for choice in menu_payload(menu)["steps"]}
    assert told[str(step)]
    assert not all(told.values())
    assert costs_payload(before, [step.to_json()])["remarks"][0]["warns"]
    assert history_payload(History((Moment(before | step),)))["remarks"][0]["warns"]
