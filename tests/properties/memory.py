"""Arrays that lie in memory in every way a caller may choose, between guards that notice a stray write."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
GUARD = 256  # bytes on either side


@dataclass(frozen=True)
class Block:
    """A piece of memory with one array in it."""

    raw: Array
    array: Array
    before: Array

    def stray(self) -> bool:
        """Whether a byte that belongs to no element has changed."""
        now = self.raw.copy()
        inside = _inside(now, self.array, self.raw)
        inside[...] = _inside(self.before.copy(), self.array, self.raw)
        return not np.array_equal(now, self.before)

    def untouched(self) -> bool:
        return np.array_equal(self.raw, self.before)


def _inside(raw: Array, array: Array, home: Array) -> Array:
    """The elements of `array` in a copy of its memory."""
    offset = array.__array_interface__["data"][0] - home.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, raw, offset, array.strides) if array.size else array


def placed(values: Array, strides: tuple[int, ...]) -> Block:
    """The values in memory of their own, with these strides (in elements); the gaps hold NaN or nonsense."""
    size = values.dtype.itemsize
    reach = [(n - 1) * s * size for n, s in zip(values.shape, strides, strict=True)] if values.size else []
    below, above = -sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
    raw = poison(GUARD + below + above + size + GUARD)
    start = GUARD + below
    array = np.ndarray(values.shape, values.dtype, raw, start, tuple(s * size for s in strides))
    array[...] = values
    return Block(raw, array, raw.copy())


def poison(count: int) -> Array:
    """Bytes that are NaN in every float type and far out in every integer type."""
    return np.full(-(-count // 64) * 64, 0xFF, np.uint8)


def dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an array row after row, in elements."""
    steps, step = [], 1
    for n in reversed(shape):
        steps.append(step)
        step *= max(n, 1)
    return tuple(reversed(steps))


def layout(random: Random, shape: tuple[int, ...], repeated: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Strides of a caller's array: strided, transposed, reversed; 0 along dimensions whose values repeat."""
    order = list(range(len(shape)))
    kind = random.choice(("transposed", "stepped", "reversed", "mixed", "repeated"))
    if kind in ("transposed", "mixed"):
        random.shuffle(order)
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        if d in repeated and kind == "repeated":
            continue
        if kind in ("stepped", "mixed") and random.random() < 0.5:
            step *= random.choice((2, 3))
        strides[d] = step
        step *= max(shape[d], 1)
        if kind in ("reversed", "mixed") and random.random() < 0.5:
            strides[d] = -strides[d]
    return tuple(strides)
