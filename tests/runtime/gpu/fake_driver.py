"""A driver without a GPU: device memory is the host's, kernels are executed by the processor's stand-in for CUDA.

It is as strict as the real one where that can be checked: addresses have to be of blocks that are allocated and not
freed, copies have to fit, the context has to be entered, page-locked memory has to be page-locked.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np

from workbench.codegen.kernel import Kernel
from workbench.runtime.compilers.compiling import Library, load
from workbench.runtime.emulation.cpp_job import CppJob, cpp_toolchain, unit_text
from workbench.runtime.emulation.records import RawLaunch
from workbench.runtime.gpu.drivers.driver import Device, DriverError
from workbench.target import Target

H200 = Device("Fake H200", "9.0", 0, 132, 1024, 232_448, 141 << 30, "13.0")


FUNCTIONS = {"module": "cuModuleLoadData", "launch": "cuLaunchKernel", "allocate": "cuMemAlloc"}


def emulated(source: str, names: Sequence[str]) -> Library:
    """CUDA text compiled for this processor, as `target="cuda-on-cpu"` compiles it."""
    text = unit_text(source, tuple(dict.fromkeys(names)), watched=False)
    return load(CppJob("fake", text, cpp_toolchain(), Target("cuda"), False, (), False))


class FakeDriver:
    """See `workbench.runtime.gpu.drivers.driver.Driver`."""

    kind = 1

    def __init__(self, device: Device = H200, *, adopts: bool = True, memory_bytes: int = 1 << 28) -> None:
        self.name = "a fake"
        self.device = device
        self.adopts = adopts
        self.stream = 77
        self.room = memory_bytes
        self.blocks: dict[int, Any] = {}
        self.pages: list[tuple[int, int]] = []
        self.shared: dict[str, int] = {}
        self.calls: list[str] = []
        self.fails: dict[str, str] = {}
        self._depth = threading.local()

    def image(self, kernel: Kernel) -> bytes:
        return kernel.source.encode()

    @contextmanager
    def entered(self) -> Iterator[None]:
        self._depth.count = getattr(self._depth, "count", 0) + 1
        try:
            yield
        finally:
            self._depth.count -= 1

    def _called(self, name: str, *streams: int) -> None:
        assert getattr(self._depth, "count", 0), f"{name} without the context"
        assert all(s in (0, self.stream) or self.adopts for s in streams), f"{name} on a stream of somebody else's"
        self.calls.append(name)
        if name in self.fails:
            raise DriverError(self.fails[name], "as the test wants", FUNCTIONS.get(name, name))

    def module(self, image: bytes, names: Sequence[str]) -> Any:
        self._called("module")
        library = emulated(image.decode(), names)
        library.handle.wb_cpu_run.argtypes = [ctypes.c_void_p]
        return library.handle

    def function(self, module: Any, name: str) -> Any:
        self._called("function")
        return module, name

    def facts(self, function: Any) -> dict[str, int]:
        return {"registers": 32, "static_shared_bytes": 0, "local_bytes": 0, "threads": 1024}

    def allow_shared(self, function: Any, size: int) -> None:
        self._called("allow_shared")
        if size > self.device.block_shared_bytes:
            raise DriverError("CUDA_ERROR_INVALID_VALUE", "invalid argument", "cuFuncSetAttribute")
        self.shared[function[1]] = size

    def resident_blocks(self, function: Any, threads: int, shared_bytes: int) -> int | None:
        return None

    def launch(self, function: Any, grid: Any, block: Any, shared_bytes: int, stream: int, values: Any) -> None:
        self._called("launch", stream)
        assert min(*grid, *block) >= 1
        assert shared_bytes <= max(48 << 10, self.shared.get(function[1], 0))
        module, name = function
        enter = ctypes.cast(getattr(module, f"wb_cpu_enter_{name}"), ctypes.c_void_p).value
        pointers = (ctypes.c_void_p * (len(values) + 1))(*map(ctypes.addressof, values))
        raw = RawLaunch(enter, ctypes.addressof(pointers), grid, block, shared_bytes, 0, 0, 0)
        assert module.wb_cpu_run(ctypes.byref(raw)) == 0

    def allocate(self, size: int) -> int:
        self._called("allocate")
        if size > self.room:
            raise DriverError("CUDA_ERROR_OUT_OF_MEMORY", "out of memory", "cuMemAlloc")
        memory = np.full(size + 512, 0xFF, np.uint8)
        address = -(-memory.ctypes.data // 512) * 512
        self.blocks[address] = (memory, size)
        self.room -= size
        return address

    def free(self, address: int) -> None:
        self._called("free")
        self.room += self.blocks.pop(address)[1]

    def pinned(self, size: int) -> Any:
        self._called("pinned")
        memory = np.empty(size, np.uint8)
        self.pages.append((memory.ctypes.data, size))
        return memory

    def _inside(self, address: int, size: int) -> None:
        assert any(a <= address and address + size <= a + n for a, (_, n) in self.blocks.items()), "no memory there"

    def _locked(self, array: Any) -> None:
        at = array.ctypes.data
        assert any(a <= at and at + array.nbytes <= a + n for a, n in self.pages), "not page-locked"

    def upload(self, to: int, source: Any, stream: int) -> None:
        self._called("upload", stream)
        self._inside(to, source.nbytes)
        self._locked(source)
        ctypes.memmove(to, source.ctypes.data, source.nbytes)

    def download(self, to: Any, source: int, stream: int) -> None:
        self._called("download", stream)
        self._inside(source, to.nbytes)
        self._locked(to)
        ctypes.memmove(to.ctypes.data, source, to.nbytes)

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        self._called("copy", stream)
        ctypes.memmove(to, source, size)

    def clear(self, to: int, size: int, stream: int) -> None:
        self._called("clear", stream)
        ctypes.memset(to, 0, size)

    def synchronize(self, stream: int) -> None:
        self._called("synchronize", stream)

    def synchronize_all(self) -> None:
        self._called("synchronize_all")

    def event(self) -> Any:
        self._called("event")
        return [0.0]

    def record(self, event: Any, stream: int) -> None:
        self._called("record", stream)
        event[0] = perf_counter()

    def reached(self, event: Any) -> None:
        self._called("reached")

    def order(self, stream: int, event: Any) -> None:
        self._called("order", stream)

    def seconds(self, begin: Any, end: Any) -> float:
        return end[0] - begin[0]
