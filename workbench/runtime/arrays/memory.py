"""Memory for results: aligned, and on pages that earlier results have left.

Touching a fresh page costs as much as writing it several times, so the blocks of a few large results are kept
for the next ones of the same size, once nobody refers to them any more.
"""

from __future__ import annotations

import ctypes
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import prod
from typing import Any

import numpy as np

from workbench.records import record

PAGE = 4096
BEGIN = PAGE // 2
"""Where in a page results begin.

Most arrays begin where pages do, or 16 bytes behind.  Were results just ahead of what is read for them, in the last
twelve bits of their addresses, processors would take what is read next for what was written just now, and wait.
"""
SMALL_BYTES = 256 << 10
KEPT_BLOCKS = 6
KEPT_BYTES = 256 << 20


class Block(np.ndarray[Any, np.dtype[np.uint8]]):
    """Bytes that results live in; a type of its own, so that NumPy leaves it as their base."""


@record(slots=True, eq=False)
class Spare:
    """A block without a result: `size` bytes from `offset` on are aligned."""

    block: Block
    offset: int
    size: int


_spare: deque[Spare] = deque(maxlen=KEPT_BLOCKS)
_leases: dict[int, weakref.ref[Any]] = {}


def data_address(array: np.ndarray[Any, Any]) -> int:
    """Where the elements of a C-contiguous array begin.

    NumPy's own ways make a dictionary or an object first, and take four times as long; what they alone can tell are
    arrays that are read-only, empty, or of types that buffers do not know.
    """
    try:
        return ctypes.addressof(_first_byte(array))  # type: ignore[arg-type]  # arrays say that from Python 3.12 on
    except (TypeError, ValueError):
        return array.__array_interface__["data"][0]


_first_byte = ctypes.c_char.from_buffer


def at_a_page(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An uninitialised array that begins where a page does: no vector of it lies across two lines of a cache.

    >>> at_a_page((3, 5), np.dtype("f4")).ctypes.data % PAGE
    0
    """
    size = prod(shape) * dtype.itemsize
    raw = np.empty(size + PAGE, np.uint8)
    start = -raw.ctypes.data % PAGE
    return raw[start : start + size].view(dtype).reshape(shape)


def result_maker(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Callable[[], np.ndarray[Any, Any]]:
    """A function that makes uninitialised C-contiguous arrays, which begin half a page in when they are large.

    >>> result_maker((3, 5), np.dtype("f4"))().shape
    (3, 5)
    """
    size = prod(shape) * dtype.itemsize
    if size < SMALL_BYTES:
        return partial(np.empty, shape, dtype)
    return partial(_large, shape, dtype, size)


def _large(shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> np.ndarray[Any, Any]:
    spare = _taken(size) or _new(size)
    lease = spare.block[:]
    _leases[id(spare)] = weakref.ref(lease, partial(_given_back, spare))
    return np.ndarray(shape, dtype, buffer=lease, offset=spare.offset)


def _taken(size: int) -> Spare | None:
    """The spare block of that size that was given back last, which caches still hold.

    No lock, which a finalizer could meet closed: deques are atomic.
    """
    for spare in tuple(_spare)[::-1]:
        if spare.size == size:
            with suppress(ValueError):
                _spare.remove(spare)
                return spare
    return None


def _new(size: int) -> Spare:
    try:
        block = Block((size + PAGE,), np.uint8)
    except MemoryError:
        raise MemoryError(f"a result of {size:,} bytes ({size / 2**30:,.1f} GiB) cannot be allocated") from None
    return Spare(block, (BEGIN - block.__array_interface__["data"][0]) % PAGE, size)


def _given_back(spare: Spare, _: weakref.ref[Any]) -> None:
    """The last reference to a result went away."""
    _leases.pop(id(spare), None)
    _spare.append(spare)
    while sum(kept.size for kept in tuple(_spare)) > KEPT_BYTES:
        with suppress(IndexError):
            _spare.popleft()
