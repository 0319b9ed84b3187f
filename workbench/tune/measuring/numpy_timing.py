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


@record
class Evaluate:
    """Asks for the seconds of `operator.evaluate` with the sample arguments of a seed."""

    program: Program
    seed: int = 0


def answer(request: Evaluate) -> list[float]:
    """What the helper process does: seconds of calls."""
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

    times = [call()]
    if times[0] > LONG_SECONDS:
        return times
    times = []
    while len(times) < LEAST_CALLS or sum(times) < LEAST_SECONDS:
        times.append(call())
    return times


class NumpyRunner:
    """Times the oracle once in a process that ends afterwards; `close`, from another thread, ends it before."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.helper = Helper(NUMPY, memory=memory_limit(limits.memory_bytes))

    def measure(self, program: Program, seed: int = 0) -> Result:
        """Seconds of a call (the lower quartile, as of kernels), or what went wrong."""
        try:
            times = self.helper.ask(Evaluate(program, seed), self.limits.run_seconds)
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
        lower = statistics.quantiles(times, n=4)[0] if len(times) > 1 else times[0]
        return Result(0, "measured", seconds=max(lower, min(times)), lower=min(times), upper=max(times))

    def close(self) -> None:
        """End it."""
        self.helper.stop()
