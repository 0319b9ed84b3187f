"""Probes: calls that take as long as so many of one thing, for each of the costs of a processor."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from workbench.lang import operator
from workbench.records import record
from workbench.runtime.arrays.memory import at_a_page
from workbench.runtime.building import build, build_target
from workbench.runtime.calibration.cost_texts import ADDITIONS, DIVISIONS, PANEL, READS, STEPS, chains_of, cost_text
from workbench.runtime.compilers.compiling import load
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.schedules import Schedule, parallelize, schedule, split, vectorize
from workbench.target import Target

BEYOND, MOST_BEYOND = 4, 256 << 20
"""Times the last cache is what does not stay in it, and bytes at most."""

ROWS, CELLS, REPEATED = 256, 4096, 64
"""Rows of the matrix that is copied; cells in the first cache; passes over these in a call."""

Array = np.ndarray[Any, Any]

_EXPONENTIAL = "def e(float(N) X, int32 R) -> (A) { A(i) = X(i) for r in 0:R { A(i) = exp(-A(i)) where i in 0:N } }"
_LITTLE = "def g(float(N) X) -> (A) { A(i) = X(i) * 0.5 }"


@record(eq=False)
class Probe:
    """`call(n)` does n times `units` of what the field `name` of the costs counts, and what the probe `beside` does."""

    name: str
    call: Callable[[int], object]
    units: float
    beside: str = ""


def probes(machine: Target, toolchain: Toolchain) -> Iterator[Probe]:
    """A probe for each cost; for what only several cores have, none on one.  BuildError if one does not compile."""
    target = build_target(machine, toolchain)
    library = load(Job("costs", cost_text(target), toolchain, target, False)).handle
    yield from _of_the_core(library, target)
    yield from _of_memory(library, target)
    yield Probe("exponential_seconds", _kernel(_exponential(target), 1), REPEATED * CELLS / target.lanes(32))
    if target.cores > 1:
        little = schedule(operator(_LITTLE), N=target.cores * target.line_bytes // 4)
        yield Probe("call", _kernel(little, 1), 1)
        yield Probe("region_seconds", _kernel(little | parallelize("A/i"), target.cores), 1, beside="call")


def _of_the_core(library: ctypes.CDLL, target: Target) -> Iterator[Probe]:
    """What does not leave the first cache, but for a copy."""
    lanes, cell = target.lanes(32), _aligned(CELLS)
    table, index = _aligned(CELLS // 2), np.random.default_rng(0).integers(0, CELLS // 2, CELLS, np.int32)
    cell[:2] = 0.5
    yield Probe("cycle_seconds", _function(library, "wb_cycle"), ADDITIONS)
    yield Probe("loop_turn_seconds", _function(library, "wb_turn"), 1)
    yield Probe("multiply_add_latency_seconds", _function(library, "wb_waiting", cell), STEPS)
    yield Probe("multiply_add_seconds", _function(library, "wb_multiply_add", cell), chains_of(target))
    yield Probe("division_seconds", _function(library, "wb_division", cell), DIVISIONS)
    gather = _function(library, "wb_gather", table, index, CELLS // lanes * lanes, cell)
    yield Probe("gathered_element_seconds", gather, CELLS // lanes * lanes)
    width = PANEL * lanes
    columns = (target.cache_bytes[1] // ROWS // width | 1) * width  # an odd number: rows do not collide
    matrix, panel = _aligned(ROWS * columns), _aligned(ROWS * width)
    yield Probe("copied_vector_seconds", _function(library, "wb_copy", matrix, ROWS, columns, panel),
                ROWS * columns / lanes)  # fmt: skip


def _of_memory(library: ctypes.CDLL, target: Target) -> Iterator[Probe]:
    """What lines take from each level; a level that a machine has not is what lies behind it."""
    first, second, third = target.cache_bytes
    beyond = min(MOST_BEYOND, BEYOND * max(third, second * target.cores, first * target.cores, 16 << 20))
    unit = 4 * READS * target.lanes(32)
    memory, cell = _aligned(beyond // 4), _aligned(CELLS)
    third = max(2 * second, min(4 * second or third, third // 2)) if third else beyond
    for name, size in {"l1": first // 2, "l2": second // 2 or third, "l3": third, "memory": beyond}.items():
        size = max(1, size // unit) * unit
        call = _function(library, "wb_read", memory, size // (4 * target.lanes(32)), cell)
        yield Probe(f"{name}_bytes_per_second", call, size)
    if target.cores > 1:
        yield _by_all_cores(library, target, memory, unit)
    yield Probe("missed_line_seconds", _walk(library, _ring(beyond, target.line_bytes)), 1)


def _by_all_cores(library: ctypes.CDLL, target: Target, memory: Array, unit: int) -> Probe:
    """Each core reads a part of the memory."""
    cores = target.cores
    part = max(1, 4 * memory.size // cores // unit) * unit
    parts = [memory[n * part // 4 : (n + 1) * part // 4] for n in range(cores)]
    calls = [_function(library, "wb_read", own, part // (4 * target.lanes(32)), _aligned(CELLS)) for own in parts]
    crew = ThreadPoolExecutor(cores)

    def together(count: int) -> None:
        for _ in crew.map(lambda call: call(count), calls):
            pass

    return Probe("all_memory_bytes_per_second", together, part * cores)


def _function(library: ctypes.CDLL, name: str, *given: Array | int) -> Callable[[int], object]:
    """A function of the library with all arguments but the last, which says how often."""
    function = getattr(library, name)
    function.restype = None
    arguments = [ctypes.c_int64(x) if isinstance(x, int) else ctypes.c_void_p(x.ctypes.data) for x in given]

    def call(count: int, keep: object = given) -> object:
        return function(*arguments, ctypes.c_int64(count))

    return call


def _walk(library: ctypes.CDLL, lines: Array) -> Callable[[int], object]:
    """Steps from line to line, each call from where the last one ended: what was just visited is near."""
    library.wb_miss.restype = ctypes.c_void_p
    place = [lines.ctypes.data]

    def call(count: int, keep: object = lines) -> int:
        place[0] = library.wb_miss(ctypes.c_void_p(place[0]), ctypes.c_int64(count))
        return place[0]

    return call


def _ring(size: int, line: int) -> Array:
    """Addresses, one a line of memory: each leads to another line, where no processor would guess, until all were
    visited.
    """
    lines = _aligned(size // 4).view(np.int64).reshape(size // line, line // 8)
    order = np.random.default_rng(0).permutation(len(lines))
    lines[order, 0] = lines.ctypes.data + np.roll(order, -1) * line
    return lines


def _aligned(cells: int) -> Array:
    """Numbers 1.0 (float32) that begin where a page does."""
    found = at_a_page((cells,), np.dtype(np.float32))
    found[:] = 1.0
    return found


def _kernel(made: Schedule, threads: int) -> Callable[[int], object]:
    """A kernel of our own, called so many times."""
    kernel, cells = build(made, threads=threads), made.program.sizes["N"]
    given, out = np.full(cells, 0.5, np.float32), np.empty(cells, np.float32)

    def call(count: int) -> None:
        for _ in range(count):
            kernel(given, out=out)

    return call


def _exponential(target: Target) -> Schedule:
    naive = schedule(operator(_EXPONENTIAL), N=CELLS, R=REPEATED)
    return naive | split("A.1/i", target.lanes(32)) | vectorize("A.1/i_i")

