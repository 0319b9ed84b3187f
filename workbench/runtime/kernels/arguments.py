"""Match the arguments of a call with the parameters of a kernel, by position and by name."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from workbench.codegen.kernel import ArrayParameter, Kernel
from workbench.errors import CallError, unknown_name
from workbench.lang.dtypes import INT64
from workbench.lang.unify import limits
from workbench.runtime.arrays.foreign import as_array


def named_arguments(
    kernel: Kernel, arrays: Sequence[Any], scalars: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, int]]:
    """(inputs by name, sizes by name): what was given positionally and by keyword.

    Integer scalars that shape the program are compiled in; given again, they have to agree.
    """
    inputs = [p.name for p in kernel.signature.inputs]
    order = positional_names(kernel, len(arrays))
    if len(arrays) > len(order):
        takes = f"{len(inputs)} arguments ({', '.join(inputs)})"
        raise CallError(f"{kernel.name} takes {takes}, not {len(arrays)}")
    given = dict(zip(order, arrays, strict=False))
    for name, value in scalars.items():
        if name in given:
            raise CallError(f"{kernel.name}: {name} is given twice, by position and by keyword")
        given[name] = value
    missing = [name for name in inputs if name not in given]
    if missing:
        raise CallError(f"{kernel.name}: missing {', '.join(missing)}; it takes {', '.join(inputs)}")
    named = {name: given.pop(name) for name in inputs}
    return named, _sizes(kernel, given)


def positional_names(kernel: Kernel, count: int) -> list[str]:
    """The names that `count` arguments by position may have, in order."""
    inputs = [p.name for p in kernel.signature.inputs]
    return inputs if count <= len(inputs) else _operator_parameters(kernel)


def _operator_parameters(kernel: Kernel) -> list[str]:
    """The operator's parameters with the scalars that shape it; only the inputs for hand-written text."""
    program = getattr(kernel.schedule, "program", None)
    return list(program.parameters) if program is not None else [p.name for p in kernel.signature.inputs]


def _sizes(kernel: Kernel, given: dict[str, Any]) -> dict[str, int]:
    """Sizes of the kernel together with those given by name."""
    sizes = dict(kernel.sizes)
    for name, value in given.items():
        if name not in sizes and name not in kernel.signature.symbols:
            inputs = (p.name for p in kernel.signature.inputs)
            known = [*inputs, *kernel.signature.symbols, *kernel.sizes, "out"]
            raise CallError(f"{kernel.name}: {unknown_name('argument', name, known)}")
        number = _whole_number(name, value)
        if sizes.setdefault(name, number) != number:
            raise CallError(f"{kernel.name} was built for {name}={sizes[name]}, not {name}={number}")
    return sizes


def _whole_number(name: str, value: Any) -> int:
    try:
        number = index(value)
    except TypeError:
        raise CallError(f"{name}={value!r} is not a whole number") from None
    lowest, largest = limits(INT64)
    if not lowest <= number <= largest:
        raise CallError(f"{name} = {number} shapes the program: expected {lowest} to {largest}, the numbers of int64")
    return number


def scalar_bits(value: Any, parameter: ArrayParameter) -> int:
    """A scalar passed by value, as the 64 bits of border.c's union."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    array = as_array(value, parameter.dtype, parameter.name)
    if array.ndim or array.dtype != parameter.dtype.numpy:
        what = f"an array of shape {array.shape}" if array.ndim else array.dtype.name
        raise CallError(f"argument {parameter.name} is a number ({parameter.dtype}), not {what}")
    if parameter.dtype.is_half:
        return int(array.view(np.uint16))
    if parameter.dtype.is_float:
        return int.from_bytes(struct.pack("=d", float(array)), sys.byteorder)
    return int(array) & (2**64 - 1)
