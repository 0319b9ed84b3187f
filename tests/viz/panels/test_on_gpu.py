"""A schedule gets onto a GPU by one click: the default mapping is looked at first, an unmapped loop has its steps."""

from __future__ import annotations

import time
from typing import Any, get_type_hints

import pytest

import workbench as wb
from tests.viz.panels.test_messages import misfit
from tests.viz.panels.test_panel import answer
from workbench.errors import ScheduleError, WorkbenchError
from workbench.schedules.transform import from_json
from workbench.viz.messages.drawn import Code
from workbench.viz.messages.stepping import Mapped
from workbench.viz.panels.on_gpu import mapped_to_gpu, on_gpu

VOLUME = wb.operator("""
def volume(float(C,H,W+8) L, float(C,H,W) R) -> (V) {
    V(d,y,x) +=! abs(L(c,y,x+d) - R(c,y,x)) where d in 0:8
}
""")


@pytest.fixture
def naive() -> wb.Schedule:
    """An operator that no library has."""
    return wb.schedule(VOLUME, C=3, H=16, W=40)


def test_the_mapping_is_shown_before_it_is_taken(naive):
    panel = wb.panel(naive)
    shown = on_gpu(panel, "preview")
    assert shown is not None
    assert panel.schedule == naive, "nothing is taken"
    assert not misfit(shown, get_type_hints(Holder, include_extras=True)["it"])
    assert any("blockIdx.x" in line for line in shown["preview"]["lines"])
    assert shown["preview"]["verdict"] == "legal"
    on_gpu(panel, "apply")
    assert len(panel.schedule.trace) == shown["count"]
    assert panel.schedule == mapped_to_gpu(naive)
    assert panel.past["moments"][-1]["text"].endswith(f"and {shown['count'] - 1} before")
    panel.undo()
    assert panel.schedule == naive, "one undo takes all of it back"


class Holder:
    """For its type."""

    it: Mapped
    code: Code


def test_steps_that_were_taken_stay_and_what_is_left_is_bound(naive):
    begun = naive | wb.interchange("V/y", "V/d")
    found = mapped_to_gpu(begun)
    assert found.trace[: len(begun.trace)] == begun.trace
    assert "blockIdx" in wb.generate(found, target="cuda").source


def test_a_mapped_schedule_has_nothing_left_to_map(naive):
    found = mapped_to_gpu(naive)
    with pytest.raises(ScheduleError, match="nothing left to map"):
        mapped_to_gpu(found)


def test_where_there_is_no_cuda_the_legal_bindings_are_offered(naive):
    panel = wb.panel(naive)
    answer(panel, "view", name="CUDA")
    code = panel.views["CUDA"]
    assert not misfit(code, get_type_hints(Holder, include_extras=True)["code"])
    assert "is bound" in code["reason"]
    offered = [own["text"] for own in code["instead"]]
    assert offered[:2] == ["bind('V.init/d', 'block.x')", "bind('V.init/d', 'thread.x')"]
    for own in code["instead"]:
        assert naive.can(from_json(own["step"]))
    panel.apply(from_json(code["instead"][0]["step"]))
    answer(panel, "view", name="CUDA")
    assert panel.views["CUDA"]["lines"] or panel.views["CUDA"]["instead"]


def test_a_step_that_would_race_is_not_offered():
    panel = wb.panel(wb.schedule(wb.operator("def total(float(N) x) -> (s) { s +=! x(i) }"), N=32))
    answer(panel, "view", name="CUDA")
    assert panel.views["CUDA"]["instead"] == []


def test_other_languages_have_no_such_steps(naive):
    panel = wb.panel(naive)
    answer(panel, "view", name="assembly")
    assert "instead" not in panel.views["assembly"]


def test_everything_else_is_answered_while_a_mapping_is_looked_for(naive, monkeypatch):
    panel = wb.panel(naive)
    heard: list[Any] = []
    panel.send = lambda content, buffers=None: heard.append(content)  # type: ignore[method-assign]

    def slow(schedule: wb.Schedule) -> wb.Schedule:
        while len(heard) < 1:
            time.sleep(0.01)
        return mapped_to_gpu(schedule)

    monkeypatch.setattr("workbench.viz.panels.on_gpu.mapped_to_gpu", slow)
    panel._answer(panel, {"ask": 1, "name": "gpu", "with": {"do": "preview"}}, [])
    panel._answer(panel, {"ask": 2, "name": "judge", "with": {"name": "interchange", "given": {
        "statement": "V", "first": "y", "second": "x"}}}, [])  # fmt: skip
    end = time.monotonic() + 60
    while len(heard) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert [one["answer"] for one in heard] == [2, 1]


def test_an_unknown_action_lists_the_known_ones(naive):
    with pytest.raises(WorkbenchError, match="preview, apply"):
        on_gpu(wb.panel(naive), "look")  # type: ignore[arg-type]


def test_what_one_thread_must_do_is_said_before_it_is_taken(naive):
    scan = wb.schedule(wb.operator("def f(float(N) X) -> (float(N) Y) { Y(n+1) = Y(n) * X(n) where n in 0:N-1 }"), N=9)
    assert (on_gpu(wb.panel(scan), "preview") or {})["note"] == "one thread goes through all of n for Y"
    assert (on_gpu(wb.panel(naive), "preview") or {})["note"] == ""
