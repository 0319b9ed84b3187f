"""Launches through NVIDIA's driver library itself: one call of C for each, with arguments that were laid out once.

A package between Python and the library converts every argument of every call, which takes longer than the launch.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from workbench.runtime.gpu.drivers.driver import DriverError

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
# Above this, dynamic shared memory has to be asked for.
FREE_SHARED_BYTES = 48 << 10
MOST_SHARED = 8
"""`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`."""

Begin = Callable[[int], int]
Failed = Callable[[int, str, int], DriverError]


@cache
def _library() -> ctypes.CDLL:
    found = ctypes.CDLL(LIBRARY)
    pointer, number = ctypes.c_void_p, ctypes.c_uint
    for name, arguments in {
        "cuLaunchKernel": (pointer, *(number,) * 7, pointer, pointer, pointer),
        "cuMemsetD8Async": (ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, pointer),
        "cuFuncSetAttribute": (pointer, ctypes.c_int, ctypes.c_int),
        "cuCtxPushCurrent_v2": (pointer,),
        "cuCtxPopCurrent_v2": (pointer,),
    }.items():
        function = getattr(found, name)
        function.argtypes, function.restype = arguments, ctypes.c_int
    return found


def direct_sequence(steps: Sequence[Any], context: int, failed: Failed) -> Callable[[int], None]:
    """A function of a stream that begins `steps` (of `launching.Start`) in a context.

    Their values are read at each call.  It raises what `failed(code, function, number of the step)` makes of a refusal.
    """
    library = _library()
    push, pop = library.cuCtxPushCurrent_v2, library.cuCtxPopCurrent_v2
    begins = [_begin(library, step) for step in steps]

    def begin_all(stream: int) -> None:
        if code := push(context):
            raise failed(code, "cuCtxPushCurrent", 0)
        try:
            for number, (function, begin) in enumerate(begins):
                if code := begin(stream):
                    raise failed(code, function, number)
        finally:
            pop(None)

    return begin_all


def _begin(library: ctypes.CDLL, step: Any) -> tuple[str, Begin]:
    if step.function is None:
        return "cuMemsetD8Async", _clearing(library, step)
    if step.shared_bytes > FREE_SHARED_BYTES:
        return "cuLaunchKernel", _asking(library, step, _launching(library, step))
    return "cuLaunchKernel", _launching(library, step)


def _launching(library: ctypes.CDLL, step: Any) -> Begin:
    values = step.values
    pointers = (ctypes.c_void_p * (len(values) + 1))(*map(ctypes.addressof, values))
    shape = (*step.grid, *step.block, step.shared_bytes)
    function, at, launch = int(step.function), ctypes.addressof(pointers), library.cuLaunchKernel

    def begin(stream: int) -> int:
        return launch(function, *shape, stream, at, None)

    begin.__dict__["kept"] = (values, pointers)
    return begin


def _asking(library: ctypes.CDLL, step: Any, begin: Begin) -> Begin:
    """Each time, because launches of other sizes share the function and what was asked for it."""
    function, size, ask = int(step.function), step.shared_bytes, library.cuFuncSetAttribute
    return lambda stream: ask(function, MOST_SHARED, size) or begin(stream)


def _clearing(library: ctypes.CDLL, step: Any) -> Begin:
    address, size, clear = step.address, step.size, library.cuMemsetD8Async
    if isinstance(address, int):
        return lambda stream: clear(address, 0, size, stream)
    return lambda stream: clear(address.value or 0, 0, size, stream)
