"""DLPack, the protocol by which array libraries hand memory to one another, in ctypes.

The structures are those of dlpack.h (https://dmlc.github.io/dlpack/latest/c_api.html): a capsule holds a tensor with a
version and flags since version 1, and without them for who does not ask for one.
"""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang.dtypes import BFLOAT16

FRESH, USED = b"dltensor", b"used_dltensor"
FRESH_VERSIONED, USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"
VERSION = (1, 0)
READ_ONLY, COPIED = 1, 2
# NumPy's kind → DLDataTypeCode; bfloat16 has one of its own, bool is newer than most producers.
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
BFLOAT_CODE = 4


class DLDevice(ctypes.Structure):
    """`DLDevice` of dlpack.h: a kind of device and its number."""

    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class DLDataType(ctypes.Structure):
    """`DLDataType` of dlpack.h: code, bits and lanes of an element."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    """`DLTensor` of dlpack.h: memory, device, element type, extents, strides in elements."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int32), ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class DLManagedTensor(ctypes.Structure):
    """`DLManagedTensor` of dlpack.h: a tensor and what to call when it is no longer needed."""


class DLManagedTensorVersioned(ctypes.Structure):
    """`DLManagedTensorVersioned` of dlpack.h: the same with the version of its layout, and flags."""


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
DLManagedTensor._fields_ = (("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", _Deleter))
DLManagedTensorVersioned._fields_ = (
    ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager_ctx", ctypes.c_void_p), ("deleter", _Deleter),
    ("flags", ctypes.c_uint64), ("dl_tensor", DLTensor),
)  # fmt: skip

_api = ctypes.pythonapi
# A destructor gets the capsule while it dies: as a bare address, so that nobody counts references to it.
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(("PyCapsule_New", _api))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _api))
_bare_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_bare_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))

# Tensors that others hold: address of the structure → all that has to stay.
_held: dict[int, tuple[Any, ...]] = {}


@_Deleter
def _forget(managed: int) -> None:
    _held.pop(managed, None)


@_Destructor
def _unused(capsule: int) -> None:
    """A capsule that nobody took."""
    for name in (FRESH, FRESH_VERSIONED):
        if _bare_valid(capsule, name):
            _held.pop(_bare_pointer(capsule, name), None)


def exported(
    owner: object, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: tuple[int, int],
    *, versioned: bool = False, copied: bool = False,
) -> Any:  # fmt: skip
    """A capsule for memory in C order; `owner` stays as long as a consumer holds it."""
    code = BFLOAT_CODE if dtype == BFLOAT16.numpy else CODES[dtype.kind]
    extents = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    managed: Any = DLManagedTensor()
    if versioned:
        managed = DLManagedTensorVersioned(*VERSION, flags=COPIED if copied else 0)
    managed.dl_tensor = DLTensor(
        address, DLDevice(*device), len(shape), DLDataType(code, dtype.itemsize * 8, 1), extents, None, 0
    )
    managed.deleter = _forget
    place = ctypes.addressof(managed)
    _held[place] = (owner, extents, managed)
    return _new(place, FRESH_VERSIONED if versioned else FRESH, _unused)


class Imported:
    """What a capsule holds: `address`, `shape`, `strides` in bytes, `dtype`, `device`, `read_only`.

    The memory is the producer's until this is gone.
    """

    def __init__(self, capsule: Any) -> None:
        self._managed: Any = None
        managed = _taken(capsule)
        self.read_only = bool(getattr(managed, "flags", 0) & READ_ONLY)
        tensor = managed.dl_tensor
        self.dtype = _dtype(tensor.dtype)
        self.shape = tuple(tensor.shape[n] for n in range(tensor.ndim))
        self.strides = tuple(s * self.dtype.itemsize for s in _steps(tensor, self.shape))
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.device = (tensor.device.device_type, tensor.device.device_id)
        _rename(capsule, USED if isinstance(managed, DLManagedTensor) else USED_VERSIONED)
        self._managed = managed

    def __del__(self) -> None:
        if self._managed is not None and self._managed.deleter:
            self._managed.deleter(ctypes.addressof(self._managed))


def capsule_of(value: Any, stream: int | None) -> Any:
    """The capsule of an array, for work on a stream where one is given; with a version, if its library knows them."""
    asked = {} if stream is None else {"stream": stream}
    try:
        return value.__dlpack__(**asked, max_version=VERSION)
    except TypeError:  # older than version 1
        return value.__dlpack__(**asked)


def _taken(capsule: Any) -> DLManagedTensor | DLManagedTensorVersioned:
    if _valid(capsule, FRESH):
        return DLManagedTensor.from_address(_pointer(capsule, FRESH))
    if not _valid(capsule, FRESH_VERSIONED):
        raise CallError("the DLPack capsule was used before, or is of a newer kind")
    found = DLManagedTensorVersioned.from_address(_pointer(capsule, FRESH_VERSIONED))
    if found.major != VERSION[0]:
        raise CallError(f"the DLPack capsule is of version {found.major}.{found.minor}; expected {VERSION[0]}")
    return found


def _steps(tensor: DLTensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements; a producer may leave those of C order out."""
    if tensor.strides:
        return tuple(tensor.strides[n] for n in range(tensor.ndim))
    return c_steps(shape)


def c_steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of C order in elements.

    >>> c_steps((2, 3, 5))
    (15, 5, 1)
    """
    return tuple(prod(max(1, extent) for extent in shape[n + 1 :]) for n in range(len(shape)))


def _dtype(found: DLDataType) -> np.dtype[Any]:
    if found.lanes != 1:
        raise CallError(f"the array has vectors of {found.lanes} numbers as elements")
    if found.code == BFLOAT_CODE and found.bits == 16:
        return BFLOAT16.numpy
    kinds = {code: kind for kind, code in CODES.items()}
    if found.code not in kinds:
        raise CallError(f"no element type here is DLPack's {found.code} of {found.bits} bits")
    return np.dtype(f"{kinds[found.code]}{found.bits // 8}")
