"""Device memory of our own: blocks that are used again, and the arrays that lie in them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any
from weakref import WeakKeyDictionary, finalize

import numpy as np

from workbench.errors import CallError
from workbench.lang.dtypes import BFLOAT16
from workbench.runtime.gpu.dlpack import VERSION, exported
from workbench.runtime.gpu.drivers.driver import DLPACK_CPU, Driver, DriverError
from workbench.runtime.gpu.staging import download, upload
from workbench.runtime.host.locks import Lock

GRAIN = 512
KEPT_BYTES = 1 << 30


class Arena:
    """Blocks of one driver's memory; what is given back waits for the next request of its size.

    All blocks are used on the driver's own stream, so that the order of calls is that of their work.  One that others
    could reach (`shared`) is used again only after all work has ended.
    """

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self._free: dict[int, list[int]] = defaultdict(list)
        # The end of an array may come at any moment, in any thread: it only puts its block here.
        self._returned: deque[tuple[int, int, bool]] = deque()
        self._shared: list[tuple[int, int]] = []
        self._lock = Lock()

    def take(self, size: int) -> tuple[int, int]:
        """(address, size) of a block of at least `size` bytes; the context is entered."""
        size = -(-max(1, size) // GRAIN) * GRAIN
        with self._lock:
            self._sort_returned(size)
            if self._free[size]:
                return self._free[size].pop(), size
            if self.kept_bytes > KEPT_BYTES:
                self._empty()
            try:
                return self.driver.allocate(size), size
            except DriverError:
                if not self._empty():
                    raise
                return self.driver.allocate(size), size

    def give(self, address: int, size: int, shared: Sequence[bool] = ()) -> None:
        """Take a block back; `shared` is true in its last place if others could reach it."""
        self._returned.append((address, size, any(shared)))

    @property
    def kept_bytes(self) -> int:
        """Bytes that nobody uses now."""
        waiting = sum(size for _, size in self._shared)
        return waiting + sum(size * len(addresses) for size, addresses in self._free.items())

    def _sort_returned(self, wanted: int) -> None:
        while self._returned:
            address, size, shared = self._returned.popleft()
            if shared:
                self._shared.append((address, size))
            else:
                self._free[size].append(address)
        if not self._free[wanted] and any(size == wanted for _, size in self._shared):
            self._release_shared()

    def _release_shared(self) -> None:
        if self._shared:
            self.driver.synchronize_all()
        for address, size in self._shared:
            self._free[size].append(address)
        self._shared.clear()

    def _empty(self) -> bool:
        """Free what nobody uses; whether there was any."""
        self._release_shared()
        blocks = [address for addresses in self._free.values() for address in addresses]
        self._free.clear()
        for address in blocks:
            self.driver.free(address)
        return bool(blocks)

    @contextmanager
    def lent(self, size: int) -> Iterator[int]:
        """The address of a block until the end of the `with`, for work on the driver's own stream."""
        address, taken = self.take(size)
        try:
            yield address
        finally:
            self.give(address, taken)


_arenas: WeakKeyDictionary[Driver, Arena] = WeakKeyDictionary()


def arena_of(driver: Driver) -> Arena:
    """The one arena of a driver."""
    if driver not in _arenas:
        _arenas[driver] = Arena(driver)
    return _arenas[driver]


class DeviceArray:
    """An array in the GPU's memory, in C order; other libraries read it without a copy.

    It speaks DLPack (`torch.from_dlpack(array)`) and `__cuda_array_interface__` (CuPy, Numba); `numpy()` copies it to
    the host.
    """

    def __init__(self, driver: Driver, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.driver, self.shape, self.dtype = driver, shape, np.dtype(dtype)
        arena, self._shared = arena_of(driver), [False]
        with driver.entered():
            self.address, taken = arena.take(self.nbytes)
        finalize(self, arena.give, self.address, taken, self._shared).atexit = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def reachable(self) -> None:
        """Others may work on this memory, on streams that we do not see: it is used again only after all work."""
        self._shared[0] = True

    def numpy(self) -> np.ndarray[Any, Any]:
        """The values, copied to the host after all work before."""
        result = np.empty(self.shape, self.dtype)
        with self.driver.entered():
            self.driver.synchronize_all()
            download(self.driver, result.reshape(-1).view(np.uint8), self.address)
        return result

    def fill(self, array: np.ndarray[Any, Any]) -> DeviceArray:
        """This array with the values of a NumPy array of its shape and type."""
        source = np.ascontiguousarray(array)
        if (source.shape, source.dtype) != (self.shape, self.dtype):
            raise CallError(f"expected {self.dtype} of shape {self.shape}, not {source.dtype} of shape {source.shape}")
        with self.driver.entered():
            upload(self.driver, self.address, source.reshape(-1).view(np.uint8))
        return self

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.driver.kind == DLPACK_CPU:
            raise AttributeError("this memory is the host's")
        if self.dtype == BFLOAT16.numpy:
            raise AttributeError("the interface has no bfloat16; DLPack has")
        self.reachable()
        with self.driver.entered():
            self.driver.synchronize(self.driver.stream)
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "strides": None,
            "version": 3, "stream": None,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.driver.kind, self.driver.device.ordinal

    def __dlpack__(
        self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        """A capsule, with a version if `max_version` allows; everything that was begun has ended, so that any stream
        may read it.  BufferError for another device."""
        here = self.__dlpack_device__()
        if dl_device is not None and tuple(map(int, dl_device)) != here:
            raise BufferError(f"the array lies on device {here}, not {tuple(dl_device)}; numpy() copies it to the host")
        given = self.copied() if copy else self
        given.reachable()
        if stream != -1:
            with self.driver.entered():
                self.driver.synchronize(self.driver.stream)
        versioned = max_version is not None and tuple(max_version) >= VERSION
        return exported(
            given, given.address, self.shape, self.dtype, here, versioned=versioned, copied=given is not self
        )

    def copied(self) -> DeviceArray:
        """Another array with the same values."""
        made = DeviceArray(self.driver, self.shape, self.dtype)
        with self.driver.entered():
            self.driver.copy(made.address, self.address, self.nbytes, self.driver.stream)
        return made

    def __repr__(self) -> str:
        return f"<DeviceArray {self.dtype} {self.shape} on {self.driver.device.name}>"


def on_device(array: np.ndarray[Any, Any], driver: Driver) -> DeviceArray:
    """A copy of a NumPy array in the GPU's memory."""
    return DeviceArray(driver, array.shape, array.dtype).fill(array)
