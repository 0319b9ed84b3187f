"""What a kernel takes on a GPU, by a model alone: the roofs of a data sheet, as far as resident warps can reach them.

Arithmetic, instructions, banks, the first cache, the second and memory each have a roof (Williams et al. 2009); how
near to it a kernel comes depends on the warps that are there to hide one another's waiting (Hong and Kim 2009; Volkov
2016).  No measurement stands behind the numbers that the model assumes: its seconds rank schedules of one problem, and
promise nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from workbench.errors import BuildError
from workbench.records import record
from workbench.schedules import Schedule
from workbench.schedules.analysis.gpu_reports import resident
from workbench.target import Target
from workbench.target_gpus import Gpu
from workbench.tune.models.gpu_work import FRAGMENT, KernelWork, kernel_works

SCHEDULERS = 4
"""Warps of a multiprocessor that begin an instruction in one cycle (since Maxwell)."""

LINE_BYTES, CACHE_BYTES = 128, 32
"""Bytes a cycle of a multiprocessor from its first cache, and its share of what the second one gives."""

MEMORY_CYCLES, CACHE_CYCLES, SHARED_CYCLES, ARITHMETIC_CYCLES = 600, 270, 30, 4
"""Cycles until memory, the second cache, shared memory and an operation answer (Jia et al. 2018, 2019, for Volta and
Turing; Luo et al. 2024 for Hopper: within a fifth)."""

AT_ONCE = 4
"""Independent accesses or operations of a thread that are under way together: so many iterations are written out."""

MOST_AT_ONCE = 16
"""The same where more cells are written out: registers end it."""

START_SECONDS = 2.5e-6
"""Between the starts of two kernels in one stream."""

AGAIN = 0.15
"""Of what does not fit the second cache, so much comes from memory again at each use: blocks side by side share it."""

SPILLED = 8
"""Times that a spilled register is used."""

BASE_REGISTERS = 40


@record(slots=True)
class KernelTime:
    """Seconds of one start of a kernel, and of each roof alone; `by` names the highest, `occupancy` is the share of the
    warps that are resident.
    """

    name: str
    starts: int
    seconds: float
    roofs: Mapping[str, float]
    registers: int
    spilled_bytes: int
    blocks: int
    occupancy: float

    @property
    def by(self) -> str:
        """What takes most of it."""
        return max(self.roofs, key=lambda name: self.roofs[name], default="start")


@record(slots=True)
class Registers:
    """Registers of a thread, and bytes that were spilled, as a compiler said, or `guessed`."""

    count: int
    spilled_bytes: int = 0
    guessed: bool = False


def kernel_times(
    schedule: Schedule, target: Target, compiled: Mapping[str, Registers] | None = None
) -> tuple[KernelTime, ...]:
    """The model's times of a schedule's kernels; registers as they were `compiled` by kernel, else guessed.

    BuildError for a kernel of which not one block fits a multiprocessor; WorkbenchError where something cannot be
    counted.
    """
    gpu = target.device
    sizes = {name: _bytes(schedule, name) for name in schedule.program.arrays}
    works = kernel_works(schedule, target)
    return tuple(_time(w, gpu, (compiled or {}).get(w.name) or _guess(w, gpu), sizes) for w in works)


def total_seconds(times: tuple[KernelTime, ...]) -> float:
    """Seconds of a call."""
    return sum(t.starts * t.seconds for t in times)


def _bytes(schedule: Schedule, name: str) -> float:
    """Bytes of an array of the program; without end where that is not known."""
    cells = 1.0
    array = schedule.program.arrays[name]
    for extent in array.extent[array.times :]:
        cells *= getattr(extent, "value", None) or float("inf")
    return cells * array.dtype.bytes


def _guess(work: KernelWork, gpu: Gpu) -> Registers:
    """Registers for indices, and for the cells that are written out."""
    return Registers(min(gpu.thread_registers, BASE_REGISTERS + work.cells + work.cells // 2), guessed=True)


def _time(work: KernelWork, gpu: Gpu, registers: Registers, sizes: Mapping[str, float]) -> KernelTime:
    if not work.blocks or not work.starts:
        return KernelTime(work.name, max(work.starts, work.clears), START_SECONDS, {}, 0, 0, 0, 0.0)
    most, limit = resident(gpu, work.threads, registers.count, work.shared_bytes)
    if most == 0 and registers.guessed:  # a compiler would spill
        registers = replace(registers, count=gpu.registers // (work.threads + 1) // 8 * 8)
        most, limit = resident(gpu, work.threads, registers.count, work.shared_bytes)
    if most == 0:
        raise BuildError(f"{work.name}: no block of it fits a multiprocessor of {gpu.name}: {limit}")
    warps = ceil(work.threads / gpu.warp_threads)
    side_by_side = min(most, ceil(work.blocks / gpu.multiprocessors))
    roofs = _roofs(work, gpu, registers, sizes, side_by_side * warps)
    inside = max(roofs[name] for name in ("arithmetic", "instructions", "banks", "first cache"))
    outside = max(roofs[name] for name in ("second cache", "memory"))
    apart = 1 / (side_by_side * work.stages)  # one block alone, whose copies wait, does one after the other
    busy = max(inside, outside) + apart * min(inside, outside)
    rounds = ceil(work.blocks / (gpu.multiprocessors * most))
    roofs["waiting"] = rounds * _chain(work, gpu)
    seconds = START_SECONDS + max(busy, roofs["waiting"])
    share = most * warps / gpu.warps
    return KernelTime(
        work.name, work.starts, seconds, roofs, registers.count, registers.spilled_bytes, most, min(1.0, share)
    )


def _roofs(
    work: KernelWork, gpu: Gpu, registers: Registers, sizes: Mapping[str, float], warps: int
) -> dict[str, float]:
    """Seconds that each part of one start would take alone, with so many warps on a multiprocessor."""
    clock, starts = gpu.clock_mhz * 1e6, work.starts
    each = ceil(work.blocks / gpu.multiprocessors) / work.blocks  # of all blocks, on the fullest multiprocessor
    hidden = min(1.0, warps * min(AT_ONCE, work.cells) / (SCHEDULERS * ARITHMETIC_CYCLES))
    inside, outside = work.of("shared"), work.of("global")
    requests = sum(t.requests for t in (*inside, *outside)) / starts
    sectors = sum(t.units for t in outside) / starts
    instructions = _instructions(work) / starts + requests
    spilled = registers.spilled_bytes * work.threads * work.blocks * SPILLED
    peak = _peak(work, gpu) / gpu.multiprocessors
    moved = sectors * gpu.sector_bytes
    reach = min(1.0, _under_way(work, warps) * clock / MEMORY_CYCLES / (gpu.bandwidth_gbs * 1e9 / gpu.multiprocessors))
    near = min(1.0, _under_way(work, warps) / CACHE_CYCLES / CACHE_BYTES)
    filled = min(1.0, work.blocks / gpu.multiprocessors)
    return {
        "arithmetic": work.operations / starts * each / peak / hidden,
        "instructions": instructions * each / (SCHEDULERS * clock) / hidden,
        "banks": sum(t.units for t in inside) / starts * each / clock,
        "first cache": (moved + spilled) * each / (LINE_BYTES * clock),
        "second cache": moved / (gpu.multiprocessors * CACHE_BYTES * clock) / (near * filled),
        "memory": _from_memory(work, gpu, sizes) / (gpu.bandwidth_gbs * 1e9) / (reach * filled),
    }


def _instructions(work: KernelWork) -> float:
    """Instructions of warps besides accesses: half an operation each (multiply and add), and two an iteration."""
    lanes = min(32, work.threads)
    if work.tensor:
        return work.operations / 2 / FRAGMENT
    return work.operations / 2 / lanes + 2 * work.instances / work.cells / lanes


def _peak(work: KernelWork, gpu: Gpu) -> float:
    """Operations a second on values of the kernel's type."""
    wanted = f"{work.dtype} tensor" if work.tensor else work.dtype
    usual = gpu.peak("float32") or 1.0
    return 1e12 * (gpu.peak(wanted) or (usual / 2 if "int" in work.dtype else usual))


