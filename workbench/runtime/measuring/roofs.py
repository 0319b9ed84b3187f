"""`ceilings`: how fast this machine computes, and moves bytes from each level of its memory: the roofs of a roofline.

Measured by two operators of our own: a chain of multiply-adds that stays in registers, and a sweep that reads and
writes an array in place, at sizes that fit each cache.  (Williams, Waterman and Patterson, 2009, doi:10.1145/1498765.)
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, field, replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import numpy as np

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.lang import operator
from workbench.records import record
from workbench.runtime.arrays.memory import at_a_page
from workbench.runtime.building import build
from workbench.runtime.compilers.storage import storage, write_file
from workbench.runtime.host.machine import this_machine, thread_count
from workbench.runtime.host.processor import this_processor
from workbench.schedules import Schedule, interchange, parallelize, schedule, split, vectorize
from workbench.target import Target
from workbench.wording import number_of

Call = Callable[[], object]

FORMAT = 3
TYPES = {"float32": "float", "float64": "double"}
DEPTH, LINE = 16, 16
# Chains that stand beside one another: which number fills the units depends on latencies and registers.
ABREAST = (1, 4, 8)
# No processor does more than so many multiply-adds of a register a cycle, nor so many cycles a second.
UNITS, HERTZ = 2, 7e9
PASSES = 3
# Share of a cache that the sweep fills, bytes beyond all caches, bytes that one call moves at least.
SHARE, BEYOND, CALL_BYTES = 0.5, 4.0, 100e6
# A pass reads one line ahead of where it writes: no compiler can make one pass of two.
_AHEAD = f"A(p, i + {LINE}) * 0.5 + 0.5"
_CHAIN = "(" * DEPTH + "A(p, i)" + " * 0.5 + 0.5)" * DEPTH
_TEXT = f"""
def {{name}}({{type}}(P) X, int32 N, int32 R) -> (A) {{{{
    A(p, i) = X(p) where i in 0:N
    for r in 0:R {{{{ A(p, i) = {{value}} where i in 0:N-{LINE} }}}}
}}}}"""


@record
class Ceilings:
    """Operations a second, and bytes a second from each level of memory ("L1", "L2", "L3", "memory"), nearest first.

    `dtype` is what was computed with, `threads` how many computed, `origin` says where the numbers come from.
    Bytes count reads and writes.
    """

    flops_per_second: float
    bytes_per_second: dict[str, float] = field(default_factory=dict)
    dtype: str = "float32"
    threads: int = 1
    origin: str = "given"

    def __post_init__(self) -> None:
        """WorkbenchError for rates that cannot be."""
        for name, rate in {"flops_per_second": self.flops_per_second, **self.bytes_per_second}.items():
            if not isinstance(rate, int | float) or isinstance(rate, bool) or not 0 < rate < float("inf"):
                raise WorkbenchError(f"Ceilings: {name}={shown(rate)} does not fit; expected a positive rate a second")

    def __str__(self) -> str:
        rates = ", ".join(f"{name} {rate / 1e9:.3g} GB/s" for name, rate in self.bytes_per_second.items())
        return f"{self.flops_per_second / 1e9:.3g} GFLOP/s of {self.dtype}; {rates} ({self.origin})"


def ceilings(dtype: str = "float32", *, threads: int | None = None, again: bool = False) -> Ceilings:
    """This machine's ceilings: measured once, within a few seconds, then read from the build cache.

    `threads` is as for a call (the setting, or one for each core).  `again` measures anew: do so when the machine was
    busy.  BuildError where there is no compiler.
    """
    if dtype not in TYPES:
        raise WorkbenchError(f"ceilings: {unknown_name('dtype', dtype, TYPES)}")
    used = thread_count(threads)
    found = None if again else known_ceilings(dtype, threads=threads)
    if found is None:
        found = measured_ceilings(dtype, used)
        write_file(_file(dtype, used), json.dumps(asdict(found)).encode())
        found = _raised(found)
    return found


def known_ceilings(dtype: str = "float32", *, threads: int | None = None) -> Ceilings | None:
    """This machine's ceilings if they were measured before; nothing is measured now."""
    used = thread_count(threads)
    try:
        found = Ceilings(**json.loads(_file(dtype, used).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, WorkbenchError):
        return None  # a damaged file is measured again
    return _raised(found)


def _raised(found: Ceilings) -> Ceilings:
    """The ceilings, that of operations no lower than what kernels have reached."""
    reached = _reached(found.dtype, found.threads)
    if reached <= found.flops_per_second:
        return found
    return replace(found, flops_per_second=reached, origin=f"{found.origin}, raised by what a kernel reached")


def _reached(dtype: str, threads: int) -> float:
    try:
        return float(_file(dtype, threads, "reached").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0.0


def _file(dtype: str, threads: int, what: str = "ceilings") -> Path:
    return storage() / f"{what}-{_machine_key(dtype, threads)}.json"


def measured_ceilings(dtype: str, threads: int, *, seconds: float = 0.25, target: Target | None = None) -> Ceilings:
    """The ceilings, measured now: the best of several calls for each, in so many seconds each."""
    machine = target or this_machine()
    width = np.dtype(dtype).itemsize
    vectors = 32 * machine.lanes(8 * width)
    lanes = machine.lanes(8 * width)
    chains = [_schedule("chain", dtype, _CHAIN, threads, vectors + LINE, 4000, n * lanes) for n in ABREAST]
    flops = 2.0 * DEPTH * threads * vectors * 4000
    fastest = min(_best(_prepared(chain, dtype, threads), seconds / len(chains)) for chain in chains)
    sweeps = {n: [_sweep(dtype, threads, size) for size in sizes] for n, sizes in levels(machine, threads).items()}
    rates = dict.fromkeys(sweeps, 0.0)
    for _ in range(PASSES):  # what others do on the machine lasts longer than one sweep
        for name, own in sweeps.items():
            least = seconds / PASSES / len(own)
            rates[name] = max(rates[name], *(moved / _best(call, least) for call, moved in own))
    rates = _nearer_is_no_slower(rates)
    origin = f"measured on {this_processor().model}, {number_of(threads, 'thread')}"
    return Ceilings(flops / fastest, rates, dtype, threads, origin)


def _nearer_is_no_slower(rates: dict[str, float]) -> dict[str, float]:
    """What comes from a level has passed all that are nearer: a lower rate of theirs was a disturbance."""
    highest, found = 0.0, {}
    for name in reversed(rates):
        found[name] = highest = max(highest, rates[name])
    return {name: found[name] for name in rates}


def raise_ceilings(dtype: str, threads: int, flops_per_second: float) -> None:
    """Remember what a kernel has reached: no roof of this machine is below it from now on.

    What no processor can reach is left alone: there the compiler did less than what was counted.
    """
    if dtype not in TYPES or flops_per_second <= _reached(dtype, threads):
        return
    most = 2.0 * UNITS * this_machine().lanes(8 * np.dtype(dtype).itemsize) * HERTZ * threads
    if flops_per_second <= most:
        write_file(_file(dtype, threads, "reached"), json.dumps(flops_per_second).encode())


def levels(machine: Target, threads: int) -> dict[str, tuple[float, ...]]:
    """Level → bytes of all threads together that stay in it: half of the L1 and L2 of each core, half of the shared L3.

    Of an L3 also what is just beyond the second caches: where others compute beside us, half of it may not be ours.
    """
    first, second, third = machine.cache_bytes
    cores = min(threads, machine.cores)
    near, half = 4.0 * second * cores, third * SHARE
    own = {"L1": {first * SHARE * cores}, "L2": {second * SHARE * cores}, "L3": {half, min(near or half, half)}}
    beyond = BEYOND * max(third, second * machine.cores, first * machine.cores, 16 << 20)
    return {name: tuple(sorted(sizes)) for name, sizes in own.items() if all(sizes)} | {"memory": (beyond,)}


def _sweep(dtype: str, threads: int, size: float) -> tuple[Call, float]:
    """(a call that sweeps over so many bytes, the bytes that it reads and writes)."""
    width = np.dtype(dtype).itemsize
    cells = max(64, int(size / threads / width) // 64 * 64) + LINE
    rounds = max(3, round(CALL_BYTES / (threads * cells * 2 * width)))
    first = threads * cells * width  # the call begins with cells that are all alike
    moved = 2.0 * width * threads * (cells - LINE) * rounds + first
    return _prepared(_schedule("sweep", dtype, _AHEAD, threads, cells, rounds), dtype, threads), moved


def _schedule(
    name: str, dtype: str, value: str, threads: int, cells: int, rounds: int, abreast: int = LINE
) -> Schedule:
    """A thread for each row, over which it passes so many times, so many cells abreast."""
    made = operator(_TEXT.format(name=name, type=TYPES[dtype], value=value))
    naive = schedule(made, P=threads, N=cells, R=rounds)
    rows = naive | interchange("A.1/p", "A.1/r") | parallelize("A.1/p") | parallelize("A/p")
    return rows | split("A.1/i", abreast) | vectorize("A.1/i_i")


def _prepared(made: Schedule, dtype: str, threads: int) -> Call:
    """A call of the kernel, which was called once: the pages of its result are there."""
    kernel, sizes = build(made, threads=threads), made.program.sizes
    given = np.full(sizes["P"], 0.25, dtype)
    out = at_a_page((sizes["P"], sizes["N"]), np.dtype(dtype))
    kernel(given, out=out)
    return partial(kernel, given, out=out)


def _best(call: Call, seconds: float) -> float:
    """Seconds of the fastest call."""
    best, end = float("inf"), perf_counter() + seconds
    while best == float("inf") or perf_counter() < end:
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return best


@cache
def _machine_key(dtype: str, threads: int) -> str:
    processor = this_processor()
    facts = (FORMAT, processor.model, processor.architecture, processor.cores, processor.cache_bytes, dtype, threads)
    return sha256(repr(facts).encode()).hexdigest()[:16]
