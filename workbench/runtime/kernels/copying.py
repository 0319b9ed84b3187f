"""Run a kernel on arrays it cannot take as they are: copy inputs in, copy outputs back."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import CallError
from workbench.runtime.arrays.layout import Array, Layout, Slot
from workbench.runtime.host.machine import thread_count

if TYPE_CHECKING:
    from workbench.runtime.kernels.launch import CompiledKernel

# How hard NumPy may think about whether two views share an element before we copy to be safe.
OVERLAP_WORK = 10_000


def run_copied(
    kernel: CompiledKernel,
    layout: Layout,
    inputs: Sequence[Array | None],
    given: Sequence[Array | None],
    bits: Sequence[int],
) -> Any:
    """Run on checked arrays; an array or a tuple with the outputs.

    An input whose strides, alignment or byte order differ is copied.  An output that differs, or that shares
    memory with an input, is computed apart and copied.
    """
    ready = [_as_wanted(slot, a) for slot, a in zip(layout.inputs, inputs, strict=True)]
    taken = [a for a in (*inputs, *ready) if a is not None]
    keeps = [kernel.signature.keeps(slot.parameter) for slot in layout.outputs]
    targets = [
        _apart(slot, a) if keep and a is not None else _target(slot, a, taken)
        for slot, a, keep in zip(layout.outputs, given, keeps, strict=True)
    ]
    run_plain(kernel, layout, [*ready, *targets], bits)
    results = [_back(target, a) for target, a in zip(targets, given, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def run_plain(kernel: CompiledKernel, layout: Layout, arrays: Sequence[Array | None], bits: Sequence[int]) -> None:
    """Run on arrays that fit, without the border's checks.  Raises KernelError for a status other than 0."""
    empty = all(array is None or array.size == 0 for array in arrays[len(layout.inputs) :])
    if empty and not kernel.signature.checks:
        return
    data, values = array_addresses(arrays), (ctypes.c_uint64 * (len(arrays) + 1))(*bits)
    threads = thread_count(kernel.threads)
    try:
        status = kernel.border.plain(data, values, layout.symbols_address, threads)
    except KeyboardInterrupt as interrupt:
        raise kernel.interrupted(layout, interrupt) from None
    if status:
        raise kernel.status_error(status, layout)


def array_addresses(arrays: Sequence[Array | None]) -> ctypes.Array[ctypes.c_void_p]:
    """Addresses of the arrays (null for a scalar passed by value)."""
    addresses = [None if a is None else a.__array_interface__["data"][0] for a in arrays]
    return (ctypes.c_void_p * (len(arrays) + 1))(*addresses)


def _as_wanted(slot: Slot | None, array: Array | None) -> Array | None:
    """The array itself if the kernel can take it, else a copy that lies as it should; None stays."""
    if slot is None or array is None or slot.fits(array):
        return array
    return _copy(slot, array)


def _copy(slot: Slot, array: Array) -> Array:
    repeated = any(n > 1 and step == 0 for n, step in zip(slot.shape, slot.strides, strict=True))
    if repeated and array.size:
        raise CallError(
            f"{slot.parameter.name}: built for an array that repeats (strides {slot.strides} bytes), "
            f"this one has strides {array.strides}"
        )
    copy = slot.fresh()
    copy[...] = array
    return copy


def _target(slot: Slot, given: Array | None, inputs: Sequence[Array]) -> Array:
    """Where the kernel writes: the caller's array if it fits and is nobody's input."""
    if given is None:
        fresh = slot.fresh()
        if slot.parameter.zero_fill:
            fresh[...] = 0
        return fresh
    if slot.fits(given) and not any(share_memory(given, other) for other in inputs):
        return given
    return _apart(slot, given)


def _apart(slot: Slot, given: Array) -> Array:
    """An array beside the caller's, with its contents where they count."""
    apart = slot.fresh()
    if slot.parameter.role == "inout" or slot.parameter.zero_fill:
        apart[...] = given
    return apart


def _back(target: Array, given: Array | None) -> Array:
    if given is None or given is target:
        return target
    given[...] = target
    return given


def share_memory(a: Array, b: Array) -> bool:
    """Whether two arrays have an element in common; True when that is too hard to tell."""
    try:
        return np.shares_memory(a, b, OVERLAP_WORK)  # pyright: ignore[reportArgumentType] (any number is)
    except np.exceptions.TooHardError:
        return True


def refuse_shared_outputs(kernel: str, slots: Sequence[Slot], given: Sequence[Array | None]) -> None:
    """Outputs must not share memory with each other, nor one of their elements with another."""
    present = [(s.parameter.name, a) for s, a in zip(slots, given, strict=True) if a is not None]
    for n, (name, array) in enumerate(present):
        refuse_overlap_with_itself(f"{kernel}: out {name}", array)
        for other, earlier in present[:n]:
            if share_memory(array, earlier):
                raise CallError(f"{kernel}: out {other} and {name} share memory; give each its own")


def refuse_overlap_with_itself(where: str, array: Array | None) -> None:
    """CallError if two elements of an output are one in memory."""
    if array is not None and _overlaps_itself(array):
        advice = "give an array in which each has its own, such as np.empty(shape)"
        raise CallError(f"{where} has elements that share memory (strides {array.strides}); {advice}")


def _overlaps_itself(array: Array) -> bool:
    """True unless each stride steps over all that the smaller ones reach."""
    reached = array.itemsize
    steps = zip(array.strides, array.shape, strict=True)
    for stride, extent in sorted((abs(step), n) for step, n in steps if n > 1):
        if stride < reached:
            return array.size > 0
        reached += stride * (extent - 1)
    return False
