"""Calls of an exported C library from NumPy, as a C program would make them."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from workbench.export.clib.api import interface_of
from workbench.export.dispatch import family_of
from workbench.export.dispatch.front import dlpack_code, untold


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("type_code", ctypes.c_uint8), ("type_bits", ctypes.c_uint8),
        ("type_lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


def tensor(array: np.ndarray, dtype: Any, **changes: Any) -> Tensor:
    """A DLTensor of an array."""
    shape = (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
    strides = (ctypes.c_int64 * max(1, array.ndim))(*(s // array.itemsize for s in array.strides))
    found = Tensor(array.ctypes.data, 1, 0, array.ndim, dlpack_code(dtype), dtype.bits, 1, shape, strides, 0)
    for name, value in changes.items():
        setattr(found, name, value)
    return found


_SCALARS = {"float32": ctypes.c_float, "float64": ctypes.c_double, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
            "uint8": ctypes.c_uint8, "bool": ctypes.c_uint8, "int8": ctypes.c_int8}  # fmt: skip


class Library:
    """An exported operator: `call` takes and gives arrays, through tensors or through dense pointers."""

    def __init__(self, what: Any, path: Path) -> None:
        self.family = family_of(what)
        self.interface = interface_of(self.family)
        self.handle = ctypes.CDLL(str(path))
        self.name = self.interface.function
        for end in ("message", "kernel", "isa"):
            getattr(self.handle, f"{self.name}_{end}").restype = ctypes.c_char_p

    def text(self, end: str) -> str:
        return getattr(self.handle, f"{self.name}_{end}")().decode()

    def plain(self, **given: Any) -> int:
        """The function on dense arrays; sizes by name."""
        return getattr(self.handle, self.name)(*(self._dense(a, given[a.name]) for a in self.interface.arguments))

    def tensors(self, **given: Any) -> int:
        """The function on tensors."""
        told = set(self.family.op.size_names) - set(untold(self.family))
        arguments = []
        for a in self.interface.arguments:
            if a.kind != "a":
                arguments += [] if a.name in told else [self._dense(a, given[a.name])]
            elif given[a.name] is None or isinstance(given[a.name], Tensor):
                arguments.append(given[a.name] and ctypes.byref(given[a.name]))
            else:
                arguments.append(ctypes.byref(tensor(given[a.name], self.family.op.tensors[a.name].dtype)))
        return getattr(self.handle, f"{self.name}_tensors")(*arguments)

    def _dense(self, argument: Any, value: Any) -> Any:
        if argument.kind == "s":
            return ctypes.c_int64(value)
        if argument.kind == "v":
            return _SCALARS[self.family.op.tensors[argument.name].dtype.name](value)
        return ctypes.c_void_p(None if value is None else value.ctypes.data)
