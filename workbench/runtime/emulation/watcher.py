"""One execution of a kernel with a look at every access of memory: arrays far apart, a history for each element."""

from __future__ import annotations

import ctypes
import mmap
import re
from dataclasses import dataclass, field

import numpy as np

from workbench.codegen.cuda.grid.launches import Launch, amount
from workbench.codegen.kernel import Kernel
from workbench.errors import KernelError
from workbench.runtime.arrays.layout import Slot, layout_of
from workbench.runtime.emulation.accesses import elements_by_line
from workbench.runtime.emulation.executing import Execution
from workbench.runtime.emulation.findings import Finding, Watched, array_name, read_findings
from workbench.runtime.emulation.records import Order, RawLaunch, RawRegion, RawWritten
from workbench.runtime.emulation.repetitions import Written
from workbench.runtime.emulation.watched_library import WatchedLibrary
from workbench.runtime.kernels.launch_values import Memory

# A subscript that is wrong should meet nobody else's array.
APART = 64 << 20
PAGE = 4096
# Bits of RawRegion.writable.
WRITABLE, KNOWN = 1, 2
C_BYTES = {
    "float": 4, "double": 8, "int": 4, "unsigned": 4, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2,
    "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8,
}  # fmt: skip


class Stopped(Exception):
    """A launch was given up: what comes after it would say nothing."""


@dataclass
class Place:
    """An array in memory of its own: its first byte, its length, bytes of an element, the address of its history.

    `known` says whether every element has a value from the start.
    """

    low: int
    length: int
    grain: int
    cells: int
    known: bool


@dataclass
class Watcher:
    """Watched executions of a kernel in one order of threads; `run` is what a CompiledKernel calls."""

    kernel: Kernel
    library: WatchedLibrary
    order: Order
    seed: int = 0
    found: list[Finding] = field(default_factory=list)
    stopped: bool = False
    sizes: dict[str, int] = field(default_factory=dict)
    logged: dict[tuple[int, str], set[int]] = field(default_factory=dict)
    written: Written = field(default_factory=Written)

    def run(self, memory: Memory, workers: int) -> None:
        """Execute the launches on copies of the arrays; outputs go back.  One worker does all."""
        del workers
        self.sizes = memory.sizes
        slots = _slots(self.kernel, memory.sizes)
        scene = _Scene(self, memory.status)
        starts = {name: memory.addresses[name] - _span(slot)[0] for name, slot in slots.items()}
        for name, slot in slots.items():
            size = slot.dtype.itemsize
            place = scene.add(name, _span(slot)[1], size, known=_counts(slot), after=size * (self.order == "reverse"))
            ctypes.memmove(place.low, starts[name], place.length)
        for buffer in self.kernel.buffers:
            scene.add(buffer.array, amount(buffer.bytes, memory.sizes), buffer.dtype.bytes, known=False)
        moved = {name: p.low + (_span(slots[name])[0] if name in slots else 0) for name, p in scene.places.items()}
        execution = Execution(
            self.library.handle, 1, self.order, self.seed, scene.before, scene.after, scene.cleared
        )  # fmt: skip
        try:
            execution.run(self.kernel.launches, Memory(moved, memory.scalars, memory.sizes, memory.status))
        except Stopped:
            self.stopped = True
            return
        for name, slot in slots.items():
            if slot.parameter.is_output:
                ctypes.memmove(starts[name], scene.places[name].low, scene.places[name].length)


