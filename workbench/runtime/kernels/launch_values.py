"""The arguments of a launch as a kernel takes them, on a processor or on a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from workbench.codegen.cuda.grid.launches import Argument
from workbench.codegen.kernel import Kernel
from workbench.lang.dtypes import DType
from workbench.records import record

_WHOLE = {8: ctypes.c_uint8, 16: ctypes.c_uint16, 32: ctypes.c_uint32, 64: ctypes.c_uint64}


@record(slots=True)
class Memory:
    """Where the arguments are: addresses of arrays and workspace, bits of scalars, sizes, the status words.

    A ctypes value in place of a number is what every launch shares: who changes it changes the launches.
    """

    addresses: Mapping[str, Any]
    scalars: Mapping[str, Any]
    sizes: dict[str, int]
    status: Any = 0


def ctypes_value(argument: Argument, memory: Memory) -> Any:
    """An argument as a ctypes value."""
    match argument.kind:
        case "array" | "workspace":
            return _pointer(memory.addresses[argument.name])
        case "size" | "loop":
            return ctypes.c_int64(memory.sizes[argument.name])
        case "status":
            return _pointer(memory.status)
        case "scalar":
            bits = memory.scalars[argument.name]
            return scalar_value(argument.dtype, bits) if isinstance(bits, int) else bits


def _pointer(address: int | ctypes.c_void_p) -> ctypes.c_void_p:
    return ctypes.c_void_p(address) if isinstance(address, int) else address


def scalar_value(dtype: DType, bits: int) -> Any:
    """A scalar as it is stored, from the 64 bits of a call's union (a float is a double there)."""
    if dtype.is_float and not dtype.is_half:
        real = ctypes.c_double.from_buffer(ctypes.c_uint64(bits)).value
        return ctypes.c_float(real) if dtype.bits == 32 else ctypes.c_double(real)
    stored = dtype.bytes * 8
    return _WHOLE[stored](bits & (2**stored - 1))


def sizes_at(kernel: Kernel, address: int) -> dict[str, int]:
    """The sizes of a call: those that the kernel was made for, and its symbols, whose numbers stand at an address."""
    names = kernel.signature.symbols
    numbers = (ctypes.c_int64 * len(names)).from_address(address) if names else ()
    return {**kernel.sizes, **dict(zip(names, numbers, strict=True))}
