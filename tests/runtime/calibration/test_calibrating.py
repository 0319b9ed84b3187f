"""Calibration: costs from calls, where they are kept, who sees them; that the small C functions do what they count."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.errors import BuildError, WorkbenchError
from workbench.runtime import building
from workbench.runtime.calibration import calibrating
from workbench.runtime.calibration.calibrating import measured_costs, undisturbed
from workbench.runtime.calibration.cost_probes import (
    CELLS,
    Probe,
    _aligned,
    _function,
    _of_memory,
    _ring,
    _walk,
    probes,
)
from workbench.runtime.calibration.cost_texts import PANEL, cost_text
from workbench.runtime.compilers import discovery
from workbench.runtime.compilers.compiling import load
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.toolchain import OPENMP
from workbench.runtime.host import kept_costs
from workbench.runtime.host.machine import this_machine
from workbench.settings import current
from workbench.target_costs import QUANTITIES, Costs

OWN = Costs(multiply_add_latency_seconds=3e-9, region_seconds=7e-6, origin="a test")


@pytest.fixture
def cache(tmp_path):
    """An empty cache directory, in a session that uses what was kept."""
    with wb.settings(cache=tmp_path, calibrated=True):
        yield tmp_path


@pytest.fixture
def kept(cache) -> Path:
    """The file of costs that were kept."""
    return kept_costs.keep_costs(this_machine(), OWN)


# -- from calls to costs ---------------------------------------------------------------------------


class Clock:
    """A machine on which each call takes what was said, and sometimes much longer."""

    def __init__(self) -> None:
        self.now, self.calls = 0.0, 0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds

    def probe(self, name: str, seconds: float, units: float) -> Probe:
        def call(count: int) -> None:
            self.calls += 1
            self.now += seconds * count * units + (0.05 if self.calls % 3 == 0 else 0.0)

        return Probe(name, call, units)


def test_costs_are_what_calls_take_where_nothing_disturbs_them(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(calibrating, "perf_counter", clock)
    every = [clock.probe("division_seconds", 1.2345e-9, 8), clock.probe("l2_bytes_per_second", 1 / 50e9, 4096.0)]
    found = measured_costs(wb.Target("avx2"), every, 1.0)
    assert (found.division_seconds, found.l2_bytes_per_second) == (1.23e-9, 50e9)
    assert replace(found, division_seconds=OWN.division_seconds, l2_bytes_per_second=OWN.l2_bytes_per_second) == Costs()
    assert found.origin.endswith("1 core, measured in 1 s")


def test_what_a_call_takes_without_a_region_is_not_the_region_s(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(calibrating, "perf_counter", clock)
    every = [clock.probe("call", 1e-6, 1), replace(clock.probe("region_seconds", 3e-6, 1), beside="call")]
    assert measured_costs(wb.Target("avx2"), every, 0.1).region_seconds == 2e-6


def test_one_core_has_all_of_its_memory(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(calibrating, "perf_counter", clock)
    found = measured_costs(wb.Target("avx2"), [clock.probe("memory_bytes_per_second", 1 / 9e9, 1e6)], 0.1)
    assert found.all_memory_bytes_per_second == found.memory_bytes_per_second == 9e9
    assert found.memory_share == 1.0


def test_calls_that_were_disturbed_do_not_count():
    assert undisturbed([4.0]) == 4.0
    assert undisturbed([*(n / 10 for n in range(10, 20)), *[90.0] * 10]) == 1.2


def test_who_measures_on_a_busy_machine_is_told_so(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(calibrating, "perf_counter", clock)
    disturbed = iter(range(10**6))
    probe = Probe("region_seconds", lambda count: clock.wait(1e-3 * (1 + next(disturbed) % 8)), 64)
    with pytest.warns(RuntimeWarning, match=r"calibrate was disturbed while it measured region_seconds; call wb\.cal"):
        measured_costs(wb.Target("avx2"), [probe], 0.1)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "8", True, None])
def test_seconds_that_do_not_fit(seconds):
    with pytest.raises(WorkbenchError, match=r"calibrate: seconds=.* does not fit; expected a positive number"):
        wb.calibrate(seconds=seconds)


# -- on this machine -------------------------------------------------------------------------------


def test_this_machine_is_measured_and_what_was_found_is_kept_for_the_next_process(cache):
    before = this_machine()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # tests are never alone
        found = wb.calibrate(seconds=0.01)
    assert before.costs == Costs()
    assert found != Costs()
    assert this_machine() == replace(before, costs=found)
    assert this_machine() is this_machine()
    kept_costs._kept.cache_clear()
    assert this_machine().costs == found
    assert this_machine().costs.origin == found.origin


def test_every_cost_has_a_probe_and_what_only_several_cores_have_is_theirs(cache):
    toolchain = preferred_toolchain()
    names = [p.name for p in probes(replace(this_machine(), cores=2), toolchain)]
    assert sorted(names) == sorted([*QUANTITIES, "call"])
    alone = [p.name for p in probes(replace(this_machine(), cores=1), toolchain)]
    assert {*names} - {*alone} == {"region_seconds", "call", "all_memory_bytes_per_second"}


def test_a_compiler_without_openmp_measures_its_own_threads(cache, monkeypatch):
    plain = preferred_toolchain()
    plain = replace(plain, accepted=plain.accepted - {OPENMP})
    monkeypatch.setattr(building, "preferred_toolchain", lambda: plain)
    region = next(p for p in probes(replace(this_machine(), cores=2), plain) if p.name == "region_seconds")
    region.call(1)


def test_without_a_compiler_nothing_can_be_measured_and_what_others_kept_is_left_alone(kept):
    with wb.settings(compiler="no-such-compiler"):
        with pytest.raises(BuildError, match="the compiler 'no-such-compiler' was not found"):
            wb.calibrate(seconds=0.01)
        assert this_machine().costs == Costs()


# -- what was kept ---------------------------------------------------------------------------------


def test_what_was_kept_counts_unless_the_settings_leave_it_aside(kept):
    assert this_machine().costs == OWN
    assert wb.Target("neon").costs == Costs()
    with wb.settings(calibrated=False):
        assert this_machine().costs == Costs()
    assert this_machine().costs == OWN


def test_where_the_cache_cannot_be_used_this_process_still_has_what_it_measured(tmp_path):
    (tmp_path / "file").write_text("no directory")
    with wb.settings(cache=tmp_path / "file" / "below", calibrated=True):
        with pytest.warns(RuntimeWarning, match="temporary directory until this process ends"):
            kept_costs.keep_costs(this_machine(), OWN)
        assert this_machine().costs == OWN


def test_a_plan_says_what_it_was_made_by_and_the_doctor_what_is_kept(kept):
    op, cells = wb.operator("def scale(float(N) A) -> (B) { B(i) = 2 * A(i) }"), np.ones(50, np.float32)
    assert "\ncosts:    a test\n" in str(op.plan(cells))
    assert "+ costs            a test" in str(wb.doctor())
    with wb.settings(calibrated=False):
        assert "\ncosts:" not in str(wb.operator("def other(float(N) A) -> (B) { B(i) = 3 * A(i) }").plan(cells))
        assert "- costs            not found: would enable" in str(wb.doctor())


def test_tests_do_not_see_what_their_user_has_kept():
    assert not current().calibrated


def test_a_machine_that_was_calibrated_has_the_same_problems(kept):
    from workbench.tune.problem import problem_of

    program = wb.lower(wb.operator("def scale(float(N) A) -> (B) { B(i) = 2 * A(i) }"), N=50)
    own = problem_of(program, "c")
    assert own.target.costs == OWN
    with wb.settings(calibrated=False):
        assert problem_of(program, "c").key == own.key


@pytest.mark.parametrize(
    ("content", "why"),
    [("", "it is damaged (JSONDecodeError"), ("[]", "it is damaged (TypeError"), ("{}", "it is damaged (KeyError"),
     ('{"format": 99}', "another version of the workbench wrote it"),
     ('{"format": 1, "origin": "x", "costs": {"region_seconds": -1}}', "it is damaged (WorkbenchError: Costs(region"),
     ('{"format": 1, "origin": "x", "costs": {"tea_seconds": 1}}', "it is damaged (TypeError")],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_left_aside_with_a_word(kept, content, why):
    kept.write_text(content)
    kept_costs._kept.cache_clear()
    with pytest.warns(RuntimeWarning, match="costs-.*are left aside") as said:
        assert this_machine().costs == Costs()
    assert why in str(said[0].message)
    assert "wb.calibrate() measures anew" in str(said[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert this_machine().costs == Costs()  # once is enough


def test_other_processors_and_other_compilers_have_costs_of_their_own(kept, monkeypatch):
    content = json.loads(kept.read_text())
    assert content["machine"]["cores"] == this_machine().cores
    named = {kept_costs._name(m) for m in (this_machine(), replace(this_machine(), cores=77), wb.Target("avx2"))}
    assert len(named) == 3
    assert kept.name in named
    other = replace(preferred_toolchain(), version="gcc 99")
    monkeypatch.setattr(discovery, "preferred_toolchain", lambda: other)
    kept_costs._kept.cache_clear()
    assert this_machine().costs == Costs()
    kept_costs._kept.cache_clear()


# -- the C functions -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library():
    machine = this_machine()
    return load(Job("costs", cost_text(machine), preferred_toolchain(), machine, False)).handle


def test_a_panel_has_the_cells_of_the_last_columns(library):
    width = PANEL * this_machine().lanes(32)
    matrix = np.arange(5 * 3 * width, dtype=np.float32).reshape(5, 3 * width)
    panel = _aligned(8 * width).reshape(8, width)
    _function(library, "wb_copy", matrix, 5, 3 * width, panel)(1)
    assert (panel[:5] == matrix[:, 2 * width :]).all()
    assert (panel[5:] == 1).all()


def test_all_that_is_read_is_summed_up(library):
    lanes = this_machine().lanes(32)
    numbers, cell = _aligned(16 * lanes), np.zeros(lanes, np.float32)
    numbers[:] = np.arange(16 * lanes)
    _function(library, "wb_read", numbers, 16, cell)(3)
    begun = sum(range(1, 9))
    assert (cell == 3 * numbers.reshape(16, lanes).sum(axis=0) + begun).all()


def test_gathered_elements_are_those_of_the_indices(library):
    lanes = this_machine().lanes(32)
    table, cell = np.arange(100, dtype=np.float32), np.zeros(lanes, np.float32)
    index = np.random.default_rng(1).integers(0, 100, 4 * lanes, np.int32)
    _function(library, "wb_gather", table, index, 4 * lanes, cell)(2)
    assert (cell == 2 * table[index].reshape(4, lanes).sum(axis=0)).all()


@pytest.mark.parametrize("name", ["wb_waiting", "wb_multiply_add", "wb_division"])
def test_arithmetic_is_measured_on_the_same_ordinary_numbers_in_every_call(name, library):
    cell = _aligned(CELLS)
    cell[:2] = 0.5
    call = _function(library, name, cell)
    for _ in range(5):
        call(100)
    assert (cell[:2] == 0.5).all()
    assert (cell > 0).all()
    assert (cell < 1000).all()


@pytest.mark.parametrize("caches", [(32 << 10, 0, 8 << 20), (32 << 10, 512 << 10, 0), (32 << 10, 0, 0)])
def test_a_level_that_a_machine_has_not_is_what_lies_behind_it(caches, library):
    machine = replace(this_machine(), cache_bytes=caches, cores=1)
    read = {p.name: p.units for p in _of_memory(library, machine) if p.name.endswith("bytes_per_second")}
    first, second, third, memory = (read[f"{level}_bytes_per_second"] for level in ("l1", "l2", "l3", "memory"))
    assert first < caches[0]
    assert second == (caches[1] // 2 or third)
    assert third == (caches[2] // 2 or memory)
    assert memory > 2 * sum(caches)


def test_a_walk_visits_every_line_once_before_it_comes_to_one_again(library):
    lines = _ring(64 * 50, 64)
    walk, first = _walk(library, lines), lines.ctypes.data
    assert sorted((walk(1) - first) // 64 for _ in range(50)) == list(range(50))
    assert walk(49) != first
    assert walk(1) == first
