"""A panel builds, checks and times what it shows: beside, in processes that may crash, hang or be stopped."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_type_hints

import pytest

import workbench as wb
from tests.viz.panels.test_messages import answered, misfit
from workbench.errors import BuildError, WorkbenchError
from workbench.tune import problem
from workbench.tune.measuring.local_runner import LocalRunner
from workbench.tune.measuring.runner import Assignment, Limits
from workbench.tune.measuring.workload import Workload, workload
from workbench.viz.messages.protocol import Traits
from workbench.viz.panels import Panel
from workbench.viz.panels.measuring import bench
from workbench.viz.panels.measuring.measured import Factor, Measured, said_of
from workbench.viz.panels.measuring.measuring import Measuring
from workbench.viz.panels.views import measuring

GATED = wb.operator("""
def gated(float(M,K) X, float(K,N) W, float(K,N) V) -> (G, H, Y) {
    G(m,n) +=! X(m,k) * W(k,n)
    H(m,n) +=! X(m,k) * V(k,n)
    Y(m,n) = G(m,n) / (1 + exp(-G(m,n))) * H(m,n)
}
""")
LONG = {"M": 1400, "N": 1400, "K": 1400}


@pytest.fixture
def gated() -> Panel:
    """A panel of an operator that no library has."""
    return wb.panel(wb.schedule(GATED, M=24, N=32, K=17))


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """The value of a condition as soon as it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)
    return found


def limited(panel: Panel, run_seconds: float) -> Measuring:
    """Another limit than usual."""
    panel.measuring = Measuring(panel, Limits(run_seconds=run_seconds))
    return panel.measuring


def test_every_schedule_of_the_history_gets_its_time_and_keeps_it(gated):
    assert not gated.measurements
    gated.apply(wb.interchange("G/k", "G/n"))
    first = gated.measure()
    assert first, first
    assert first.over_naive is not None
    assert first.over_numpy is not None
    assert str(first).startswith("results checked, ")
    assert "a call on 1 thread" in str(first)
    assert "times as fast as NumPy on " in str(first)
    naive, told = gated.measured["moments"]
    assert naive["seconds"] == first.naive.seconds
    for factor in (told["naive"], told["numpy"]):
        assert factor["lower"] <= factor["times"] <= factor["upper"]
        assert factor["threads"] >= 1
    assert naive["naive"] is None, "it is compared with itself"
    assert gated.measured["gained"][0] is None
    gained = gated.measured["gained"][1]
    assert gained["measured"] == told["naive"], "the line before is the naive one"
    assert gained["expected"] > 0
    gated.undo()
    gated.redo()
    assert gated.measured["moments"][1] == told
    assert gated.measurements[gated.schedule] == first
    assert not misfit(gated.measured, get_type_hints(Traits, include_extras=True)["measured"])


def test_a_time_belongs_to_the_schedule_and_not_to_the_way_there(gated):
    gated.apply(wb.interchange("G/k", "G/n"))
    gated.measure()
    shown = gated.schedule
    gated.undo()
    gated.apply(wb.interchange("H/k", "H/n"))
    gated.schedule = shown
    assert gated.history.place == 3
    assert gated.measured["moments"][3] == gated.measured["moments"][1]
    assert gated.measured["moments"][2] is None


def test_the_kernel_answers_while_something_is_measured():
    panel = wb.panel(wb.schedule(wb.ops.matmul, LONG))
    begun = time.monotonic()
    answered(panel, "measure", do="now")
    assert panel.measured["busy"] == [0]
    panel.apply(wb.tile(m=8, n=16))
    until(lambda: panel.measured["about"])
    assert panel.measured["doing"] == "building, checking and timing the naive schedule"
    answered(panel, "measure", do="stop")
    assert time.monotonic() - begun < 60.0
    assert panel.measured["busy"] == []
    assert panel.measured["said"].startswith("stopped: ")
    assert panel.measured["moments"] == [None, None]


def test_what_was_stopped_can_be_measured_later():
    panel = wb.panel(wb.schedule(wb.ops.matmul, LONG))
    job = limited(panel, run_seconds=30.0).begin(panel.schedule)
    until(lambda: panel.measured.get("about"))
    answered(panel, "measure", do="stop")
    assert job.ended.wait(5.0)
    assert job.came.outcome == "stopped"
    panel.schedule = wb.schedule(wb.ops.matmul, M=16, N=16, K=16)
    assert panel.measure()


def test_a_run_that_takes_too_long_is_an_outcome():
    panel = wb.panel(wb.schedule(wb.ops.matmul, LONG))
    limited(panel, run_seconds=0.05)
    came = panel.measure()
    assert not came
    assert came.outcome == "timed out"
    assert str(came).startswith("it took too long: the process did not answer within")
    assert panel.measured["numpy"]["outcome"] == "timed out"


