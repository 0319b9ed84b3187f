"""What the hardware counted stands beside what the program says of itself, in one line."""

from __future__ import annotations

import workbench as wb
from workbench.runtime.measuring.counters import Counts
from workbench.viz.panels.measuring.measured import hardware_words

PROGRAM = wb.schedule(wb.ops.matmul, M=64, N=64, K=64).program
EVENTS = {"cycles": 100_000.0, "instructions": 250_000.0, "L1 misses": 1024.0, "page faults": 0.0}


def test_events_and_counted_operations_stand_beside_one_another():
    said = hardware_words(Counts(EVENTS, "LLC misses: not allowed here"), PROGRAM, 64)
    assert said == (
        "hardware, a call: 100 k cycles, 250 k instructions (2.5 a cycle), 1024 L1 misses (64 KiB), 0 page faults; "
        "counted: 524 k operations (5.24 a cycle), at least 48 KiB; LLC misses: not allowed here"
    )


def test_one_line_says_that_there_are_none():
    assert hardware_words(Counts({}, "cycles: why"), PROGRAM, 64) == "no hardware counters (cycles: why)"
    assert hardware_words(None, PROGRAM, 64) == ""


def test_a_measured_schedule_says_what_was_counted_or_why_not():
    op = wb.operator("def f(float(N,M) x, float(M) w) -> (y) { y(i) +=! x(i,j) * w(j) }")
    panel = wb.panel(wb.schedule(op, N=37, M=29))
    came = panel.measure()
    assert came
    assert came.hardware.startswith(("hardware, a call: ", "no hardware counters ("))
    assert panel.measured["moments"][0]["hardware"] == came.hardware