class _Scene:
    """The memory of one execution, and what its launches did there."""

    def __init__(self, watcher: Watcher, status: int) -> None:
        self.watcher = watcher
        self.status = status
        self.places: dict[str, Place] = {}
        self.maps: list[object] = []
        self.launches = 0
        self.regions: tuple[Watched, ...] = ()
        self.passing: list[object] = []  # what only one launch needs

    def add(self, name: str, length: int, grain: int, *, known: bool, after: int = 0) -> Place:
        """An array in the middle of much nothing, `after` bytes behind a place where wide accesses may begin."""
        low = self._memory(length + 2 * APART, self.maps) + APART + after
        self.places[name] = Place(low, length, grain, self._cells(length, grain, self.maps), known)
        return self.places[name]

    def cleared(self, name: str, length: int) -> None:
        """The first bytes of a buffer have a value: no history says that they have none."""
        place = self.places[name]
        place.known = place.known or length >= place.length
        place.cells = self._cells(place.length, place.grain, self.maps)

    def before(self, step: Launch, raw: RawLaunch) -> None:
        """Tell a launch what it may touch."""
        self.launches += 1
        self.passing.clear()
        rows = [("wb_status", 4, RawRegion(self.status, self.status + 8, 4, None, 0, WRITABLE))]
        for argument in step.arguments:
            if argument.kind in ("array", "workspace"):
                p = self.places[argument.name]
                bits = (WRITABLE if argument.written else 0) | (KNOWN if p.known else 0)
                region = RawRegion(p.low, p.low + p.length, p.grain, p.cells, 0, bits)
                rows.append((argument.name, p.grain, region))
        rows += self._shared(step, raw)
        self.regions = tuple(Watched(name, region.low, size) for name, size, region in rows)
        table = (RawRegion * len(rows))(*[region for _, _, region in rows])
        self.passing.append(table)
        raw.region, raw.regions, raw.serial = table, len(rows), self.launches

    def after(self, step: Launch, raw: RawLaunch) -> None:
        """Collect what was found; Stopped where the launch was given up."""
        watcher = self.watcher
        method = f"executor ({watcher.order})"
        source = watcher.kernel.source
        watcher.found += read_findings(raw, step, source, watcher.library.line, method, self.regions)
        self._log(raw)
        if raw.stopped:
            raise Stopped

    def _log(self, raw: RawLaunch) -> None:
        """Add what each line touched of the arguments, and how much it wrote."""
        names = tuple(own.name for own in self.regions)
        if raw.log_count:
            rows = np.ctypeslib.as_array((ctypes.c_int64 * (3 * raw.log_count)).from_address(raw.log)).reshape(-1, 3)
            for key, elements in elements_by_line(rows, self.watcher.library.line, names).items():
                self.watcher.logged.setdefault(key, set()).update(elements)
        kept = (raw.written_count * RawWritten).from_address(raw.written) if raw.written_count else ()
        for own in kept:
            line, array = self.watcher.library.line(own.site), array_name(own.array, names, self.watcher.kernel.source)
            self.watcher.written.add(line, array, own.elements, raw)
        self.watcher.library.handle.wb_cpu_forget(ctypes.byref(raw))

    def _shared(self, step: Launch, raw: RawLaunch) -> list[tuple[str, int, RawRegion]]:
        """Constants, and the shared arrays; what is dynamic comes last."""
        library = self.watcher.library
        rows = [("", 1, RawRegion(low, high, 1, None, 0, 0)) for low, high in library.constants]
        for name, low, length in library.shared(step.name):
            grain = _grain(self.watcher.kernel.source, name)
            cells = self._cells(length, grain, self.passing)
            rows.append((name, grain, RawRegion(low, low + length, grain, cells, 1, WRITABLE)))
        length = raw.shared_bytes
        low = self._memory(length + 2 * APART, self.passing) + APART
        cells = self._cells(length, 1, self.passing)
        rows.append(("", 1, RawRegion(low, low + length, 1, cells, 1, WRITABLE)))
        return rows

    def _cells(self, length: int, grain: int, keep: list[object]) -> int:
        return self._memory((length // grain + 2) * self.watcher.library.cell_bytes, keep)

    def _memory(self, length: int, keep: list[object]) -> int:
        """The address of zeros that cost nothing until they are touched; they live as long as they are in `keep`."""
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
        try:
            block = mmap.mmap(-1, max(length, PAGE), flags=flags)
        except (OSError, OverflowError) as error:
            raise KernelError(f"no memory to watch a kernel with, {length:,} bytes: {error}") from error
        keep.append(block)
        return ctypes.addressof(ctypes.c_char.from_buffer(block))


def _grain(source: str, name: str) -> int:
    """Bytes of an element of a shared array, as its declaration says; 1 where that is not plain."""
    found = re.search(rf"__shared__ (?:__align__\(\d+\) )?(\w+) {re.escape(name)}\s*[\[;]", source)
    return C_BYTES.get(found[1], 1) if found else 1


def _slots(kernel: Kernel, sizes: dict[str, int]) -> dict[str, Slot]:
    layout = layout_of(kernel.signature, sizes)
    return {s.parameter.name: s for s in (*layout.inputs, *layout.outputs) if s is not None}


def _counts(slot: Slot) -> bool:
    """Whether what an array holds before the call counts."""
    return not slot.parameter.is_output or slot.parameter.role == "inout" or slot.parameter.zero_fill


def _span(slot: Slot) -> tuple[int, int]:
    """(bytes before the first element, bytes in all) of what an array reaches."""
    if not all(slot.shape):
        return 0, 0
    reach = [(n - 1) * stride for n, stride in zip(slot.shape, slot.strides, strict=True)]
    below = -sum(r for r in reach if r < 0)
    return below, below + sum(r for r in reach if r > 0) + slot.dtype.itemsize
