"""What the NumPy oracle takes for a call of the workload, in a process of its own that may hang or take all memory."""

from __future__ import annotations

import statistics
import time
from typing import Any

from workbench.errors import ScheduleError
from workbench.ops.samples import sample_arrays, sample_out
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.tune.measuring.helpers import Died, Helper, TooLate
from workbench.tune.measuring.runner import Limits, Result, memory_limit

NUMPY = "workbench.tune.measuring.numpy_timing:answer"

LEAST_CALLS, LEAST_SECONDS = 3, 0.03
"""The oracle is called so often and for so long at least, after a call that nobody counts."""

LONG_SECONDS = 2.0
"""One call that takes longer is counted itself."""

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Where the libraries of linear algebra below NumPy look for the threads they may take."""


@record
class Evaluate:
    """Asks for the seconds of `operator.evaluate` with the sample arguments of a seed."""

    program: Program
    seed: int = 0


@record
class Evaluated:
    """Seconds of calls, and how many threads they kept busy: processor time over time."""

    seconds: list[float]
    busy: float


def answer(request: Evaluate) -> Evaluated:
    """What the helper process does: call the oracle, and count."""
    op = request.program.original.definition
    if op is None or op.language == "c":
        raise ScheduleError(f"{request.program.name} was written in C: NumPy has no text of it")
    sizes = request.program.sizes
    arrays: tuple[Any, ...] = sample_arrays(op, request.seed, **sizes)
    out = sample_out(op, request.seed + 1, **sizes)
    left = {name: value for name, value in sizes.items() if name not in op.parameters}

    def call() -> float:
        begun = time.perf_counter()
        op.evaluate(*arrays, out=out, **left)
        return time.perf_counter() - begun

    begun = time.process_time()
    times = [call()]
    if times[0] <= LONG_SECONDS:
        begun, times = time.process_time(), []
        while len(times) < LEAST_CALLS or sum(times) < LEAST_SECONDS:
            times.append(call())
    return Evaluated(times, (time.process_time() - begun) / max(sum(times), 1e-9))


class NumpyRunner:
    """Times the oracle once in a process that ends afterwards; `close`, from another thread, ends it before.

    NumPy's own libraries may take as many `threads` as a call of a kernel.
    """

    def __init__(self, limits: Limits, threads: int = 1) -> None:
        self.limits, self.threads = limits, threads
        variables: dict[str, str] = {name: str(threads) for name in THREAD_VARIABLES}
        self.helper = Helper(NUMPY, variables, memory_limit(limits.memory_bytes))
        self.busy = 0
        """Threads that the calls kept busy; 0 before they were measured."""

    def measure(self, program: Program, seed: int = 0) -> Result:
        """Seconds of a call (the lower quartile, between the fastest and the upper one, as of kernels), or what went
        wrong.
        """
        try:
            found = self.helper.ask(Evaluate(program, seed), self.limits.run_seconds)
        except TooLate as how:
            return Result(0, "timed out", f"NumPy {how}")
        except Died as how:
            return Result(0, "crashed", f"the process that ran NumPy {how}")
        except MemoryError:
            return Result(0, "crashed", "NumPy took more memory than it may")
        except Exception as error:  # what the oracle says of such arguments
            return Result(0, "not built", str(error).partition("\n")[0])
        finally:
            self.helper.stop()
        self.busy = max(1, min(self.threads, round(found.busy)))
        times = found.seconds
        lower, _, upper = statistics.quantiles(times, n=4) if len(times) > 1 else times * 3
        return Result(
            0, "measured", seconds=max(lower, min(times)), lower=min(times), upper=min(max(upper, lower), max(times))
        )

    def close(self) -> None:
        """End it."""
        self.helper.stop()
