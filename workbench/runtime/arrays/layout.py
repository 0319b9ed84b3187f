"""The exact arrays a kernel takes at given sizes: shapes and strides, for Python and for the border."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from workbench.codegen.kernel import ArrayParameter, Signature
from workbench.errors import CallError
from workbench.lang import fold
from workbench.records import record
from workbench.runtime.arrays.memory import result_maker

Array = np.ndarray[Any, Any]

MOST_DIMENSIONS = 64
MOST_BYTES = 1 << 60


@record(slots=True)
class Slot:
    """What one array argument must look like; `strides` are in bytes."""

    parameter: ArrayParameter
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def fits(self, array: Array) -> bool:
        """Whether the kernel can take this array as it is."""
        return array.dtype == self.dtype and array.shape == self.shape and self.lies_well(array)

    def lies_well(self, array: Array) -> bool:
        """Whether strides and alignment are right (strides do not matter where nothing is stepped over)."""
        if array.size == 0:
            return True
        steps = zip(array.shape, array.strides, self.strides, strict=True)
        return array.flags.aligned and all(n == 1 or own == wanted for n, own, wanted in steps)

    def fresh(self) -> Array:
        """An array of this layout, uninitialised."""
        dense = result_maker(self.shape, self.dtype)()
        if self.lies_well(dense):
            return dense
        reach = [(n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True)]
        below = -sum(r for r in reach if r < 0)
        memory = np.empty(below + sum(r for r in reach if r > 0) + self.dtype.itemsize, np.uint8)
        return np.ndarray(self.shape, self.dtype, memory, below, self.strides)


@record(slots=True)
class Layout:
    """The arguments of a kernel at known sizes.

    `inputs` and `outputs` hold a Slot each (None for a scalar passed by value), `address` points to what
    border.c reads, `results()` makes the outputs (None if the caller has to give one).  The last number of the table is
    what interrupts.c remembers of calls.
    """

    sizes: dict[str, int]
    inputs: tuple[Slot | None, ...]
    outputs: tuple[Slot, ...]
    table: ctypes.Array[ctypes.c_int64]
    address: int
    symbols_address: int
    results: Callable[[], Any] | None

    @property
    def was_stopped(self) -> bool:
        """Whether an interrupt ended the last call of a kernel with these sizes."""
        return bool(self.table[-1] & 2)


def layout_of(signature: Signature, sizes: dict[str, int]) -> Layout:
    """Evaluate every shape and stride of a signature."""
    inputs = tuple(None if p.by_value else _slot(p, sizes) for p in signature.inputs)
    outputs = tuple(_slot(p, sizes) for p in signature.outputs)
    _refuse_impossible(signature, outputs, sizes)
    numbers = [
        n
        for slot in (*inputs, *outputs)
        if slot is not None
        for pair in zip(slot.shape, slot.strides, strict=True)
        for n in pair
    ]
    table = (ctypes.c_int64 * (len(numbers) + len(signature.symbols) + 1))(
        *numbers, *(sizes[s] for s in signature.symbols)
    )
    address = ctypes.addressof(table)
    return Layout(sizes, inputs, outputs, table, address, address + 8 * len(numbers), _results(outputs))


def _refuse_impossible(signature: Signature, outputs: tuple[Slot, ...], sizes: dict[str, int]) -> None:
    """CallError for outputs and temporaries that no memory holds: C would count their bytes in 64 bits, and wrap."""
    where = f"{signature.function} with {', '.join(f'{k}={v}' for k, v in sizes.items()) or 'these sizes'}"
    for slot in outputs:
        if len(slot.shape) > MOST_DIMENSIONS:
            most = f"NumPy's arrays have at most {MOST_DIMENSIONS}"
            raise CallError(f"{where}: the output {slot.parameter.name} has {len(slot.shape)} dimensions; {most}")
        if (needed := prod(slot.shape) * slot.dtype.itemsize) > MOST_BYTES:
            raise CallError(f"{where}: the output {slot.parameter.name} would take {_amount(needed)}")
    if signature.workspace is not None and (needed := fold(signature.workspace, sizes)) > MOST_BYTES:
        raise CallError(f"{where}: the temporaries would take {_amount(needed)}; fuse the statements or compute less")


def _amount(needed: int) -> str:
    return f"{needed:.3g} bytes, more than any machine addresses ({MOST_BYTES:.3g})"


def _slot(parameter: ArrayParameter, sizes: dict[str, int]) -> Slot:
    dtype = parameter.dtype.numpy
    shape = tuple(max(0, fold(e, sizes)) for e in parameter.shape)
    strides = tuple(fold(e, sizes) * dtype.itemsize for e in parameter.strides)
    return Slot(parameter, dtype, shape, strides)


def _results(outputs: tuple[Slot, ...]) -> Callable[[], Any] | None:
    """What makes the arrays of a call without `out=`."""
    if any(slot.parameter.role == "inout" for slot in outputs):
        return None
    makers = [
        partial(np.zeros, slot.shape, slot.dtype) if slot.parameter.zero_fill else result_maker(slot.shape, slot.dtype)
        for slot in outputs
    ]
    return makers[0] if len(makers) == 1 else lambda: tuple([make() for make in makers])
