"""Roofs of this machine: the best of several loops, and never below what a kernel has reached."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

import workbench as wb
from workbench.runtime.measuring import roofs, timing
from workbench.runtime.measuring.roofs import Ceilings, known_ceilings, raise_ceilings

LOW = Ceilings(3e9, {"L1": 1e9}, "float32", 1, "measured on a machine")


@pytest.fixture
def low(monkeypatch, tmp_path):
    """A machine whose roofs were measured while it was busy."""
    monkeypatch.setattr(roofs, "storage", lambda: tmp_path)
    for dtype in roofs.TYPES:
        given = {**asdict(LOW), "dtype": dtype}
        roofs._file(dtype, 1).write_text(json.dumps(given), encoding="utf-8")


def test_a_roof_is_raised_by_what_was_reached_and_stays_so(low):
    raise_ceilings("float32", 1, 5e9)
    raise_ceilings("float32", 1, 4e9)
    raise_ceilings("float32", 1, 6e9)
    found = known_ceilings("float32", threads=1)
    assert found.flops_per_second == 6e9
    assert found.origin == "measured on a machine, raised by what a kernel reached"
    assert found.bytes_per_second == LOW.bytes_per_second
    assert known_ceilings("float64", threads=1).flops_per_second == 3e9


def test_what_no_processor_reaches_says_that_less_was_computed_than_counted(low):
    raise_ceilings("float32", 1, 1e15)
    assert known_ceilings("float32", threads=1).flops_per_second == 3e9


def test_what_was_reached_before_roofs_were_measured_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(roofs, "storage", lambda: tmp_path)
    raise_ceilings("float32", 1, 5e9)
    assert known_ceilings("float32", threads=1) is None
    monkeypatch.setattr(roofs, "measured_ceilings", lambda dtype, threads: LOW)
    assert wb.ceilings(threads=1).flops_per_second == 5e9
    assert wb.ceilings(threads=1, again=True).flops_per_second == 5e9
    raise_ceilings("float32", 1, 4e9)
    assert known_ceilings("float32", threads=1).flops_per_second == 5e9


@pytest.mark.parametrize(
    ("text", "dtype", "raised"),
    [("def f(float(N) A) -> (B) { B(i) = A(i) * 2 + 1 }", "float32", True),
     ("def f(double(N) A, int32(N) I) -> (B) { B(i) = A(i) * 2 + I(i) }", "float64", True),
     ("def f(int8(N) A, float(N) C) -> (B) { B(i) = A(i) * 2 + C(i) }", "float32", False),
     ("def f(float(N) A, double(N) C) -> (B) { B(i) = A(i) * C(i) + 1 }", "float64", False)],
)  # fmt: skip
def test_measure_lifts_the_roof_of_the_type_that_it_computes_in(low, monkeypatch, text, dtype, raised):
    monkeypatch.setattr(timing, "_batches", lambda once, size, seconds: [200 / 4e9] * 8 + [200 / 5e9])
    op = wb.operator(text)
    arrays = [np.ones(100, t.dtype.numpy) for t in (op.tensors[p] for p in op.parameters)]
    with wb.settings(threads=1):
        measured = wb.measure(op, *arrays, seconds=0.01)
    assert measured.gflops == pytest.approx(4.0)
    assert known_ceilings(dtype, threads=1).flops_per_second == pytest.approx(5e9 if raised else 3e9)


def test_the_chain_that_fills_the_units_best_is_the_roof(monkeypatch):
    took = {1: 4.0, 4: 2.0, 8: 3.0}
    lanes = wb.Target(vector_bits=256, cores=1).lanes(32)

    def best(made, seconds):
        steps = str(made.steps())
        return next((t for n, t in took.items() if f"'A.1/i', {n * lanes})" in steps and "chain" in str(made)), 1.0)

    monkeypatch.setattr(roofs, "_prepared", lambda made, dtype, threads: made)
    monkeypatch.setattr(roofs, "_best", best)
    found = roofs.measured_ceilings("float32", 1, target=wb.Target(vector_bits=256, cores=1))
    assert found.flops_per_second == 2.0 * roofs.DEPTH * 32 * lanes * 4000 / 2.0


def test_a_level_is_no_slower_than_those_behind_it(monkeypatch):
    """What was disturbed is the rate of the level behind; of the sizes and passes of a level the fastest counts."""
    rates = {"L1": iter([8.0, 7.0, 6.0]), "L2": iter([9.0, 9.0, 4.0]), "L3": iter([2.0, 3.0, 5.0, 1.0, 1.0, 1.0])}
    levels = {name: (name,) for name in rates} | {"L3": ("L3", "L3"), "memory": ("memory",)}
    monkeypatch.setattr(roofs, "levels", lambda machine, threads: levels)
    monkeypatch.setattr(roofs, "_prepared", lambda made, dtype, threads: None)
    monkeypatch.setattr(roofs, "_sweep", lambda dtype, threads, size: (size, 1.0))
    monkeypatch.setattr(roofs, "_best", lambda call, seconds: 1.0 / next(rates.get(call, iter([1.0]))))
    found = roofs.measured_ceilings("float32", 1, target=wb.Target(vector_bits=256, cores=1))
    assert found.bytes_per_second == pytest.approx({"L1": 9.0, "L2": 9.0, "L3": 5.0, "memory": 1.0})


def test_a_cache_is_swept_by_half_and_a_shared_one_also_by_what_is_just_beyond_the_second():
    machine = wb.Target(cache_bytes=(32768, 524288, 33554432), cores=8)
    found = roofs.levels(machine, 2)
    assert found["L1"] == (32768.0,)
    assert found["L2"] == (524288.0,)
    assert set(found["L3"]) == {4194304.0, 16777216.0}
    assert found["memory"] == (4.0 * 33554432,)
    assert roofs.levels(machine, 64)["L1"] == (8 * 16384.0,)  # threads that share a core share its caches
    alone = wb.Target(cache_bytes=(32768, 0, 33554432), cores=8)
    assert roofs.levels(alone, 1) == {"L1": (16384.0,), "L3": (16777216.0,), "memory": (4.0 * 33554432,)}


def test_a_sweep_counts_what_it_moves():
    call, moved = roofs._sweep("float32", 2, 1 << 20)
    cells, rounds = (1 << 17) + roofs.LINE, round(roofs.CALL_BYTES / (2 * ((1 << 17) + roofs.LINE) * 8))
    assert moved == 2 * 4 * (2 * (1 << 17) * rounds + cells)
    assert call().shape == (2, cells)
