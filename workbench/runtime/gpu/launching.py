"""The launches of a kernel carried out by a driver, with exact arguments."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.codegen.cuda.grid.launches import Clear, Launch, Repeat, Step, amount, each_launch
from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError, KernelError, WorkbenchError
from workbench.runtime.gpu.drivers.direct_calls import FREE_SHARED_BYTES
from workbench.runtime.gpu.drivers.driver import Device, Driver, DriverError, Extents, Value, plain_address
from workbench.runtime.gpu.drivers.failures import driver_failure
from workbench.runtime.kernels.launch_values import Memory, ctypes_value

STATUS_BYTES = 8
MOST_BLOCKS = (2**31 - 1, 65_535, 65_535)


@dataclass(frozen=True, slots=True)
class Start:
    """One launch with everything in place; or, without a function, `size` bytes at `address` that become 0."""

    name: str
    function: Any
    grid: Extents
    block: Extents
    shared_bytes: int
    values: tuple[Value, ...]
    address: int | ctypes.c_void_p = 0
    size: int = 0


def has_status(kernel: Kernel) -> bool:
    """Whether the kernel may find an index out of range."""
    return any(a.kind == "status" for launch in each_launch(kernel.launches) for a in launch.arguments)


def kernel_starts(steps: Sequence[Step], functions: Mapping[str, Any], memory: Memory) -> Iterator[Start]:
    """What the steps come to for given arguments, in order."""
    for step in steps:
        match step:
            case Clear():
                size = amount(step.bytes, memory.sizes)
                if size > 0:
                    yield Start(step.array, None, (0, 0, 0), (0, 0, 0), 0, (), memory.addresses[step.array], size)
            case Launch():
                yield from _launch(step, functions, memory)
            case Repeat():
                numbers = range(amount(step.lower, memory.sizes), amount(step.upper, memory.sizes), step.step)
                for number in numbers:
                    inner = replace(memory, sizes={**memory.sizes, step.variable: number})
                    yield from kernel_starts(step.body, functions, inner)


def _launch(step: Launch, functions: Mapping[str, Any], memory: Memory) -> Iterator[Start]:
    x, y, z = (amount(extent, memory.sizes) for extent in step.grid)
    if min(x, y, z) <= 0 or step.threads <= 0:
        return
    for axis, blocks, most in zip("xyz", (x, y, z), MOST_BLOCKS, strict=True):
        if blocks > most:
            raise KernelError(f"{step.name}: {blocks:,} blocks along {axis}; CUDA starts at most {most:,}")
    shared = max(0, amount(step.shared_bytes, memory.sizes))
    values = tuple(ctypes_value(argument, memory) for argument in step.arguments)
    yield Start(step.name, functions[step.name], (x, y, z), step.block, shared, values)


def begin(driver: Driver, start: Start, stream: int) -> None:
    """Carry it out.  KernelError, named, if the driver refuses."""
    if start.function is None:
        driver.clear(plain_address(start.address), start.size, stream)
        return
    if start.shared_bytes > FREE_SHARED_BYTES:
        driver.allow_shared(start.function, start.shared_bytes)
    try:
        driver.launch(start.function, start.grid, start.block, start.shared_bytes, stream, start.values)
    except DriverError as error:
        raise _refused(driver, start, error) from error


def _refused(driver: Driver, start: Start, error: DriverError) -> WorkbenchError:
    """What the driver said of a launch, with its size."""
    blocks, threads = (" x ".join(map(str, extents)) for extents in (start.grid, start.block))
    size = f"{blocks} blocks of {threads} threads with {start.shared_bytes:,} bytes of dynamic shared memory"
    return driver_failure(error, f"{start.name} ({size}) on {driver.device.name}")


def sequence(driver: Driver, steps: Sequence[Start]) -> Callable[[int], None]:
    """A function of a stream that begins all the steps, with what their values hold by then.

    The context need not be entered.  A driver that is quicker when it knows them beforehand has a method of that name.
    """
    own = getattr(driver, "sequence", None)
    quick: Callable[[int], None] | None = None if own is None else own(steps)

    def begin_quickly(stream: int) -> None:
        assert quick is not None
        try:
            quick(stream)
        except DriverError as error:
            raise _refused(driver, steps[error.step], error) from error

    def begin_all(stream: int) -> None:
        with driver.entered():
            for step in steps:
                begin(driver, step, stream)

    return begin_all if quick is None else begin_quickly


def refuse_too_large(kernel: Kernel, device: Device) -> None:
    """BuildError if a launch can never be on this GPU."""
    for launch in each_launch(kernel.launches):
        what = f"kernel {launch.name!r}, made for {kernel.target.name},"
        if launch.threads > device.block_threads:
            limit = f"{device.name} has at most {device.block_threads:,} in one"
            raise BuildError(f"{what} has blocks of {launch.threads:,} threads; {limit}")
        dynamic = launch.shared_bytes if isinstance(launch.shared_bytes, int) else 0
        if (shared := launch.static_bytes + dynamic) > device.block_shared_bytes:
            limit = f"{device.name} gives one at most {device.block_shared_bytes:,}"
            raise BuildError(f"{what} needs {shared:,} bytes of shared memory in a block; {limit}")
