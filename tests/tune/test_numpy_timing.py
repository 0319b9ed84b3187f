"""NumPy is timed as kernels are: in a process of its own, with its threads and the spread of its calls."""

from __future__ import annotations

import os

import workbench as wb
from workbench.tune.measuring.numpy_timing import THREAD_VARIABLES, Evaluate, NumpyRunner, answer
from workbench.tune.measuring.runner import Limits

# Nothing for a library of linear algebra: what NumPy does with it takes one thread.
RUNNING = wb.operator("def running(float(N) x) -> (y) { y(i) = exp(x(i)) - x(i) * x(i) }")


def test_a_time_lies_in_its_spread_and_elementwise_work_is_one_threads() -> None:
    program = wb.schedule(RUNNING, N=200_000).program
    runner = NumpyRunner(Limits(run_seconds=60.0), threads=4)
    found = runner.measure(program)
    assert found.outcome == "measured", found.message
    assert 0 < (found.lower or 0) <= (found.seconds or 0) <= (found.upper or 0)
    assert runner.busy == 1


def test_its_libraries_may_take_as_many_threads_as_a_kernel() -> None:
    assert dict.fromkeys(THREAD_VARIABLES, "3") == NumpyRunner(Limits(), threads=3).helper.variables


def test_processor_time_is_counted_beside_time() -> None:
    found = answer(Evaluate(wb.schedule(RUNNING, N=50_000).program))
    assert len(found.seconds) >= 3
    assert 0 < found.busy <= (os.cpu_count() or 1) + 0.5


def test_what_goes_wrong_is_an_outcome_without_threads() -> None:
    runner = NumpyRunner(Limits(run_seconds=1e-6))
    assert runner.measure(wb.schedule(RUNNING, N=8).program).outcome == "timed out"
    assert runner.busy == 0
