"""Arrays of PyTorch, CuPy, JAX and others that lie on the GPU, as addresses; results in the library they came from."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang.dtypes import BFLOAT16
from workbench.runtime.gpu.dlpack import Imported, c_steps, capsule_of
from workbench.runtime.gpu.drivers.driver import DLPACK_MANAGED, Driver
from workbench.runtime.gpu.memory import DeviceArray

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class View:
    """Device memory seen through whatever protocol: as much of a NumPy array as checks need.

    `strides` are in bytes; `value` is what was given, `owner` what keeps the memory alive; `writable` says whether the
    library lets others write, `pending` that work on it may be under way on another stream than the library's.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    value: Any
    owner: Any
    writable: bool = True
    pending: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def dense(self) -> bool:
        """Whether it lies in C order without gaps."""
        wanted = tuple(s * self.dtype.itemsize for s in c_steps(self.shape))
        steps = zip(self.shape, self.strides, wanted, strict=True)
        return 0 in self.shape or all(n == 1 or own == step for n, own, step in steps)


def is_on_device(value: Any, driver: Driver) -> bool:
    """Whether an argument lies on the GPU already."""
    if isinstance(value, np.ndarray | np.generic | bool | int | float | list | tuple) or value is None:
        return False
    if isinstance(value, DeviceArray):
        return True
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.is_cuda or driver.kind not in (2, DLPACK_MANAGED)
    asked = getattr(value, "__dlpack_device__", None)
    if asked is not None:
        return int(asked()[0]) in (driver.kind, DLPACK_MANAGED)
    return getattr(value, "__cuda_array_interface__", None) is not None


def view_of(value: Any, driver: Driver, name: str) -> View:
    """The memory of an argument that lies on the GPU; CallError if it is on another one, or cannot be read."""
    if isinstance(value, DeviceArray):
        steps = tuple(s * value.dtype.itemsize for s in c_steps(value.shape))
        return View(value.address, value.shape, steps, value.dtype, value, value)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _torch_view(value, driver, name)
    try:
        if hasattr(value, "__dlpack__") and not _is_cupy(value):
            return _dlpack_view(value, driver, name)
        return _interface_view(value)
    except CallError:
        raise
    except Exception as reason:  # whatever another library's protocol raises
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise CallError(f"argument {name}: a {kind} cannot be read where it lies: {reason}") from reason


def _torch_view(value: Any, driver: Driver, name: str) -> View:
    if value.is_cuda:
        _same_device(value.device.index, driver, name)
    plain = value.detach()
    names = {"bfloat16": BFLOAT16.numpy}
    spelt = str(plain.dtype).removeprefix("torch.")
    try:
        dtype = names.get(spelt) or np.dtype(spelt)
    except TypeError:
        raise CallError(f"argument {name}: no element type here is torch's {spelt}") from None
    strides = tuple(s * dtype.itemsize for s in plain.stride())
    return View(plain.data_ptr(), tuple(plain.shape), strides, dtype, value, plain)


def _dlpack_view(value: Any, driver: Driver, name: str) -> View:
    """Through DLPack: the producer makes our stream wait for what it has begun."""
    kind, ordinal = (int(n) for n in value.__dlpack_device__())
    if kind == driver.kind:
        _same_device(ordinal, driver, name)
    on_gpu = driver.kind == 2
    found = Imported(capsule_of(value, driver.stream if on_gpu else None))
    # DLPack before version 1 does not say; JAX's arrays never change.
    writable = not (found.read_only or type(value).__module__.startswith(("jax", "jaxlib")))
    return View(found.address, found.shape, found.strides, found.dtype, value, found, writable)


def _interface_view(value: Any) -> View:
    """Through `__cuda_array_interface__`; a stream in it has to be waited for, CuPy's is the one we launch into."""
    found = value.__cuda_array_interface__
    dtype = np.dtype(found["typestr"])
    strides = found.get("strides") or tuple(s * dtype.itemsize for s in c_steps(found["shape"]))
    address, read_only = found["data"]
    pending = found.get("stream") is not None and not _is_cupy(value)
    return View(address, tuple(found["shape"]), tuple(strides), dtype, value, value, not read_only, pending)


def _same_device(ordinal: int | None, driver: Driver, name: str) -> None:
    if ordinal not in (None, driver.device.ordinal):
        here = f"kernels run on device {driver.device.ordinal} ({driver.device.name})"
        raise CallError(f"argument {name} lies on device {ordinal}, {here}; copy it there")


def _is_cupy(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "cupy"


@dataclass(frozen=True, slots=True)
class Library:
    """What a call needs of the library its arrays come from: its stream now, empty arrays, and how a result is given.

    `stream()` is a handle, None where the driver's own is to be used; `contiguous` gives a copy in C order, where the
    library can.
    """

    name: str
    stream: Callable[[], int | None]
    empty: Callable[[tuple[int, ...], np.dtype[Any]], Any]
    given: Callable[[Any], Any] = lambda result: result
    contiguous: Callable[[Any], Any] | None = None


def library_of(value: Any, driver: Driver) -> Library:
    """The library of an array on the GPU."""
    name = type(value).__module__.partition(".")[0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _torch_library(torch, value)
    if name == "cupy":
        cupy = sys.modules["cupy"]
        return Library("cupy", lambda: int(cupy.cuda.get_current_stream().ptr), cupy.empty,
                       contiguous=cupy.ascontiguousarray)  # fmt: skip

    def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
        return DeviceArray(driver, shape, dtype)

    if name in ("jax", "jaxlib"):
        jax = sys.modules["jax"]
        return Library("jax", lambda: None, empty, lambda result: jax.dlpack.from_dlpack(result))
    return Library(name, lambda: None, empty)


def _torch_library(torch: Any, value: Any) -> Library:
    def stream() -> int | None:
        return int(torch.cuda.current_stream(value.device).cuda_stream) if value.is_cuda else None

    def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        spelt = "bfloat16" if dtype == BFLOAT16.numpy else dtype.name
        return torch.empty(shape, dtype=getattr(torch, spelt), device=value.device)

    return Library("torch", stream, empty, contiguous=lambda tensor: tensor.contiguous())
