"""`calibrate`: what this machine's processor takes for what recipes weigh, measured, and kept with the machine."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from statistics import median
from time import perf_counter

from workbench.errors import WorkbenchError, shown
from workbench.runtime.calibration.cost_probes import Probe, probes
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.host.kept_costs import keep_costs
from workbench.runtime.host.machine import this_machine
from workbench.runtime.host.processor import this_processor
from workbench.runtime.measuring.timing import duration
from workbench.target import Target
from workbench.target_costs import QUANTITIES, Costs
from workbench.wording import number_of

CALL_SECONDS, TURN_SECONDS = 2e-4, 2e-3
"""A call is so long for the clock, and short enough to be left alone now and then on a busy machine; a probe's turn."""

LEAST_ROUNDS = 9
BUSY = 2.0
DIGITS = 3


def calibrate(*, seconds: float = 8.0) -> Costs:
    """Measure the costs of this machine, in about so many seconds and a few for the compiler, and keep them.

    From then on, in this process and later ones, `"c"` as a target means a machine of these costs, and recipes decide
    by them; only calls that this process made before keep their schedules.  `wb.settings(calibrated=False)` or
    WORKBENCH_CALIBRATED=0 leave them aside.  They are kept in the cache directory for this processor, this many cores
    and this compiler.  Where there is one core, a parallel region takes what it does on processors in general.  Other
    machines' costs are given: `wb.Target("neon", costs=wb.Costs(...))`.

    A RuntimeWarning says that others kept the processor busy.  WorkbenchError for seconds that cannot be; BuildError
    where there is no compiler.
    """
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 < seconds < float("inf"):
        raise WorkbenchError(f"calibrate: seconds={shown(seconds)} does not fit; expected a positive number of seconds")
    machine, toolchain = this_machine(), preferred_toolchain()
    found = measured_costs(machine, list(probes(machine, toolchain)), seconds)
    keep_costs(machine, found)
    return found


def measured_costs(machine: Target, every: Sequence[Probe], seconds: float) -> Costs:
    """The costs that probes find, in rounds in which each has its turn: what slows a machine down slows all of them."""
    counts = [_count(probe) for probe in every]
    times: list[list[float]] = [[] for _ in every]
    end = perf_counter() + seconds
    rounds = 0
    while rounds < LEAST_ROUNDS or perf_counter() < end:
        rounds += 1
        for probe, count, own in zip(every, counts, times, strict=True):
            own += _turn(probe, count)
    _warn_of_company(every, times)
    units = [count * probe.units for probe, count in zip(every, counts, strict=True)]
    took = {p.name: undisturbed(own) / n for p, own, n in zip(every, times, units, strict=True)}
    took |= {p.name: max(took[p.name] - took[p.beside], took[p.name] / 100) for p in every if p.beside}
    took = {name: took[name] for name in QUANTITIES if name in took}
    found = {name: _rounded(1 / x if name.endswith("bytes_per_second") else x) for name, x in took.items()}
    cores = number_of(machine.cores, "core")
    if "all_memory_bytes_per_second" not in found and "memory_bytes_per_second" in found:
        found["all_memory_bytes_per_second"] = found["memory_bytes_per_second"]
    return Costs(**found, origin=f"{this_processor().model}, {cores}, measured in {duration(seconds)}")


def undisturbed(times: Sequence[float]) -> float:
    """What a tenth of the calls do not exceed: whatever else a machine does only adds to a time.

    >>> undisturbed([3.0, 1.1, 1.0, 9.0, 50.0, 1.2, 1.1, 8.0, 1.1, 7.0])
    1.1
    """
    return sorted(times)[len(times) // 10]


def _warn_of_company(every: Sequence[Probe], times: Sequence[Sequence[float]]) -> None:
    """A warning where half of the calls took far longer than the fastest: others use the processor at the same time."""
    names = [p.name for p, own in zip(every, times, strict=True) if median(own) > BUSY * undisturbed(own)]
    if names:
        advice = "call wb.calibrate() again when this machine has nothing else to do"
        warnings.warn(f"calibrate was disturbed while it measured {', '.join(names)}; {advice}", RuntimeWarning, 4)


def _count(probe: Probe) -> int:
    """How often in a call that is long enough."""
    count = 1
    while _time(probe, count) < CALL_SECONDS:
        count *= 2
    return count


def _turn(probe: Probe, count: int) -> list[float]:
    """The seconds of each call of a turn."""
    found = [_time(probe, count)]
    while sum(found) < TURN_SECONDS:
        found.append(_time(probe, count))
    return found


def _time(probe: Probe, count: int) -> float:
    start = perf_counter()
    probe.call(count)
    return perf_counter() - start


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
