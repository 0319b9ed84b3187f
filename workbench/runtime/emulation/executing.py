"""The steps of a kernel's launches, one after another, on a processor."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from threading import Thread

from workbench.codegen.cuda.grid.launches import Clear, Launch, Repeat, Step, amount
from workbench.errors import KernelError
from workbench.records import record
from workbench.runtime.emulation.records import ORDERS, Order, RawLaunch
from workbench.runtime.kernels.launch_values import Memory, ctypes_value

# Fewer threads in all are not worth another worker.
WORTH_A_WORKER = 2048
MOST_THREADS = 1024

Watcher = Callable[[Launch, RawLaunch], None]


@record(slots=True)
class Execution:
    """How launches are executed: the library, workers, the order of threads, and who looks at what was found.

    `before` and `after` are called around each launch with the filled structure.
    """

    library: ctypes.CDLL
    workers: int = 1
    order: Order = "forward"
    seed: int = 0
    before: Watcher | None = None
    after: Watcher | None = None
    cleared: Callable[[str, int], None] | None = None

    def run(self, steps: Sequence[Step], memory: Memory) -> None:
        """Execute the steps in order; KernelError where a launch cannot be, or `after` raises."""
        for step in steps:
            match step:
                case Clear():
                    self._clear(step, memory)
                case Launch():
                    self._launch(step, memory)
                case Repeat():
                    for number in range(amount(step.lower, memory.sizes), amount(step.upper, memory.sizes), step.step):
                        inner = {**memory.sizes, step.variable: number}
                        self.run(step.body, Memory(memory.addresses, memory.scalars, inner, memory.status))

    def _clear(self, step: Clear, memory: Memory) -> None:
        count = amount(step.bytes, memory.sizes)
        ctypes.memset(memory.addresses[step.array], 0, count)
        if self.cleared is not None:
            self.cleared(step.array, count)

    def _launch(self, step: Launch, memory: Memory) -> None:
        grid = tuple(amount(extent, memory.sizes) for extent in step.grid)
        if min(grid) <= 0 or step.threads <= 0:
            return
        if step.threads > MOST_THREADS:
            raise KernelError(f"{step.name}: a block of {step.threads:,} threads; a GPU has at most {MOST_THREADS:,}")
        values = [ctypes_value(argument, memory) for argument in step.arguments]
        pointers = (ctypes.c_void_p * (len(values) + 1))(*[ctypes.addressof(v) for v in values])
        enter = getattr(self.library, f"wb_cpu_enter_{step.name}")
        raw = RawLaunch(
            ctypes.cast(enter, ctypes.c_void_p).value, ctypes.addressof(pointers), grid, step.block,
            max(0, amount(step.shared_bytes, memory.sizes)), 0, self.seed, ORDERS.index(self.order),
        )  # fmt: skip
        if self.before is not None:
            self.before(step, raw)
        blocks = grid[0] * grid[1] * grid[2]
        self._work(raw, min(self.workers, blocks, 1 + blocks * step.threads // WORTH_A_WORKER), step.name)
        if self.after is not None:
            self.after(step, raw)

    def _work(self, raw: RawLaunch, workers: int, name: str) -> None:
        """Execute all blocks on as many threads of the operating system."""
        failed: list[int] = []

        def work() -> None:
            if self.library.wb_cpu_run(ctypes.byref(raw)):
                failed.append(1)

        others = [Thread(target=work, name=f"{name}-{n}") for n in range(workers - 1)]
        for other in others:
            other.start()
        work()
        for other in others:
            other.join()
        if len(failed) == workers:
            raise KernelError(f"{name}: no memory for the stacks of a block's threads")
