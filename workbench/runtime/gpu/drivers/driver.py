"""What the workbench asks of CUDA, and nothing more: the interface that PyCUDA and cuda.bindings are behind.

Addresses and handles of streams are ints, sizes bytes.  Every method but `entered` wants the context to be current
in the calling thread (`with driver.entered(): ...`) and raises DriverError if CUDA says no.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Extents = tuple[int, int, int]
Value = ctypes.c_void_p | ctypes.c_int64 | ctypes.c_uint64 | ctypes.c_float | ctypes.c_double | Any

# Device types of DLPack (`DLDeviceType`).
DLPACK_CPU, DLPACK_CUDA, DLPACK_MANAGED = 1, 2, 13


class DriverError(Exception):
    """CUDA refused: `code` is its name (`CUDA_ERROR_ILLEGAL_ADDRESS`), `said` its own words, `doing` the function.

    `step` is the number of the launch where there were several.
    """

    def __init__(self, code: str, said: str, doing: str, step: int = 0) -> None:
        super().__init__(f"{doing}: {code} ({said})")
        self.code, self.said, self.doing, self.step = code, said, doing, step


@dataclass(frozen=True, slots=True)
class Device:
    """The GPU that kernels run on: its name, compute capability ("9.0"), number, limits of a block, and the
    version of CUDA that its driver knows ("13.0")."""

    name: str
    capability: str
    ordinal: int
    multiprocessors: int
    block_threads: int
    block_shared_bytes: int
    memory_bytes: int
    cuda: str

    @property
    def architecture(self) -> str:
        """`sm_90`."""
        return f"sm_{self.capability.replace('.', '')}"

    def __str__(self) -> str:
        memory = f"{self.memory_bytes / 2**30:.0f} GiB"
        return f"{self.name} ({self.architecture}, {self.multiprocessors} multiprocessors, {memory}, CUDA {self.cuda})"


class Driver(Protocol):
    """One GPU in its primary context, the one that PyTorch, CuPy and JAX use too.

    `name` says which package it is; `stream` is the handle of a stream of our own; `kind` is the device type that
    DLPack has for its memory; `adopts` says whether the streams of others can be launched into.
    """

    name: str
    device: Device
    stream: int
    kind: int
    adopts: bool

    def entered(self) -> AbstractContextManager[None]:
        """The context is current in this thread, and afterwards what was current before."""
        ...

    def module(self, image: bytes, names: Sequence[str]) -> Any:
        """Machine code loaded; it stays as long as the result does.  `names` are the kernels that it has."""
        ...

    def function(self, module: Any, name: str) -> Any:
        """A kernel of a module."""
        ...

    def facts(self, function: Any) -> dict[str, int]:
        """What the driver knows of a kernel: `registers`, `static_shared_bytes`, `local_bytes`, `threads` (at most)."""
        ...

    def allow_shared(self, function: Any, size: int) -> None:
        """Let a kernel have that much dynamic shared memory (above 48 KiB it has to be asked for)."""
        ...

    def resident_blocks(self, function: Any, threads: int, shared_bytes: int) -> int | None:
        """Blocks that are on a multiprocessor at once; None where the package cannot tell."""
        ...

    def launch(
        self, function: Any, grid: Extents, block: Extents, shared_bytes: int, stream: int, values: Sequence[Value]
    ) -> None:
        """Start a kernel; `values` are ctypes objects of the size that each parameter has."""
        ...

    def allocate(self, size: int) -> int: ...

    def free(self, address: int) -> None: ...

    def pinned(self, size: int) -> Bytes:
        """Page-locked memory of the host; free when nobody has the array any more."""
        ...

    def upload(self, to: int, source: Bytes, stream: int) -> None:
        """Begin to copy pinned memory to the device."""
        ...

    def download(self, to: Bytes, source: int, stream: int) -> None:
        """Begin to copy from the device to pinned memory."""
        ...

    def copy(self, to: int, source: int, size: int, stream: int) -> None:
        """Begin to copy from device to device."""
        ...

    def clear(self, to: int, size: int, stream: int) -> None:
        """Begin to set bytes to 0."""
        ...

    def synchronize(self, stream: int) -> None:
        """Wait for all work of a stream."""
        ...

    def synchronize_all(self) -> None:
        """Wait for all work of the context, whoever gave it."""
        ...

    def event(self) -> Any: ...

    def record(self, event: Any, stream: int) -> None: ...

    def reached(self, event: Any) -> None:
        """Wait, on the host, until an event is reached."""
        ...

    def order(self, stream: int, event: Any) -> None:
        """Later work of a stream waits for an event."""
        ...

    def seconds(self, begin: Any, end: Any) -> float:
        """Time on the device between two events that were reached."""
        ...


def plain_address(address: int | ctypes.c_void_p) -> int:
    """The address itself, of a place that several launches share."""
    return address if isinstance(address, int) else address.value or 0


DEFAULT_STREAM = 0
"""CUDA's handle of the default stream, which waits for the blocking streams and they for it."""
