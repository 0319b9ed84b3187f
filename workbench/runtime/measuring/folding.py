"""`folded`: an array whose pages are all the same few, so that no access to it leaves the caches near the core.

A kernel does with it what it does with any array: the same instructions, the same addresses to translate.  What it
takes less time with it, it waits for memory otherwise.  (Caches go by physical addresses.)
"""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Linux lets a process have 65 530 mappings; all arrays of a kernel together take so many at most.
MAPPINGS = 8192
_FIXED, _PRIVATE, _NOBODYS, _SHARED = 0x10, 0x02, 0x20, 0x01
_FAILED = ctypes.c_void_p(-1).value


def fold_bytes(arrays: Sequence[Array]) -> int:
    """Bytes onto which each of these arrays can be folded: a page, or as many as mappings are too few for that."""
    each = sum(a.nbytes for a in arrays) // MAPPINGS
    return mmap.PAGESIZE * max(1, -(-each // mmap.PAGESIZE))


def folds(array: Any) -> bool:
    """Whether it is data, and not numbers that may be places in other arrays."""
    return isinstance(array, np.ndarray) and array.nbytes > mmap.PAGESIZE and array.dtype.kind not in "OUSMm" and (
        array.dtype.kind in "fcV" or array.dtype.itemsize < 4
    )  # fmt: skip


def folded(like: Array, size: int) -> Array | None:
    """An array of this shape and type on `size` bytes of memory (whole pages), which are filled with those that `like`
    begins with.  None where the system does not fold.
    """
    libc = _libc()
    if libc is None:
        return None
    length = -(-like.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    base = libc.mmap(None, length, 0, _PRIVATE | _NOBODYS, -1, 0)
    if base in (None, _FAILED):
        return None
    space = (ctypes.c_char * length).from_address(base)
    weakref.finalize(space, libc.munmap, base, length)
    file = os.memfd_create("folded")
    try:
        os.ftruncate(file, size)
        for at in range(0, length, size):
            part = min(size, length - at)
            if libc.mmap(base + at, part, mmap.PROT_READ | mmap.PROT_WRITE, _SHARED | _FIXED, file, 0) == _FAILED:
                return None
    finally:
        os.close(file)
    array = np.frombuffer(space, like.dtype, like.size).reshape(like.shape)
    first = min(like.size, size // like.itemsize)
    array.reshape(-1)[:first] = np.ascontiguousarray(like).reshape(-1)[:first]
    return array


def _libc() -> ctypes.CDLL | None:
    if not hasattr(os, "memfd_create"):
        return None
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc
