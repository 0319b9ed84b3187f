"""`folded`: an array whose pages are all the same few, so that no access to it goes far from the core.

A kernel does with it what it does with any array, at the same places within pages.  What it takes less time with it
than with the same pages unfolded, it waits for the farther caches and memory.  (Caches go by physical addresses.)
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

PAGE = mmap.PAGESIZE
# Linux lets a process have 65 530 mappings; all arrays of a kernel together take so many at most.
MAPPINGS = 8192
_FIXED, _FAILED = 0x10, ctypes.c_void_p(-1).value


def fold_bytes(arrays: Sequence[Array]) -> int:
    """Bytes onto which each of these arrays can be folded: a page, or as many as mappings are too few for that."""
    each = sum(a.nbytes for a in arrays) // MAPPINGS
    return PAGE * max(1, -(-each // PAGE))


def folds(array: Any) -> bool:
    """Whether it is an array of data, and not of numbers that may be places in others.

    Of narrow integers any place that the array holds stays one that it held.
    """
    if not isinstance(array, np.ndarray) or array.nbytes <= PAGE or array.dtype.kind in "OUSMm":
        return False
    return array.dtype.kind in "fcV" or array.dtype.itemsize < 4


def folded(like: Array, size: int | None, parts: int = 1) -> Array | None:
    """An array of this shape and type on `size` bytes of memory (whole pages) for each of so many `parts` (what one
    thread writes another does not wait for), which are filled with those that `like` begins with.

    With None it is not folded, and otherwise the same: on small pages, as far behind the beginning of one as `like`.
    None where the system does not fold.
    """
    libc = _libc()
    if libc is None:
        return None
    behind = like.ctypes.data % PAGE
    length = -(-(like.nbytes + behind) // PAGE) * PAGE
    size, parts = (length, 1) if size is None else (size, parts)
    base = libc.mmap(None, length, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if base in (None, _FAILED):
        return None
    space = (ctypes.c_char * length).from_address(base)
    weakref.finalize(space, libc.munmap, base, length).atexit = False
    if not _mapped(libc, base, length, size, parts):
        return None
    array = np.frombuffer(memoryview(space), like.dtype, like.size, behind).reshape(like.shape)
    beginning = like.reshape(-1)[: min(like.size, size // like.itemsize)]
    flat = array.reshape(-1)
    for part in reversed(range(parts)):  # the first last: a part may begin in the middle of a page of the one before
        start = like.size * part // parts
        flat[start : start + 2 * len(beginning)] = np.resize(beginning, min(2 * len(beginning), like.size - start))
    return array


def _mapped(libc: ctypes.CDLL, base: int, length: int, size: int, parts: int) -> bool:
    """Whether the file of so many bytes for each part could be laid over the space, again and again."""
    try:
        file = os.memfd_create("folded")
    except OSError:
        return False
    try:
        os.ftruncate(file, size * parts)
        both = mmap.PROT_READ | mmap.PROT_WRITE
        for at in range(0, length, size):
            begins, own = size * (at * parts // length), min(size, length - at)
            if libc.mmap(base + at, own, both, mmap.MAP_SHARED | _FIXED, file, begins) == _FAILED:
                return False
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def _libc() -> ctypes.CDLL | None:
    if not hasattr(os, "memfd_create"):
        return None
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc
