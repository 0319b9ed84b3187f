"""`this_machine()`: the Target that code for this machine is written for."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from functools import cache
from threading import Event, Thread

from workbench.errors import WorkbenchError, unknown_name
from workbench.runtime.host.kept_costs import with_kept_costs
from workbench.runtime.host.processor import Processor, this_processor
from workbench.settings import THREADS_LIMIT, current
from workbench.target import Target
from workbench.target_cpus import CPUS

# Feature names code generation and recipes may ask for; /proc/cpuinfo has a hundred more.
KNOWN_FEATURES = (
    "sse2", "sse4_2", "avx", "f16c", "fma", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl",
    "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_int8", "amx_bf16",
    "neon", "fp16", "bf16", "dotprod", "i8mm", "sve", "sve2",
)  # fmt: skip

# Names that Linux gives to 64-bit ARM features, in the spelling above.
_ARM_SPELLING = {"asimd": "neon", "asimdhp": "fp16", "asimddp": "dotprod"}


def this_machine() -> Target:
    """The machine this process runs on, for dialect C (memoised; a few milliseconds at first).

    `cores` respects the process's CPU affinity and its control group's quota, `costs` are what `wb.calibrate()` kept.
    WORKBENCH_PROCESSOR names a lesser kind of processor (`avx2` on one with AVX-512) to stand for it; WorkbenchError if
    this one cannot.
    """
    return with_kept_costs(_plain_machine())


@cache
def _plain_machine() -> Target:
    """This machine as its data sheet and the environment have it."""
    found, name = processor_target(this_processor()), os.environ.get("WORKBENCH_PROCESSOR")
    return lesser(found, name) if name else found


def lesser(machine: Target, name: str) -> Target:
    """The machine as if it were a processor of that kind: its instruction sets, registers; these caches and cores."""
    if name not in CPUS:
        raise WorkbenchError(f"WORKBENCH_PROCESSOR: {unknown_name('processor', name, list(CPUS))}")
    if lacking := [x for x in CPUS[name]["isa"] if x not in machine.isa]:
        raise WorkbenchError(f"WORKBENCH_PROCESSOR={name}: this processor has no {', '.join(lacking)}; unset it")
    return replace(machine, **CPUS[name])


def processor_target(processor: Processor) -> Target:
    """The Target with a processor's instruction sets, caches and cores."""
    features = {_ARM_SPELLING.get(name, name) for name in processor.features}
    bits, registers = _vectors(features)
    return Target(
        vector_bits=bits,
        vector_registers=registers,
        cores=processor.cores,
        cache_bytes=processor.cache_bytes,
        line_bytes=processor.line_bytes,
        isa=tuple(name for name in KNOWN_FEATURES if name in features),
    )


def _vectors(features: set[str]) -> tuple[int, int]:
    """Width in bits and number of the vector registers."""
    if "avx512f" in features:
        return 512, 32
    if "avx" in features:
        return 256, 16
    return 128, 32 if "neon" in features else 16


def thread_count(fixed: int | None = None) -> int:
    """Threads of a call: `fixed`, else the setting, else OMP_NUM_THREADS, else one per usable physical core.

    Fewer where this process cannot start so many.
    """
    chosen = fixed if fixed is not None else current().threads
    return startable(chosen if chosen is not None else _default_threads())


@cache
def _default_threads() -> int:
    wished = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(int(wished), THREADS_LIMIT) if wished.isdecimal() and int(wished) > 0 else this_machine().cores


# -- How many threads can be started here: an OpenMP runtime that cannot start one ends the whole process --

@cache
def startable(wanted: int) -> int:
    """`wanted`, or as many threads as run at once here if that is less; tried once, with one warning."""
    if wanted == 1:
        return 1
    finish, started = Event(), []
    try:
        for _ in range(wanted):
            started.append(Thread(target=finish.wait, daemon=True))
            started[-1].start()
    except (RuntimeError, MemoryError):
        started.pop()
    finish.set()
    for thread in started:
        thread.join()
    if len(started) < wanted:
        _warn(wanted, len(started))
    return len(started) if len(started) == wanted else max(1, len(started) // 2)


def _warn(wanted: int, possible: int) -> None:
    warnings.warn(
        f"{wanted} threads were asked for, but this process can start {possible} (limits of memory or of the number "
        f"of threads): kernels run on {max(1, possible // 2)}. settings(threads=...) chooses another number.",
        RuntimeWarning,
        stacklevel=5,
    )
