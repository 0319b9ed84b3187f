"""The driver through `cuda.bindings`, NVIDIA's own wheel (`pip install cuda-bindings`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any
from weakref import finalize

import numpy as np

from workbench.runtime.gpu.drivers.direct_calls import direct_sequence
from workbench.runtime.gpu.drivers.driver import DLPACK_CUDA, Bytes, Device, DriverError, Extents, Value


class BindingsDriver:
    """See `Driver`.  ImportError without the package, DriverError without a GPU."""

    kind = DLPACK_CUDA
    adopts = True

    def __init__(self, ordinal: int = 0) -> None:
        from cuda.bindings import driver  # pyright: ignore[reportMissingImports, reportAttributeAccessIssue]

        self.cuda = driver
        self.name = f"cuda.bindings {version('cuda-bindings')}"
        self._call("cuInit", 0)
        self._device = self._call("cuDeviceGet", ordinal)
        self._context = self._call("cuDevicePrimaryCtxRetain", self._device)
        with self.entered():
            self.device = self._examined(ordinal)
            self.stream = int(self._call("cuStreamCreate", driver.CUstream_flags.CU_STREAM_NON_BLOCKING))

    def _examined(self, ordinal: int) -> Device:
        name = self._call("cuDeviceGetName", 256, self._device)
        major, minor = self._asked("COMPUTE_CAPABILITY_MAJOR"), self._asked("COMPUTE_CAPABILITY_MINOR")
        number = self._call("cuDriverGetVersion")
        return Device(
            name.split(b"\0")[0].decode(), f"{major}.{minor}", ordinal, self._asked("MULTIPROCESSOR_COUNT"),
            self._asked("MAX_THREADS_PER_BLOCK"), self._asked("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            self._call("cuDeviceTotalMem", self._device), f"{number // 1000}.{number % 1000 // 10}",
        )  # fmt: skip

    def _asked(self, attribute: str) -> int:
        code = getattr(self.cuda.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{attribute}")
        return self._call("cuDeviceGetAttribute", code, self._device)

    def _call(self, function: str, *arguments: Any) -> Any:
        """What a function of the driver gives back after its code."""
        code, *given = getattr(self.cuda, function)(*arguments)
        if code != self.cuda.CUresult.CUDA_SUCCESS:
            raise DriverError(code.name, self._words(code), function)
        return given[0] if given else None

    def _words(self, code: Any) -> str:
        _, said = self.cuda.cuGetErrorString(code)
        return said.decode() if isinstance(said, bytes) else str(said or "")

    @contextmanager
    def entered(self) -> Iterator[None]:
        self._call("cuCtxPushCurrent", self._context)
        try:
            yield
        finally:
            self._call("cuCtxPopCurrent")

    def module(self, image: bytes, names: Sequence[str]) -> Any:
        return self._call("cuModuleLoadData", image)

    def function(self, module: Any, name: str) -> Any:
        return self._call("cuModuleGetFunction", module, name.encode())

    def facts(self, function: Any) -> dict[str, int]:
        asked = {
            "registers": "NUM_REGS", "static_shared_bytes": "SHARED_SIZE_BYTES", "local_bytes": "LOCAL_SIZE_BYTES",
            "threads": "MAX_THREADS_PER_BLOCK",
        }  # fmt: skip
        codes = {name: getattr(self.cuda.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{asked[name]}") for name in asked}
        return {name: self._call("cuFuncGetAttribute", code, function) for name, code in codes.items()}

    def allow_shared(self, function: Any, size: int) -> None:
        most = self.cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self._call("cuFuncSetAttribute", function, most, size)

    def resident_blocks(self, function: Any, threads: int, shared_bytes: int) -> int | None:
        return self._call("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, threads, shared_bytes)

    def launch(
        self, function: Any, grid: Extents, block: Extents, shared_bytes: int, stream: int, values: Sequence[Value]
    ) -> None:
        pointers = (ctypes.c_void_p * (len(values) + 1))(*map(ctypes.addressof, values))
        self._call("cuLaunchKernel", function, *grid, *block, shared_bytes, stream, ctypes.addressof(pointers), 0)

    def sequence(self, steps: Sequence[Any]) -> Callable[[int], None]:
        """Launches, and bytes that become 0, as calls of the driver library itself (see `launching.sequence`)."""
        return direct_sequence(steps, int(self._context), self._failed)

    def _failed(self, code: int, function: str, step: int) -> DriverError:
        named = self.cuda.CUresult(code)
        return DriverError(named.name, self._words(named), function, step)

    def allocate(self, size: int) -> int:
        return int(self._call("cuMemAlloc", size))

    def free(self, address: int) -> None:
        self._call("cuMemFree", address)

    def pinned(self, size: int) -> Bytes:
        address = int(self._call("cuMemHostAlloc", max(1, size), 0))
        memory = (ctypes.c_uint8 * max(1, size)).from_address(address)
        # The array keeps `memory` alive; its end is that of the page-locked pages.
        finalize(memory, self._free_pinned, address).atexit = False
        return np.ctypeslib.as_array(memory)[:size]

    def _free_pinned(self, address: int) -> None:
        with self.entered():
            self._call("cuMemFreeHost", address)

    def upload(self, to: int, source: Bytes, stream: int) -> None:
        self._call("cuMemcpyHtoDAsync", to, source.ctypes.data, source.nbytes, stream)

    def download(self, to: Bytes, source: int, stream: int) -> None:
        self._call("cuMemcpyDtoHAsync", to.ctypes.data, source, to.nbytes, stream)

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        self._call("cuMemcpyDtoDAsync", to, source, size, stream)

    def clear(self, to: int, size: int, stream: int) -> None:
        self._call("cuMemsetD8Async", to, 0, size, stream)

    def synchronize(self, stream: int) -> None:
        self._call("cuStreamSynchronize", stream)

    def synchronize_all(self) -> None:
        self._call("cuCtxSynchronize")

    def event(self) -> Any:
        return self._call("cuEventCreate", self.cuda.CUevent_flags.CU_EVENT_DEFAULT)

    def record(self, event: Any, stream: int) -> None:
        self._call("cuEventRecord", event, stream)

    def reached(self, event: Any) -> None:
        self._call("cuEventSynchronize", event)

    def order(self, stream: int, event: Any) -> None:
        self._call("cuStreamWaitEvent", stream, event, 0)

    def seconds(self, begin: Any, end: Any) -> float:
        return self._call("cuEventElapsedTime", begin, end) * 1e-3
