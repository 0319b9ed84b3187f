"""The runner's side: a candidate is checked against the oracle, then timed in turn with a reference kernel.

Its process starts with every study, so that it loads arrays, calls and comparisons, and nothing of what derives
schedules, compiles or computes what is expected.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from workbench.codegen.kernel import Signature
from workbench.records import record
from workbench.runtime.arrays.layout import Array, layout_of
from workbench.runtime.kernels.arguments import scalar_bits
from workbench.runtime.kernels.border import NO_MEMORY
from workbench.runtime.kernels.copying import array_addresses
from workbench.runtime.measuring.counters import Counts, hardware_counts
from workbench.tune.measuring.workload import Workload, spoil

BATCH_SECONDS = 4e-4
"""A batch of calls is long enough for the clock."""

LEAST_SECONDS, MOST_SECONDS = 0.008, 0.25
"""A candidate is timed for so long, longer where it may be among the best, and not much longer whatever it takes."""

PAIRS = (3, 25)
"""Batches of a candidate, fewest and most, each beside one of the reference."""

CLEARLY_SLOWER = 1.5
"""Times the best seconds: such a candidate is not looked at closely."""

FLUSH_BYTES = 64 << 20

Repeat = Callable[..., int]
"""`(data, values, symbols, threads, times) -> status`, with the addresses of three tables."""


def open_bare(library: Path) -> Repeat:
    """The entry of a library that `build_bare` made, called with bare pointers."""
    repeat = ctypes.CDLL(str(library)).wb_bare_repeat
    repeat.restype = ctypes.c_int64
    repeat.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64]
    return repeat



@record(slots=True)
class Prepare:
    """Load the workload of a study; `threads` of each call; `flush` the caches before each; `counters`: read what the
    hardware counts, once a candidate was timed.
    """

    workload: str
    threads: int
    flush: bool = False
    counters: bool = False


@record(slots=True)
class Load:
    """A library to check and time.  As the `reference` it is kept for all that follow; one that is known to be `right`
    is not checked again.
    """

    library: str
    signature: Signature
    sizes: Mapping[str, int]
    best: float | None = None
    patience: float = 1.0
    reference: bool = False
    right: bool = False


@record(slots=True)
class Timed:
    """What a candidate took: seconds of a call, their quartiles, and the seconds of the reference beside it.

    `seconds` and `reference` are lower quartiles: what else runs on a machine only ever adds.  `counts` are events of a
    call, where they were asked for.
    """

    seconds: float
    lower: float
    upper: float
    reference: float | None
    calls: int
    counts: Counts | None = None


@record(slots=True)
class Wrong:
    """Results that differ from the oracle's, or an error that the kernel found itself."""

    message: str


@record(slots=True)
class Crashed:
    """What a candidate did to the process, which is of no further use."""

    message: str


class _Callable:
    """A library with arguments of its own to write to."""

    def __init__(self, request: Load, workload: Workload, threads: int) -> None:
        self.repeat: Repeat = open_bare(Path(request.library))
        signature = request.signature
        layout = layout_of(signature, dict(request.sizes))
        inputs = [None if p.by_value else workload.inputs[p.name] for p in signature.inputs]
        bits = [scalar_bits(workload.inputs[p.name], p) if p.by_value else 0 for p in signature.inputs]
        self.before = [workload.before[slot.parameter.name] for slot in layout.outputs]
        self.zeroed = [slot.parameter.zero_fill for slot in layout.outputs]
        self.outputs: list[Array] = [slot.fresh() for slot in layout.outputs]
        self.inputs = inputs
        self.layout = layout
        arrays = [*inputs, *self.outputs]
        self.data = array_addresses(arrays)
        self.values = (ctypes.c_uint64 * (len(arrays) + 1))(*bits)
        self.threads = threads

    def begin(self) -> None:
        """The outputs as they are before a call."""
        for array, before, zeroed in zip(self.outputs, self.before, self.zeroed, strict=True):
            if before is not None:
                array[...] = before
            elif zeroed:
                array[...] = 0

    def spoil(self) -> None:
        """Fill what a call has to write with bytes that are no results."""
        for array, before, zeroed in zip(self.outputs, self.before, self.zeroed, strict=True):
            if before is None and not zeroed:
                spoil(array)

    def calls(self, times: int) -> tuple[float, int]:
        """(seconds, status) of so many calls."""
        begun = time.perf_counter()
        status = self.repeat(self.data, self.values, self.layout.symbols_address, self.threads, times)
        return time.perf_counter() - begun, status


class _Runner:
    """What the process knows of its study."""

    def __init__(self) -> None:
        self.workload: Workload | None = None
        self.threads = 1
        self.reference: _Callable | None = None
        self.cache: Array | None = None
        self.counters = False

    def prepare(self, request: Prepare) -> None:
        self.workload = Workload.load(Path(request.workload))
        self.threads = request.threads
        self.cache = np.zeros(FLUSH_BYTES, np.uint8) if request.flush else None
        self.counters = request.counters
        self.reference = None

    def timed(self, request: Load) -> Timed | Wrong:
        assert self.workload is not None
        candidate = _Callable(request, self.workload, self.threads)
        if not request.right and (wrong := self._wrong(candidate, request.signature)):
            return Wrong(wrong)
        result = self._timed(candidate, request)
        if self.counters:
            result = replace(result, counts=self._counted(candidate))
        if request.reference:
            self.reference = candidate
        return result

    def _wrong(self, candidate: _Callable, signature: Signature) -> str:
        """What is wrong with the results of one call; "" if they are right."""
        assert self.workload is not None
        candidate.spoil()
        candidate.begin()
        _, status = candidate.calls(1)
        if status == NO_MEMORY:
            return "no memory for the kernel's temporaries"
        if status:
            check = signature.checks[status - 1]
            return f"an index of {check.array} is out of range: {check.text}"
        found = self.workload.expected.judged(candidate.outputs)
        return "" if found else str(found)

    def _timed(self, candidate: _Callable, request: Load) -> Timed:
        """Batches of the candidate and of the reference in turn, until they tell enough."""
        size, once = self._batch(candidate)
        hopeless = request.best is not None and once > CLEARLY_SLOWER * request.best
        beside = self.reference if not hopeless else None
        reference_size = self._batch(beside)[0] if beside is not None else 0
        own: list[float] = []
        others: list[float] = []
        spent, least = 0.0, LEAST_SECONDS * request.patience
        while True:
            own.append(self._once(candidate, size))
            spent += own[-1] * size
            if beside is not None:
                others.append(self._once(beside, reference_size))
                spent += others[-1] * reference_size
            few, many = PAIRS
            if len(own) >= few and (hopeless or spent >= least or len(own) >= many * request.patience):
                break
            if spent >= MOST_SECONDS * request.patience and len(own) >= 2:
                break
        lower, _, upper = _quartiles(own)
        reference = _quartiles(others)[0] if len(others) > 1 else None
        return Timed(lower, min(own), upper, reference, len(own) * size)

    def _counted(self, candidate: _Callable) -> Counts:
        """What the hardware counts of a call, in a batch of its own."""
        size, _ = self._batch(candidate)
        candidate.begin()
        return hardware_counts(lambda: candidate.calls(size), size)

    def _batch(self, kernel: _Callable) -> tuple[int, float]:
        """(calls of a batch, seconds of a call); warms up."""
        size = 1
        while True:
            took = self._once(kernel, size) * size
            if took >= BATCH_SECONDS or self.cache is not None:
                return size, took / size
            size = max(size * 2, min(64 * size, int(size * 1.2 * BATCH_SECONDS / max(took, 1e-9))))

    def _once(self, kernel: _Callable, size: int) -> float:
        """Seconds of a call in a batch."""
        kernel.begin()
        if self.cache is not None:
            self.cache += 1
        took, _ = kernel.calls(size)
        return took / size


def _quartiles(times: list[float]) -> tuple[float, float, float]:
    lower, middle, upper = statistics.quantiles(times, n=4)
    return max(lower, min(times)), middle, max(upper, middle)


_runner = _Runner()


def answer(request: Prepare | Load) -> Timed | Wrong | None:
    """What the helper process of a runner does."""
    if isinstance(request, Prepare):
        _runner.prepare(request)
        return None
    return _runner.timed(request)
