"""Runners: what builds and times the candidates of a study, here or on other machines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from workbench.errors import WorkbenchError, shown
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.measuring.counters import Counts
from workbench.schedules.kernels.micro_kernels import MicroKernel
from workbench.target import Target
from workbench.tune.measuring.building import Request
from workbench.tune.trials import Outcome


@record
class Limits:
    """What a candidate may take: seconds to build and to run, bytes of memory; whether caches are flushed between
    calls; whether `counters` of the hardware are read beside.  A run that is sure to be slow is ended before: after
    two seconds and sixty times the best call so far.
    """

    build_seconds: float = 60.0
    run_seconds: float = 30.0
    memory_bytes: int = 0
    flush: bool = False
    counters: bool = False


@record
class Assignment:
    """A study as runners see it: the sketch whose points are asked for, the program that says what results are right,
    the machine, the compiler, and the threads of a call.
    """

    sketch: Any
    program: Program
    target: Target
    toolchain: Toolchain
    threads: int
    kernels: tuple[MicroKernel, ...] = ()
    limits: Limits = Limits()
    seed: int = 0


@record
class Result:
    """What came of a candidate; `seconds` are those of this machine, beside its reference kernel, `estimate` those that
    a model expects where nothing is measured; `counts` what the hardware counted of a call, if that was asked for.
    """

    number: int
    outcome: Outcome
    message: str = ""
    seconds: float | None = None
    lower: float | None = None
    upper: float | None = None
    key: str = ""
    record: str = ""
    steps: str = ""
    features: Mapping[str, float] | None = None
    build_seconds: float = 0.0
    run_seconds: float = 0.0
    began: float = 0.0
    estimate: float | None = None
    counts: Counts | None = None


class Runner(Protocol):
    """Measures candidates.  `measure` yields a result for each request, in any order, as it is there.

    One whose attribute `ranks` is true measures nothing: its results are estimates.
    """

    def open(self, assignment: Assignment) -> None:
        """Get ready for a study."""

    def measure(self, requests: Sequence[Request], best: float | None) -> Iterator[Result]:
        """Build, check and time; `best` are the seconds of the best so far."""
        ...

    def again(self, requests: Sequence[Request], patience: float) -> Iterator[Result]:
        """Time the finalists once more, so many times as long."""
        ...

    def close(self) -> None:
        """End everything; may be called from another thread while `measure` runs, which then ends."""


METHODS = ("open", "measure", "again", "close")


def as_runner(value: Any) -> Runner:
    """The runner itself; WorkbenchError for what is none."""
    missing = [name for name in METHODS if not callable(getattr(value, name, None))]
    if missing or isinstance(value, type):
        raise WorkbenchError(
            f"runner={shown(value)} is no runner; expected None for this machine, or wb.tune.dask(client)"
        )
    return value


def memory_limit(wanted: int) -> int:
    """Bytes of address space for a candidate: what is wanted, else most of the machine's memory."""
    if wanted:
        return wanted
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
    except (ValueError, OSError, AttributeError):
        return 0
