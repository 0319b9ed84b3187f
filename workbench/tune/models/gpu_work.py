"""What each kernel of a schedule for a GPU has to do, counted: blocks, threads, accesses of warps, operations.

Instances are counted exactly, sectors and turns at the beginning of outer loops, as `coalescing` and `bank_conflicts`
count them.  An access that stays the same along the innermost loops is made once for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod

from workbench import poly
from workbench.codegen import Kernel, generate
from workbench.codegen.cuda.grid.launches import Clear, Launch, Repeat, Step, amount
from workbench.poly.programs.marks import ExecutedBy
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import marked
from workbench.poly.threads.grid import Region, is_thread, on_grid, regions
from workbench.poly.threads.warp_costs import BANK, SECTOR, WARP
from workbench.poly.threads.warps import WarpAccess, warp_accesses
from workbench.records import record
from workbench.schedules import Schedule
from workbench.schedules.kernels.fragment_banks import with_fragments
from workbench.target import Target
from workbench.tune.models.loop_nests import Nest, nests

LOOKED_AT = 1 << 12
"""Instances of a statement whose addresses are enumerated."""

FRAGMENT = 16 * 8 * 16
"""Multiplications of one instruction of the tensor cores."""


@record(slots=True)
class Traffic:
    """One access in all: `requests` of warps, `units` that they cost (sectors, or turns of the banks), and bytes that a
    thread moves at once.
    """

    statement: str
    array: str
    memory: str
    written: bool
    requests: float
    units: float
    wide_bytes: int

    @property
    def average(self) -> float:
        return self.units / max(1.0, self.requests)


@record(slots=True)
class KernelWork:
    """One kernel, as often as it is started in a call: `starts` times `blocks` blocks of `threads` threads.

    `operations` on values of `dtype`, `traffic` and `instances` of all statements are those of all starts together.
    `steps` are the iterations that one thread goes through, `cells` those that are written out in each, `stages` the
    places of tiles that are copied ahead (1: none are), `clears` how often bytes are set to 0 instead.
    """

    name: str
    starts: int
    blocks: int
    threads: int
    shared_bytes: int
    operations: float
    dtype: str
    tensor: bool
    instances: float
    steps: float
    cells: int
    stages: int
    traffic: tuple[Traffic, ...]
    clears: int = 0

    def of(self, memory: str) -> tuple[Traffic, ...]:
        """The accesses to "global" or "shared" memory."""
        return tuple(t for t in self.traffic if t.memory == memory)


@lru_cache(maxsize=64)
def kernel_of(schedule: Schedule, target: Target, *, unchecked: bool = False) -> Kernel:
    """The text of a schedule; asked for its features and to be compiled, it is written once."""
    return generate(schedule, target, unchecked=unchecked)


def kernel_works(schedule: Schedule, target: Target) -> tuple[KernelWork, ...]:
    """The kernels of a schedule all of whose sizes are bound, in the order in which they are started.

    WorkbenchError where no text can be written, or something cannot be counted.
    """
    kernel, program = kernel_of(schedule, target), schedule.program
    tree = on_grid(schedule.tree)
    parts = regions(tree)
    started = list(_started(kernel.launches, dict(kernel.sizes), 1))
    launches = [(step, times, grid) for step, times, grid in started if isinstance(step, Launch)]
    shared = warp_accesses(program, schedule.tree, "shared", LOOKED_AT, first=True)
    outside = warp_accesses(program, schedule.tree, "global", LOOKED_AT, first=True)
    found = (*outside, *with_fragments(program, schedule.tree, shared))
    known = {n.statement.id: n for n in nests(schedule)}
    own = [r.statements for r in parts] if len(parts) == len(launches) else _together(parts, len(launches))
    works = [
        _work(schedule, (step, times, grid), [known[s] for s in ids], found)
        for ids, (step, times, grid) in zip(own, launches, strict=True)
    ]
    clears = sum(times for step, times, _ in started if isinstance(step, Clear))
    return (*works, *([_clearing(clears)] if clears else []))


def _together(parts: tuple[Region, ...], count: int) -> list[tuple[str, ...]]:
    """Statements by kernel, where kernels and parts of the tree are not one to one: all in the first."""
    whole = tuple(s for part in parts for s in part.statements)
    return [whole, *[()] * (count - 1)] if count else []


def _started(steps: tuple[Step, ...], sizes: dict[str, int], times: int) -> Iterator[tuple[Step, int, int]]:
    """(launch or clear, how often it is started, blocks) of each; those of loops of the host as in the first one."""
    for step in steps:
        match step:
            case Repeat():
                lower, upper = amount(step.lower, sizes), amount(step.upper, sizes)
                rounds = max(0, -(-(upper - lower) // step.step))
                if rounds:
                    yield from _started(step.body, {**sizes, step.variable: lower}, times * rounds)
            case Launch():
                yield step, times, prod(max(0, amount(e, sizes)) for e in step.grid)
            case Clear():
                yield step, times, 0


def _work(
    schedule: Schedule, started: tuple[Launch, int, int], own: list[Nest], found: tuple[WarpAccess, ...]
) -> KernelWork:
    launch, times, blocks = started
    program, replaced = schedule.program, {*marked(schedule.tree, ExecutedBy)}
    counts = {n.statement.id: poly.points(program, n.statement.id) for n in own}
    tensor = {n.statement.id for n in own if n.statement.id in replaced}
    traffic = [
        _traffic(a, n, counts[n.statement.id], tensor=n.statement.id in tensor and a.memory == "shared")
        for n in own for a in found if a.statement == n.statement.name
    ]  # fmt: skip
    heaviest = max(own, key=lambda n: counts[n.statement.id] * (1 + n.operations), default=None)
    threads = max(1, times * blocks * launch.threads)
    cells = 1 if heaviest is None else _written_out(heaviest, tensor=bool(tensor))
    instances = float(sum(counts.values()))
    dynamic = launch.shared_bytes if isinstance(launch.shared_bytes, int) else 0
    return KernelWork(
        launch.name, times, blocks, launch.threads, launch.static_bytes + dynamic,
        float(sum(counts[n.statement.id] * n.operations for n in own if n.statement.kind != "initialise")),
        "float32" if heaviest is None else _dtype(schedule, heaviest.statement, tensor=bool(tensor)), bool(tensor),
        instances, instances / threads / cells, cells, _stages(schedule), tuple(traffic),
    )  # fmt: skip


def _clearing(times: int) -> KernelWork:
    return KernelWork("clear", 0, 0, 1, 0, 0.0, "float32", False, 0.0, 0.0, 1, 1, (), times)


def _traffic(access: WarpAccess, nest: Nest, instances: int, *, tensor: bool) -> Traffic:
    """An access in all, from what was looked at of it."""
    if tensor:
        requests = access.requests * instances / FRAGMENT / _fragments_beside(nest, access)
        return Traffic(
            access.statement, access.array, "shared", False, requests, requests * access.average, access.element_bytes
        )
    seen = max(1, sum(x is not None for x in access.lanes))
    lanes = max(seen, min(WARP, prod(x.trip for x in nest.loops if is_thread(x.kind))))
    size = next((a.bytes for a in nest.accesses if a.array == access.array), access.element_bytes)
    requests = instances / lanes / max(1, access.element_bytes // size) / _stays(nest, access)
    return Traffic(
        access.statement, access.array, access.memory, access.kind == "write", requests,
        requests * _units(access, lanes, seen), access.element_bytes,
    )  # fmt: skip


def _units(access: WarpAccess, lanes: int, seen: int) -> float:
    """What an access of a whole warp costs, of which some lanes were looked at: banks take one part of the warp after
    another where lanes move several words, and other lanes touch other sectors.
    """
    if lanes == seen:
        return access.average
    if access.memory == "shared":
        return max(access.average, access.element_bytes / BANK)
    return max(access.average, min(access.average * lanes / seen, lanes * access.element_bytes / SECTOR))


def _stays(nest: Nest, access: WarpAccess) -> int:
    """Iterations for which a register holds what an access got: those along which it stays, of loops that are written
    out and of those around, until one moves it.
    """
    own = [a for a in nest.accesses if a.array == access.array and a.written == (access.kind == "write")]
    count = 1
    for place in range(len(nest.loops) - 1, -1, -1):
        loop, stays = nest.loops[place], bool(own) and all(a.strides[place] == 0 for a in own)
        if loop.kind not in ("serial", "unroll", "vector") or (loop.kind == "serial" and not stays):
            break
        count *= loop.trip if stays else 1
    return count


def _fragments_beside(nest: Nest, access: WarpAccess) -> int:
    """Instructions of a warp that use one fragment: those along which it stays, without its own two halves."""
    own = next((a for a in nest.accesses if a.array == access.array and not a.written), None)
    last = max((n for n, x in enumerate(nest.loops) if is_thread(x.kind)), default=-1)
    inside = range(last + 1, len(nest.loops)) if own is not None else ()
    return max(1, prod(nest.loops[n].trip for n in inside if own is not None and own.strides[n] == 0) // 2)


def _written_out(nest: Nest, *, tensor: bool) -> int:
    """Instances that each iteration of a nest has side by side."""
    last = max((n for n, x in enumerate(nest.loops) if is_thread(x.kind)), default=-1)
    moved = [n for n, x in enumerate(nest.loops) if any(a.written and a.strides[n] != 0 for a in nest.accesses)]
    if tensor:  # the cells of a lane's fragments
        return max(1, prod(nest.loops[n].trip for n in moved if n > last))
    return max(1, prod(x.trip for x in nest.loops if x.kind in ("unroll", "vector")))


def _dtype(schedule: Schedule, own: ProgramStatement, *, tensor: bool) -> str:
    """The type that is computed with; of tensor cores that of the operands."""
    read = [schedule.program.arrays[a.array].dtype.name for a in own.reads if not a.accumulates]
    return read[0] if tensor and read else own.values[0].dtype.name


def _stages(schedule: Schedule) -> int:
    """Places of the tiles that are copied ahead."""
    return max([getattr(step, "stages", 1) for step in schedule.trace], default=1)
