"""Where arrays begin: at a cache line, as PyTorch's own do, or where NumPy puts them, 16 bytes behind one.

Vectors that cross from line to line cost every library time; all contenders get arrays that are placed alike.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

OFFSET = "WORKBENCH_BENCH_OFFSET"
"""Variable of the environment: how many bytes behind a cache line arrays begin."""

PAGE = 4096
LINE = 64


def offset() -> int:
    """Bytes between a cache line and the beginning of arrays."""
    return int(os.environ.get(OFFSET, "0"))


def empty_like(array: Array) -> Array:
    """Memory for an array of this shape and type, one cache line into a page (as malloc leaves it) and the offset."""
    room = np.empty(array.nbytes + 2 * PAGE, np.uint8)
    begin = (LINE + offset() - room.ctypes.data) % PAGE
    return room[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)


def placed(array: Array) -> Array:
    """The array, C-contiguous, in such memory."""
    if array.ndim == 0:
        return array
    own = empty_like(array)
    own[...] = array
    return own
