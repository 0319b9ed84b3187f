"""`doctor()` and `measure()`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.runtime.hand import adder, numbers
from workbench.errors import CallError
from workbench.runtime import doctor, examining, measure
from workbench.runtime.measuring.timing import Measurement, duration


def test_the_report_names_everything() -> None:
    report = doctor()
    for name in ("processor", "cores", "vector ISA", "caches", "gcc", "clang", "zig", "OpenMP", "CUDA toolkit", "GPU",
                 "browsers", "torch", "jax", "onnxruntime"):  # fmt: skip
        finding = report[name]
        assert finding.enables
        assert name in str(report)
    assert report["cores"]
    assert all(f.found or f.get for f in report.findings)
    with pytest.raises(KeyError):
        report["teapot"]


def test_what_is_missing_says_what_it_would_enable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examining, "every_toolchain", lambda: ())
    monkeypatch.setattr(examining.shutil, "which", lambda _: None)
    report = doctor()
    assert not report["zig"]
    assert "not found: would enable compiled kernels without a system compiler; pip install ziglang" in str(report)


def test_a_doctor_does_not_fall_ill(monkeypatch: pytest.MonkeyPatch) -> None:
    def ill(*_: Any) -> Any:
        raise ZeroDivisionError("ouch")

    for name in ("every_toolchain", "preferred_toolchain", "this_machine", "this_processor", "storage", "run_limited"):
        monkeypatch.setattr(examining, name, ill)
    report = doctor()
    assert "could not be examined: ZeroDivisionError: ouch" in str(report)


def test_measuring_a_function() -> None:
    calls = []
    found = measure(lambda x: calls.append(x), 1, seconds=0.02)
    assert 0 < found.lower <= found.seconds <= found.upper
    assert len(calls) >= found.calls >= found.batches >= 5
    assert found.flops is found.gflops is found.bytes_per_second is None


def test_slow_calls_are_not_batched() -> None:
    found = measure(lambda: time.sleep(0.003), seconds=0.02)
    assert found.calls == found.batches
    assert found.seconds >= 0.003


def test_measuring_kernels() -> None:
    built = adder()
    found = measure(built, numbers(16), numbers(16), 1.0, out=np.zeros(16, "f4"), seconds=0.01)
    assert found.flops is None
    op = wb.operator("def axpy(float(N) A, float(N) B, float x) -> (C) { C(i) = x * A(i) + B(i) }")
    for kernel in (wb.build(wb.schedule(op, N=32)), wb.build(wb.schedule(op))):
        found = measure(kernel, numbers(32), numbers(32), seconds=0.01, x=2.0)
        assert found.flops == 64
        assert found.gflops == pytest.approx(64 / found.seconds / 1e9)
        assert "GFLOP/s" in str(found)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_time_that_does_not_fit(seconds: float) -> None:
    with pytest.raises(CallError, match="expected a positive number of seconds"):
        measure(lambda: None, seconds=seconds)


def test_texts() -> None:
    text = str(Measurement(0.0015, 0.0014, 0.002, 10, 20, 3_000_000, 6_000_000))
    assert text == "1.5 ms (1.4 ms to 2 ms), 2 GFLOP/s, 4 GB/s, 20 calls"
    assert [duration(s) for s in (2.0, 3e-3, 4.5e-6, 6e-9)] == ["2 s", "3 ms", "4.5 us", "6 ns"]
