"""Constants in the order in which kernels read them: packed when a program is made, not in every call."""

from __future__ import annotations

from math import prod

import numpy as np

from workbench.graph.running.recording.recordings import Array, Value
from workbench.graph.running.step_kernels import PackedConstant

PackedConstants = dict[tuple[int, str], tuple[Array, Value]]
"""Constants that were packed, for the programs of a model to share.

By the id of a constant's array and the key of the kernel that packed it: that array, so that it stays, and the packed
one.
"""

ALIGNMENT = 128


def packed_constant(packed: PackedConstant, source: Array) -> Value:
    """The packed array of a constant; what it has no cell of the constant for holds zeros."""
    found = _zeros(packed.shape, packed.dtype)
    arrays = {packed.source: source, packed.array: found}
    packed.kernel.run([arrays[name] for name in packed.kernel.parameters])
    return Value(packed.array, packed.dtype, packed.shape, found)


def _zeros(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Array:
    """Zeros that begin with a line of the cache."""
    size = prod(shape) * dtype.itemsize
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    return memory[begin : begin + size].view(dtype).reshape(shape)
