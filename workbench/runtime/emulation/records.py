"""The structures that Python and the C++ of fibers.hpp share, field for field."""

from __future__ import annotations

import ctypes
from typing import Literal

Order = Literal["forward", "reverse", "random"]
ORDERS: tuple[Order, ...] = ("forward", "reverse", "random")
MOST_FINDINGS = 64


class RawFinding(ctypes.Structure):
    """`wb_cpu::Finding`."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("kind", "what_a", "what_b", "region")),
        *((name, ctypes.c_int64) for name in ("site_a", "site_b", "block_a", "block_b", "thread_a", "thread_b")),
        *((name, ctypes.c_int64) for name in ("offset", "bytes")),
    )


class RawRegion(ctypes.Structure):
    """`wb_cpu::Region`: `writable` is 1 for what may be written, and 2 more for what is so from the start."""

    _fields_ = (
        ("low", ctypes.c_uint64),
        ("high", ctypes.c_uint64),
        ("grain", ctypes.c_int64),
        ("cells", ctypes.c_void_p),
        ("shared", ctypes.c_int32),
        ("writable", ctypes.c_int32),
    )


class RawWritten(ctypes.Structure):
    """`wb_cpu::Written`."""

    _fields_ = (("site", ctypes.c_int64), ("array", ctypes.c_int64), ("elements", ctypes.c_int64))


class RawLaunch(ctypes.Structure):
    """`wb_cpu::Launch`."""

    _fields_ = (
        ("kernel", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_int64),
        ("next_block", ctypes.c_int64),
        ("seed", ctypes.c_uint64),
        *((name, ctypes.c_int32) for name in ("order", "stopped", "found", "regions")),
        ("serial", ctypes.c_int64),
        ("region", ctypes.POINTER(RawRegion)),
        ("log", ctypes.c_void_p),
        ("log_count", ctypes.c_int64),
        ("log_room", ctypes.c_int64),
        ("written", ctypes.c_void_p),
        ("written_count", ctypes.c_int64),
        ("written_room", ctypes.c_int64),
        ("findings", RawFinding * MOST_FINDINGS),
    )