def _under_way(work: KernelWork, warps: int) -> float:
    """Bytes that a multiprocessor has asked for and not got: what its warps wait for, and copies ahead of their use."""
    outside = [t for t in work.of("global") if not t.written] or [*work.of("global")]
    requests = sum(t.requests for t in outside)
    wide = sum(t.requests * t.wide_bytes for t in outside) / requests if requests else 4.0
    return max(1.0, warps * 32 * wide * min(AT_ONCE, max(2, len(outside))) * max(1, work.stages - 1))


def _from_memory(work: KernelWork, gpu: Gpu, sizes: Mapping[str, float]) -> float:
    """Bytes that one start has from memory, and writes there."""
    total = 0.0
    for name in {t.array for t in work.of("global")}:
        moved = sum(t.units for t in work.of("global") if t.array == name) * gpu.sector_bytes / work.starts
        size = min(sizes.get(name, moved), moved)
        total += size if size <= gpu.l2_bytes / 2 else size + AGAIN * (moved - size)
    return total


def _chain(work: KernelWork, gpu: Gpu) -> float:
    """Seconds that one thread takes for its iterations one after another."""
    outside = sum(t.requests for t in work.of("global") if not t.written)
    inside = sum(t.requests for t in work.of("shared") if not t.written)
    warps = max(1.0, work.starts * work.blocks * ceil(work.threads / gpu.warp_threads))
    at_once = min(MOST_AT_ONCE, max(AT_ONCE, work.cells))
    cycles = (outside * CACHE_CYCLES / work.stages + inside * SHARED_CYCLES) / warps
    return (cycles / at_once + ARITHMETIC_CYCLES * work.steps) / (gpu.clock_mhz * 1e6)
