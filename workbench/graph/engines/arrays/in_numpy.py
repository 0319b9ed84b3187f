"""Array programs in NumPy: what each instruction is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from workbench.graph.engines.arrays.programs import ArrayProgram, Library, run_program
from workbench.lang.oracle.builtins import builtin
from workbench.lang.oracle.numbers import BINARY, REDUCTIONS

Array = np.ndarray[Any, Any]
_IDENTITIES = {"+": 0, "*": 1}


def computed(program: ArrayProgram, inputs: Sequence[Any]) -> tuple[Array, ...]:
    """The results of a program, as arrays that own their memory."""
    with np.errstate(all="ignore"):
        return tuple(np.array(each, order="C") for each in run_program(program, inputs, NUMPY))


def _view(a: Array, pads: list[list[int]], shape: list[int], strides: list[int], offset: int) -> Array:
    whole = np.ascontiguousarray(np.pad(a, pads) if pads else a)
    if 0 in shape or whole.size == 0:
        return np.zeros(shape, a.dtype)
    return as_strided(whole.reshape(-1)[offset:], shape, [each * a.itemsize for each in strides], writeable=False)


def _take(a: Array, indices: list[int], shape: list[int]) -> Array:
    return np.ascontiguousarray(a).reshape(-1)[np.asarray(indices, np.int64)].reshape(shape)


def _elementwise(*operands: Array, function: str, dtype: str) -> Array:
    match function:
        case "select":
            found = np.where(*operands)
        case "unary -":
            found = -operands[0]
        case "unary !":
            found = ~operands[0]
        case "unary ~":
            found = ~operands[0]
        case _:
            found = BINARY[function](*operands) if function in BINARY else builtin(function)(*operands)
    return np.asarray(found).astype(dtype, copy=False)


def _einsum(*operands: Array, equation: str) -> Array:
    return np.einsum(equation, *operands, optimize=True).astype(operands[0].dtype, copy=False)


def _reduce(a: Array, function: str, axes: list[int]) -> Array:
    start = _IDENTITIES.get(function)
    options = {} if start is None else {"initial": start, "dtype": a.dtype}
    return REDUCTIONS[function].reduce(a, tuple(axes), **options)


def _put(a: Array, b: Array, starts: list[int]) -> Array:
    found = np.array(a)
    found[tuple(slice(s, s + n) for s, n in zip(starts, b.shape, strict=True))] = b
    return found


NUMPY: Library = {
    "constant": lambda value, dtype: np.asarray(value, dtype),
    "range": lambda start, stop: np.arange(start, stop, dtype=np.int64),
    "zeros": lambda shape, dtype: np.zeros(shape, dtype),
    "view": _view,
    "take": _take,
    "insert": lambda a, axes: np.expand_dims(a, tuple(axes)),
    "expand": lambda a, shape: np.broadcast_to(a, shape),
    "elementwise": _elementwise,
    "cast": lambda a, dtype: a.astype(dtype),
    "einsum": _einsum,
    "reduce": _reduce,
    "put": _put,
}
