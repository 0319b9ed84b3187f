"""What a schedule asks of a GPU: warps' accesses in sectors, shared memory in turns, blocks on a multiprocessor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench import poly
from workbench.errors import ScheduleError, shown, unknown_name
from workbench.poly.programs.tree import Tree
from workbench.poly.threads.grid import Region, on_grid, regions
from workbench.poly.threads.thread_cells import in_registers
from workbench.poly.threads.warps import WarpAccess, block_of, memory_of, warp_accesses
from workbench.records import record
from workbench.schedules.kernels.fragment_banks import with_fragments
from workbench.target import Target
from workbench.target_gpus import GPUS, Gpu

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule

BASE_REGISTERS = 32
"""Registers of a thread for indices, pointers and values on their way, where nobody counted them."""


@record
class WarpReport:
    """The accesses of warps to one kind of memory; `unit` is what one of them costs: "sectors" or "turns"."""

    accesses: tuple[WarpAccess, ...]
    unit: str

    @property
    def worst(self) -> int:
        """What the costliest access of a warp costs; for shared memory the degree of the bank conflict."""
        return max((a.worst for a in self.accesses), default=0)

    @property
    def efficiency(self) -> float:
        """What the same bytes would cost side by side, as a share of what they do; 1 without accesses."""
        return (
            sum(a.least for a in self.accesses) / max(1, sum(a.units for a in self.accesses)) if self.accesses else 1.0
        )

    def __str__(self) -> str:
        head = ("statement", "access", "of warps", self.unit, "worst", "efficiency")
        rows = [
            (a.statement, f"{'reads' if a.kind == 'read' else 'writes'} {a.text}",
             f"{a.requests}{'' if a.complete else ' (some)'}", f"{a.average:.2f}", str(a.worst), f"{a.efficiency:.0%}")
            for a in self.accesses
        ]  # fmt: skip
        return _table(head, rows) if rows else f"no access that is known beforehand ({self.unit})"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Columns under their heads, words to the left and numbers to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    words = [not any(row[i][:1].isdigit() for row in rows) for i in range(len(head))]

    def line(row: tuple[str, ...]) -> str:
        cells = (c.ljust(w) if left else c.rjust(w) for c, w, left in zip(row, widths, words, strict=True))
        return "  ".join(cells).rstrip()

    return "\n".join(line(row) for row in (head, *rows))


def coalescing(schedule: Schedule, /) -> WarpReport:
    """Sectors of 32 bytes that the accesses of warps to global memory touch.

    Exact: addresses are enumerated from the access relations, arrays begin on sectors.  Four sectors are 32
    neighbouring floats.  Sizes must be bound (LoweringError); gathers, whose cells data decide, are left out.
    """
    return _report(schedule, "global")


def bank_conflicts(schedule: Schedule, /) -> WarpReport:
    """Turns that the 32 banks of shared memory take for the accesses of warps: 1 is free of conflicts, 32 the worst.

    Exact, as `coalescing` is, on the storage that buffers get in this order.  Of what a warp's instruction loads one
    fragment is looked at.
    """
    return _report(schedule, "shared")


def _report(schedule: Schedule, memory: str) -> WarpReport:
    if not hasattr(schedule, "tree"):
        raise ScheduleError(
            f"expected a Schedule, as wb.autoschedule(op, 'cuda', M=64) makes it, not {shown(schedule)}"
        )
    if memory == "global":
        return WarpReport(warp_accesses(schedule.program, schedule.tree, "global"), "sectors")
    found = warp_accesses(schedule.program, schedule.tree, "shared")
    return WarpReport(with_fragments(schedule.program, schedule.tree, found), "turns")


@record
class KernelOccupancy:
    """How many blocks of one kernel fit a multiprocessor, and what ends it.

    `threads` of a block, `registers` of a thread (`estimated` if nobody counted them), `shared_bytes` of a block;
    `blocks` and `warps` resident at once; `limit` names what is used up first; `share` of the warps that could be.
    """

    kernel: str
    threads: int
    registers: int
    estimated: bool
    shared_bytes: int
    blocks: int
    warps: int
    share: float
    limit: str


@record
class Occupancy:
    """The kernels of a schedule on one GPU."""

    gpu: Gpu
    kernels: tuple[KernelOccupancy, ...]

    def __str__(self) -> str:
        head = ("kernel", "threads", "registers", "shared bytes", "blocks", "warps", "occupancy", "limited by")
        rows = [
            (k.kernel, str(k.threads), f"{k.registers}{' (guess)' if k.estimated else ''}", str(k.shared_bytes),
             str(k.blocks), str(k.warps), f"{k.share:.0%}", k.limit)
            for k in self.kernels
        ]  # fmt: skip
        return f"on each multiprocessor of {self.gpu.name}\n{_table(head, rows)}"


def occupancy(
    schedule: Schedule, /, target: str | Target = "a100", *, registers: int | Mapping[str, int] | None = None
) -> Occupancy:
    """Blocks and warps that are on a multiprocessor at once, for every kernel.

    Threads and shared memory are exact; `registers` of a thread are given (for all kernels, or by name of the kernel's
    last statement), or guessed.  Sizes must be bound (LoweringError).
    """
    gpu = _gpu(target)
    tree = on_grid(schedule.tree)
    return Occupancy(gpu, tuple(_of(schedule, tree, r, gpu, registers) for r in regions(tree) if r.loops))


def _gpu(target: str | Target) -> Gpu:
    if isinstance(target, Target):
        return target.device
    if target == "cuda":
        return Target("cuda").device
    if target not in GPUS:
        raise ScheduleError(unknown_name("GPU", target, list(GPUS)))
    return GPUS[target]


def _of(
    schedule: Schedule, tree: Tree, region: Region, gpu: Gpu, registers: int | Mapping[str, int] | None
) -> KernelOccupancy:
    program = schedule.program
    stored = {s.array.name: s for s in poly.storage_of(program, tree)}
    used = {a.array for i in region.statements for a in program.statement(i).accesses}
    where = {name: memory_of(program, tree, stored, name) for name in used & {*stored}}
    shared = sum(-(-(stored[n].bytes or 0) // 16) * 16 for n, memory in where.items() if memory == "shared")
    name = program.statement(region.statements[-1]).name
    threads = block_of(program, tree, region.statements).threads
    divided = {n for n, memory in where.items() if memory == "thread" and in_registers(program, tree, stored[n])}
    bytes_of = {n: (stored[n].bytes or 0) // (threads if n in divided else 1) for n in where}
    own = sum(bytes_of[n] // 4 for n, memory in where.items() if memory == "thread")
    given = registers.get(name) if isinstance(registers, Mapping) else registers
    count = min(gpu.thread_registers, BASE_REGISTERS + own) if given is None else given
    blocks, limit = resident(gpu, threads, count, shared)
    warps = blocks * -(-threads // gpu.warp_threads)
    return KernelOccupancy(name, threads, count, given is None, shared, blocks, warps, warps / gpu.warps, limit)


def resident(gpu: Gpu, threads: int, registers: int, shared_bytes: int) -> tuple[int, str]:
    """Blocks on a multiprocessor at once, and what ends it; 0 where not even one fits.

    Registers are given out by warp in units of 256, warps in groups of four; shared memory in units of 128 bytes.
    """
    if threads > gpu.block_threads:
        return 0, f"a block has at most {gpu.block_threads} threads"
    if shared_bytes > gpu.block_shared_bytes:
        return 0, f"a block has at most {gpu.block_shared_bytes} bytes of shared memory"
    warps = -(-threads // gpu.warp_threads)
    limits = {"blocks": gpu.blocks, "warps": gpu.warps // warps}
    unit = -(-max(1, registers) * gpu.warp_threads // gpu.register_unit) * gpu.register_unit
    limits["registers"] = gpu.registers // unit // 4 * 4 // warps if registers <= gpu.thread_registers else 0
    if shared_bytes:
        taken = -(-(shared_bytes + gpu.reserved_shared_bytes) // gpu.shared_unit) * gpu.shared_unit
        limits["shared memory"] = gpu.shared_bytes // taken
    least = min(limits.values())
    return least, next(name for name, number in limits.items() if number == least)
