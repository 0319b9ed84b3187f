"""`measure`: how long a call takes, with its spread, and what that is in operations and bytes a second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from workbench import poly
from workbench.errors import CallError, WorkbenchError, shown
from workbench.lang import bind
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime.host.machine import thread_count
from workbench.runtime.kernels.c_order import in_c_order
from workbench.runtime.kernels.launch import CompiledKernel

# A batch of short calls is long enough for the clock.
BATCH_SECONDS = 5e-4
LEAST_BATCHES = 5
WARM_UP_SHARE = 0.2


@record(slots=True, repr=False)
class Measurement:
    """Seconds of one call: the median of `batches` batches, `lower` and `upper` their quartiles.

    `calls` were timed in all.  `flops` and `bytes_moved` are those of one call, None where they cannot be
    counted; `bytes_moved` is the least traffic, each input read and each output written once.  On a GPU
    `device_seconds` is the time between two events around the launches of one call (median), and the rates are those
    of that time; `seconds` is the whole call until its results are there, copies of NumPy's arrays included.
    """

    seconds: float
    lower: float
    upper: float
    batches: int
    calls: int
    flops: int | None = None
    bytes_moved: int | None = None
    device_seconds: float | None = None

    @property
    def gflops(self) -> float | None:
        """Billions of operations a second."""
        return None if self.flops is None else self.flops / (self.device_seconds or self.seconds) / 1e9

    @property
    def bytes_per_second(self) -> float | None:
        return None if self.bytes_moved is None else self.bytes_moved / (self.device_seconds or self.seconds)

    def __str__(self) -> str:
        parts = [f"{duration(self.seconds)} ({duration(self.lower)} to {duration(self.upper)})"]
        if self.device_seconds is not None:
            parts.append(f"{duration(self.device_seconds)} on the device")
        if self.gflops:
            parts.append(f"{self.gflops:.3g} GFLOP/s")
        if self.bytes_per_second:
            parts.append(f"{self.bytes_per_second / 1e9:.3g} GB/s")
        return ", ".join([*parts, f"{self.calls} calls"])

    def __repr__(self) -> str:
        return str(self)


def measure(
    what: Callable[..., Any], /, *arrays: Any, seconds: float = 0.3, out: Any = None, **scalars: Any
) -> Measurement:
    """Time `what(*arrays, out=out, **scalars)`: an operator, a compiled kernel, or any function.

    Calls are repeated for about `seconds` after a warm-up, in batches when they are short.  Results are
    allocated inside the timing unless `out` is given.  A kernel on a GPU is waited for in each call, and timed on the
    device apart.
    """
    if not callable(what):
        raise CallError(f"measure needs an operator, a kernel or a function, not {shown(what)}")
    if not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):
        raise CallError(f"seconds={seconds!r} does not fit; expected a positive number of seconds")
    keywords = scalars if out is None else {**scalars, "out": out}

    wait = getattr(what, "synchronize", None) if isinstance(what, CompiledKernel) else None

    def once() -> None:
        what(*arrays, **keywords)
        if wait is not None:
            wait()

    size = _batch_size(once, seconds * WARM_UP_SHARE)
    times = _batches(once, size, seconds)
    lower, middle, upper = statistics.quantiles(times, n=4)
    flops, moved = _counts(what, arrays, scalars, out)
    if wait is None and flops:
        _lift_roof(what, arrays, scalars, out, flops / min(times))
    device = None if wait is None else _on_device(what, arrays, keywords, seconds)
    return Measurement(middle, lower, upper, len(times), len(times) * size, flops, moved, device)


def duration(seconds: float) -> str:
    """
    >>> duration(0.00165), duration(2.5e-6)
    ('1.65 ms', '2.5 us')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _batch_size(once: Callable[[], None], warm_up_seconds: float) -> int:
    """Warm up, doubling the batch until it is long enough for the clock."""
    size, spent = 1, 0.0
    while True:
        took = _time(once, size)
        spent += took
        if took >= BATCH_SECONDS and spent >= warm_up_seconds:
            return size
        if took < BATCH_SECONDS:
            size *= 2


def _batches(once: Callable[[], None], size: int, seconds: float) -> list[float]:
    """Seconds a call of each batch."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < LEAST_BATCHES or time.perf_counter() < end:
        times.append(_time(once, size) / size)
    return times


def _on_device(kernel: Any, arrays: tuple[Any, ...], keywords: dict[str, Any], seconds: float) -> float | None:
    """Median time of a call's launches on the GPU; None for a kernel that runs in other processes."""
    return None if kernel.isolated else kernel.prepared(*arrays, **keywords).device_seconds(seconds)[1]


def _time(once: Callable[[], None], size: int) -> float:
    start = time.perf_counter()
    for _ in range(size):
        once()
    return time.perf_counter() - start


def _counts(what: object, arrays: tuple[Any, ...], scalars: dict[str, Any], out: Any) -> tuple[int | None, int | None]:
    """(operations, bytes) of one call, where the program is known and can be counted."""
    try:
        program = bound_program(what, arrays, scalars, out)
        return (None, None) if program is None else (poly.flops(program), poly.bytes(program))
    except WorkbenchError:
        return None, None


def _lift_roof(what: object, arrays: tuple[Any, ...], scalars: dict[str, Any], out: Any, rate: float) -> None:
    """A roof is never below what was reached by a program that computes in one type of float, as roofs are measured."""
    from workbench.runtime.measuring.roofs import (
        raise_ceilings,  # which builds kernels, and most measurements need no roof
    )

    program = bound_program(what, arrays, scalars, out)
    types = {a.dtype.name for a in program.arrays.values() if not a.dtype.is_integral} if program else set()
    whole = {a.dtype.bits for a in program.arrays.values() if a.dtype.is_integral} if program else set()
    if len(types) == 1 and min(whole, default=32) >= 32:
        raise_ceilings(types.pop(), thread_count(getattr(what, "threads", None)), rate)


def bound_program(what: object, arrays: tuple[Any, ...], scalars: dict[str, Any], out: Any) -> Program | None:
    """The program of a call with its sizes bound; None for a function of somebody else's."""
    if isinstance(what, CompiledKernel | Program):
        program = what if isinstance(what, Program) else getattr(what.schedule, "program", None)
        if program is None or not program.symbols:
            return program
        taken = in_c_order(program, arrays, out, scalars)
        if taken is not None:
            arrays, out, scalars = (), taken.out, {**program.sizes, **taken.inputs, **taken.sizes}
        what = program.definition
    if not isinstance(what, Operator):
        return None
    known = bind(what, arrays, scalars, out)
    return poly.lower(known.op, known.sizes)
