"""`GpuKernel`: a kernel on the GPU that is called with arrays of NumPy, or with arrays that lie there already."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from workbench.codegen.cuda.grid.launches import amount
from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError
from workbench.runtime.arrays.layout import Layout, Slot
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.gpu.drivers.driver import Driver, DriverError
from workbench.runtime.gpu.drivers.failures import driver_failure
from workbench.runtime.gpu.launching import STATUS_BYTES, begin, has_status, kernel_starts
from workbench.runtime.gpu.loading import Loaded
from workbench.runtime.gpu.memory import arena_of
from workbench.runtime.gpu.repeated_calls import RepeatedCalls
from workbench.runtime.gpu.staging import download, upload
from workbench.runtime.gpu.views import is_on_device
from workbench.runtime.kernels.border import Border
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.runtime.kernels.launch_values import Memory

if TYPE_CHECKING:
    from workbench.certificates import Certificate


class GpuKernel(CompiledKernel):
    """A CompiledKernel whose arrays may lie on the GPU: then nothing is copied, and results lie there too.

    Arrays of NumPy are copied there and back through page-locked memory.  Arrays of PyTorch, CuPy, JAX, or anything
    with DLPack or `__cuda_array_interface__` are used where they are, in C order (others are copied on the GPU);
    results come from the library of the first such argument, and the work is on that library's current stream: it
    has only begun when the call returns, unless indices in data have to be checked.
    """

    def __init__(
        self, kernel: Kernel, driver: Driver, loaded: Loaded, notes: Sequence[str] = (), *, isolated: bool = False
    ) -> None:
        self.driver = driver
        self.isolated = isolated
        self.loaded = loaded
        nobody = cast(Toolchain, None)  # C compilers have no part in it
        border = Border(None, self._plain, self._repeated)
        super().__init__(kernel, border, Path(loaded.architecture), nobody, notes)
        self._again = RepeatedCalls(self)

    @property
    def resources(self) -> Any:
        """Registers, spills, shared memory and occupancy on this GPU's architecture."""
        from workbench.runtime.compilers.gpu_compiling import gpu_resources

        return gpu_resources(self.kernel, self.loaded.architecture)

    @cached_property
    def certificate(self) -> Certificate:
        raise BuildError(f"{self.name}: certificates are about C; wb.certify(schedule) gives that of the schedule")

    def __call__(self, *arrays: Any, out: Any = None, **scalars: Any) -> Any:
        found = self._again(arrays, scalars, out)
        if found is not None:
            return found
        outputs = out if isinstance(out, tuple | list) else (out,)
        if any(is_on_device(value, self.driver) for value in (*arrays, *scalars.values(), *outputs)):
            call = self.prepared(*arrays, out=out, **scalars)
            result = call()
            self._again.remember(call, arrays, scalars, out)
            return result
        if self.isolated:
            return self.apart(*arrays, out=out, **scalars)
        return super().__call__(*arrays, out=out, **scalars)

    def prepared(self, *arrays: Any, out: Any = None, **scalars: Any) -> Any:
        """The call with all arguments on the GPU, to be made many times: `call()` launches and gives the results.

        Arrays of NumPy are copied there now.
        """
        from workbench.runtime.gpu.device_call import DeviceCall

        with self.named_errors():
            return DeviceCall(self, arrays, out, scalars)

    def apart(self, *arrays: Any, out: Any = None, seconds: float = 60.0, **scalars: Any) -> Any:
        """The call in a process of its own, with arrays of NumPy: if the kernel crashes there, this process keeps its
        GPU.  KernelError if it does, or takes longer than `seconds`."""
        from workbench.runtime.gpu.apart import run_apart

        return run_apart(self.kernel, arrays, out, scalars, seconds)

    def synchronize(self) -> None:
        """Wait for all that was begun on the GPU; KernelError, named, if something failed there."""
        with self.named_errors():
            self.driver.synchronize_all()

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """The context is entered; what CUDA refuses is an error of the workbench."""
        try:
            with self.driver.entered():
                yield
        except DriverError as error:
            raise driver_failure(error, f"{self.name} on {self.driver.device.name}") from error

    def _plain(self, data: Any, values: Any, symbols: int, threads: int) -> int:
        """A call on arrays of the host: their addresses, scalars and sizes."""
        return self._repeated(data, values, symbols, threads, 1)

    def _repeated(self, data: Any, values: Any, symbols: int, threads: int, times: int) -> int:
        names = self.signature.symbols
        numbers = (ctypes.c_int64 * len(names)).from_address(symbols) if names else ()
        sizes = {**self.kernel.sizes, **dict(zip(names, numbers, strict=True))}
        layout = self.layout(sizes)
        slots = [(data[n] or 0, slot) for n, slot in enumerate((*layout.inputs, *layout.outputs))]
        scalars = {p.name: values[n] for n, p in enumerate(self.signature.inputs) if p.by_value}
        with self.named_errors(), ExitStack() as stack:
            places = {s.parameter.name: self._copied(stack, at, s) for at, s in slots if s is not None}
            places |= self._workspace(stack, sizes)
            status = 0
            for _ in range(times):
                status = status or self._run(places, scalars, sizes)
            if not status:  # after a refusal the caller's arrays stay as they are
                self._fetched(slots, places)
        return status

    def _copied(self, stack: ExitStack, at: int, slot: Slot) -> int:
        """The device's address of an array of the host; its values are there if the kernel may see them."""
        low, size = _span(slot)
        place = stack.enter_context(arena_of(self.driver).lent(size))
        if slot.parameter.role != "output" or slot.parameter.zero_fill or size > _dense_bytes(slot):
            upload(self.driver, place, _bytes_at(at + low, size))
        return place - low

    def _fetched(self, slots: list[tuple[int, Slot | None]], places: dict[str, int]) -> None:
        for at, slot in slots:
            if slot is not None and slot.parameter.is_output:
                low, size = _span(slot)
                download(self.driver, _bytes_at(at + low, size), places[slot.parameter.name] + low)

    def _workspace(self, stack: ExitStack, sizes: dict[str, int]) -> dict[str, int]:
        if not self.kernel.buffers:
            return {}
        start = stack.enter_context(arena_of(self.driver).lent(self.workspace_bytes(sizes)))
        return self.buffers_at(start, sizes)

    def workspace_bytes(self, sizes: dict[str, int]) -> int:
        """Bytes of the temporaries."""
        ends = [amount(b.offset, sizes) + amount(b.bytes, sizes) for b in self.kernel.buffers]
        return max(ends, default=0)

    def buffers_at(self, start: int, sizes: dict[str, int]) -> dict[str, int]:
        """Where each temporary is in a workspace."""
        return {b.array: start + amount(b.offset, sizes) for b in self.kernel.buffers}

    def _run(self, places: dict[str, int], scalars: dict[str, int], sizes: dict[str, int]) -> int:
        driver = self.driver
        with ExitStack() as stack:
            words = 0
            if has_status(self.kernel):
                words = stack.enter_context(arena_of(driver).lent(STATUS_BYTES))
                driver.clear(words, STATUS_BYTES, driver.stream)
            memory = Memory(places, scalars, sizes, words)
            for start in kernel_starts(self.kernel.launches, self.loaded.functions, memory):
                begin(driver, start, driver.stream)
            return self.status_at(words)

    def status_at(self, words: int) -> int:
        """The check that failed, 0 if none did; the driver's own stream has come to its end."""
        if not words:
            return 0
        found = np.zeros(STATUS_BYTES, np.uint8)
        download(self.driver, found, words)
        early, late = found.view(np.int32)
        return int(early or late)

    def refuse_status(self, words: int, stream: int, layout: Layout) -> None:
        """Wait for a stream; KernelError if a kernel there found an index out of range."""
        self.driver.synchronize(stream)
        if status := self.status_at(words):
            raise self.status_error(status, layout)

    def __repr__(self) -> str:
        return f"<GpuKernel {self.name} on {self.driver.device.name} through {self.driver.name}>"


def _span(slot: Slot) -> tuple[int, int]:
    """(offset of the lowest byte from the first element, bytes to the highest)."""
    if 0 in slot.shape:
        return 0, 0
    reach = [(n - 1) * step for n, step in zip(slot.shape, slot.strides, strict=True)]
    low = sum(min(0, r) for r in reach)
    return low, sum(max(0, r) for r in reach) - low + slot.dtype.itemsize


def _dense_bytes(slot: Slot) -> int:
    return int(np.prod(slot.shape, dtype=np.int64)) * slot.dtype.itemsize


def _bytes_at(address: int, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    if size == 0:
        return np.empty(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