def test_a_process_that_dies_is_an_outcome():
    panel = wb.panel(wb.schedule(wb.ops.matmul, LONG))
    answered(panel, "measure", do="now")
    runner = until(lambda: panel.measuring and next(iter(panel.measuring._benches.values()), None)).runner
    until(lambda: runner.runner is not None and runner.runner.pid in runner.prepared)
    os.kill(runner.runner.pid, signal.SIGSEGV)
    until(lambda: panel.measured["moments"][0])
    answered(panel, "measure", do="stop")  # the naive one is the same: it would only wait for NumPy
    told = panel.measured["moments"][0]
    assert told["outcome"] == "crashed"
    assert "was killed by SIGSEGV" in told["words"]


class Spoilt(LocalRunner):
    """Expects the results of other arguments than those it calls with."""

    def open(self, assignment: Assignment) -> None:
        """As usual, with the results of another seed."""
        super().open(assignment)
        own, other = (workload(assignment.program, seed) for seed in (1, 2))
        mixed = Workload(own.inputs, own.before, other.expected)
        self.saved.result()
        mixed.save(self._shop.workload)


def test_wrong_results_are_an_outcome_and_have_no_time(gated, monkeypatch):
    monkeypatch.setattr(bench, "LocalRunner", Spoilt)
    came = gated.measure()
    assert came.outcome == "wrong"
    assert came.seconds is None
    assert "DIFFERS from the oracle" in str(came)
    assert gated.measured["moments"][0]["words"].startswith("its results are wrong: ")


def test_a_schedule_for_a_gpu_is_measured_as_c_where_there_is_none_and_says_so(monkeypatch):
    monkeypatch.setattr(bench, "gpu_at_hand", lambda: None)
    made = wb.schedule(GATED, M=24, N=32, K=17) | wb.bind("G/m", "block.x") | wb.bind("G/n", "thread.x")
    panel = wb.panel(made)
    said: list[str] = []
    panel.observe(lambda change: said.append(change["new"]["about"]), "measured")
    assert panel.measure()
    assert any("as C on this processor" in text for text in said)


def test_without_a_compiler_it_says_what_to_install(gated, monkeypatch):
    def none() -> None:
        raise BuildError("no C compiler was found; install gcc or clang")

    monkeypatch.setattr(problem, "preferred_toolchain", none)
    came = gated.measure()
    assert str(came) == "it was not measured: no C compiler was found; install gcc or clang"
    assert gated.measured["numpy"] is None or gated.measured["numpy"]["outcome"] == "not measured"


def test_open_sizes_are_assumed_and_said():
    panel = wb.panel(wb.ops.bias_relu)
    assert panel.measure()
    assert "counted for" in panel.measured["about"]


def test_a_factor_spreads_as_far_as_both_times_and_says_the_others_threads():
    own, other = Measured("measured", 2.0, 1.0, 4.0, threads=2), Measured("measured", 8.0, 6.0, 12.0, threads=1)
    assert own.over(other) == Factor(4.0, 1.5, 12.0, 1)
    assert str(replace(own, numpy=other)) == (
        "results checked, 2 s a call on 2 threads, 4 (1.5 to 12) times as fast as NumPy on 1 thread"
    )
    assert said_of(replace(own, numpy=other), "gated") == (
        "results checked, 2 s a call on 2 threads; NumPy is gated.evaluate on 1 thread, 8 s"
    )
    assert said_of(Measured("timed out"), "gated") == "it took too long"
    assert own.over(Measured("timed out")) is None
    assert own.over(None) is None


def test_threads_are_those_of_the_kernel(gated):
    shared = gated.schedule | wb.parallelize("G/m")
    made = bench.Bench(gated.schedule.original, wb.Target(), Limits())
    try:
        made.threads = 3
        assert [made.threads_of(one) for one in (gated.schedule, shared)] == [1, 3]
    finally:
        made.close()


def test_everything_is_measured_once(gated):
    gated.apply(wb.interchange("G/k", "G/n"))
    gated.apply(wb.vectorize("G/n"))
    answered(gated, "measure", do="all")
    until(lambda: all(gated.measured["moments"]) and not gated.measured["busy"])
    assert all(told["outcome"] == "measured" for told in gated.measured["moments"])
    begun = time.monotonic()
    answered(gated, "measure", do="all")
    assert gated.measured["busy"] == []
    assert time.monotonic() - begun < 30.0


def test_sliders_of_caches_lose_no_time_and_wider_vectors_are_another_kernel(gated):
    gated.measure()
    l1, l2, l3 = gated.target.cache_bytes
    gated.machine = {**gated.machine, "cache_bytes": [l1 * 2, l2, l3]}
    assert gated.measurements
    gated.machine = {**gated.machine, "vector_bits": 128 if gated.target.vector_bits != 128 else 256}
    assert not gated.measurements


def test_an_unknown_action_lists_the_known_ones(gated):
    with pytest.raises(WorkbenchError, match="now, all, stop, warm"):
        measuring(gated).act("pause")


def test_measured_points_stand_at_their_places_below_the_roofline(gated):
    gated.apply(wb.interchange("G/k", "G/n"))
    gated.undo()
    gated.apply(wb.interchange("H/k", "H/n"))
    answered(gated, "view", name="roofline")
    assert [point["place"] for point in gated.views["roofline"]["points"]] == [0, 2]
