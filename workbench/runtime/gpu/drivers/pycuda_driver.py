"""The driver through PyCUDA (`pip install pycuda`, built from its sources with a CUDA toolkit)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from workbench.runtime.gpu.drivers.driver import DEFAULT_STREAM, DLPACK_CUDA, Bytes, Device, DriverError, Extents, Value
from workbench.runtime.gpu.drivers.failures import error_code

NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING, for which PyCUDA has no name


class PycudaDriver:
    """See `Driver`.  ImportError without the package, DriverError without a GPU.

    PyCUDA cannot launch into a stream that others made; `adopts` is False.
    """

    kind = DLPACK_CUDA
    adopts = False

    def __init__(self, ordinal: int = 0) -> None:
        import pycuda  # pyright: ignore[reportMissingImports]
        import pycuda.driver as driver  # pyright: ignore[reportMissingImports]

        self.cuda = driver
        self.name = f"PyCUDA {pycuda.VERSION_TEXT}"
        with self._told("cuInit"):
            driver.init()
            self._device = driver.Device(ordinal)
            self._context = self._device.retain_primary_context()
        self._allocations: dict[int, Any] = {}
        with self.entered():
            self.device = self._examined(ordinal)
            own = driver.Stream(NON_BLOCKING)
        self._streams: dict[int, Any] = {DEFAULT_STREAM: None, own.handle: own}
        self.stream = own.handle

    def _examined(self, ordinal: int) -> Device:
        asked, device = self.cuda.device_attribute, self._device
        major, minor = (device.get_attribute(getattr(asked, f"COMPUTE_CAPABILITY_{n}")) for n in ("MAJOR", "MINOR"))
        number = self.cuda.get_driver_version()
        return Device(
            device.name(), f"{major}.{minor}", ordinal, device.get_attribute(asked.MULTIPROCESSOR_COUNT),
            device.get_attribute(asked.MAX_THREADS_PER_BLOCK),
            device.get_attribute(asked.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), device.total_memory(),
            f"{number // 1000}.{number % 1000 // 10}",
        )  # fmt: skip

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        """PyCUDA's exceptions as DriverError; they carry CUDA's words, not its code."""
        try:
            yield
        except self.cuda.Error as error:
            function, _, said = str(error).partition(" failed: ")
            raise DriverError(error_code(said), said or str(error), function if said else doing) from error

    @contextmanager
    def entered(self) -> Iterator[None]:
        with self._told("cuCtxPushCurrent"):
            self._context.push()
        try:
            with self._told("the driver"):
                yield
        finally:
            self.cuda.Context.pop()

    def module(self, image: bytes, names: Sequence[str]) -> Any:
        return self.cuda.module_from_buffer(image)

    def function(self, module: Any, name: str) -> Any:
        return module.get_function(name)

    def facts(self, function: Any) -> dict[str, int]:
        asked = self.cuda.function_attribute
        codes = {
            "registers": asked.NUM_REGS, "static_shared_bytes": asked.SHARED_SIZE_BYTES,
            "local_bytes": asked.LOCAL_SIZE_BYTES, "threads": asked.MAX_THREADS_PER_BLOCK,
        }  # fmt: skip
        return {name: function.get_attribute(code) for name, code in codes.items()}

    def allow_shared(self, function: Any, size: int) -> None:
        function.set_attribute(self.cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, size)

    def resident_blocks(self, function: Any, threads: int, shared_bytes: int) -> int | None:
        return None

    def launch(
        self, function: Any, grid: Extents, block: Extents, shared_bytes: int, stream: int, values: Sequence[Value]
    ) -> None:
        # What `Function.__call__` ends in; that sets the shape of the block with a function which CUDA has given up.
        function._launch_kernel(grid, block, _packed(values), shared_bytes, self._streams[stream])

    def allocate(self, size: int) -> int:
        made = self.cuda.mem_alloc(size)
        self._allocations[int(made)] = made
        return int(made)

    def free(self, address: int) -> None:
        self._allocations.pop(address).free()

    def pinned(self, size: int) -> Bytes:
        return self.cuda.pagelocked_empty(max(1, size), "uint8")[:size]

    def upload(self, to: int, source: Bytes, stream: int) -> None:
        self.cuda.memcpy_htod_async(to, source, self._streams[stream])

    def download(self, to: Bytes, source: int, stream: int) -> None:
        self.cuda.memcpy_dtoh_async(to, source, self._streams[stream])

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        self.cuda.memcpy_dtod_async(to, source, size, self._streams[stream])

    def clear(self, to: int, size: int, stream: int) -> None:
        self.cuda.memset_d8_async(to, 0, size, self._streams[stream])

    def synchronize(self, stream: int) -> None:
        if stream == DEFAULT_STREAM:
            self.cuda.Context.synchronize()
        else:
            self._streams[stream].synchronize()

    def synchronize_all(self) -> None:
        self.cuda.Context.synchronize()

    def event(self) -> Any:
        return self.cuda.Event()

    def record(self, event: Any, stream: int) -> None:
        event.record(self._streams[stream])

    def reached(self, event: Any) -> None:
        event.synchronize()

    def order(self, stream: int, event: Any) -> None:
        if stream in self._streams and self._streams[stream] is not None:
            self._streams[stream].wait_for_event(event)
        else:
            event.synchronize()

    def seconds(self, begin: Any, end: Any) -> float:
        return begin.time_till(end) * 1e-3


def _packed(values: Sequence[Value]) -> bytes:
    """The parameters of a kernel one after another, each aligned to its size, as CUDA lays them out.

    >>> import ctypes
    >>> _packed([ctypes.c_uint16(7), ctypes.c_uint64(9)]).hex()
    '07000000000000000900000000000000'
    """
    kinds = "".join(value._type_ for value in values)
    return struct.pack(kinds, *(value.value or 0 for value in values))
