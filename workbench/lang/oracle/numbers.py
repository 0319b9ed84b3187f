"""Arithmetic of the language in NumPy: types of values while they are computed, and how they are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.lang.dtypes import BOOL, FLOAT32, DType
from workbench.lang.unify import limits
from workbench.records import record

Array = np.ndarray[Any, Any]


@record
class Arithmetic:
    """How values are computed.

    `wide`: every float is computed in float64 and rounded when it is stored or cast; otherwise
    floats are computed in their declared type (float32 for the 16-bit ones).  Integers always are.
    """

    wide: bool

    def working(self, dtype: DType) -> np.dtype[Any]:
        """The NumPy type in which values of a type are computed and accumulated."""
        if not dtype.is_float:
            return dtype.numpy
        return np.dtype(np.float64 if self.wide or dtype.bits == 64 else np.float32)

    def load(self, values: Any, dtype: DType) -> Array:
        """Stored (or computed) values of a type, in its working type."""
        return np.asarray(values).astype(self.working(dtype), copy=False)

    def constant(self, value: float, dtype: DType) -> Array:
        """A literal, rounded to its declared type as a compiler would."""
        return self.load(store(np.asarray(value), dtype), dtype)

    def cast(self, values: Array, source: DType, dtype: DType) -> Array:
        """A conversion: exact rounding to `dtype`, except from one float type to a wider one."""
        if source == dtype or (source.is_float and dtype.is_float and source.bits < dtype.bits):
            return self.load(values, dtype)
        return self.load(store(values, dtype), dtype)


def store(values: Array, dtype: DType) -> Array:
    """Values in the element type of a tensor: rounded (16-bit floats by way of float32), floats towards an integer cut
    to the type's ends, and 0 for what is no number."""
    if dtype == BOOL:
        return values != 0
    if dtype.is_integral and values.dtype.kind not in "biu":
        return _whole(values, dtype)
    if dtype.is_half and values.dtype != dtype.numpy:
        values = values.astype(FLOAT32.numpy)
    return values.astype(dtype.numpy, copy=False)


def _whole(values: Array, dtype: DType) -> Array:
    low, high = limits(dtype)
    inside = (values >= low) & (values < float(high + 1))
    ends = np.where(values > 0, dtype.numpy.type(high), dtype.numpy.type(low))
    outside = np.where(np.isnan(values), dtype.numpy.type(0), ends)
    return np.where(inside, np.where(inside, values, 0).astype(dtype.numpy), outside)


REDUCTIONS: dict[str, np.ufunc] = {"+": np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum}


def shift(op: str, values: Array, counts: Array, dtype: DType) -> Array:
    """`<<` or `>>`; a count outside 0..width-1 shifts everything out."""
    amounts = counts.astype(np.int64)
    inside = (amounts >= 0) & (amounts < dtype.bits)
    moved = np.where(inside, amounts, 0).astype(dtype.numpy)
    if op == "<<":
        return np.where(inside, np.left_shift(values, moved), dtype.numpy.type(0))
    return np.where(inside, np.right_shift(values, moved), np.where(values < 0, -1, 0).astype(dtype.numpy))


def divide(a: Array, b: Array) -> Array:
    """`/`: floats as IEEE, integers towards minus infinity with x/0 = 0 (NumPy's own convention)."""
    return np.true_divide(a, b) if a.dtype.kind == "f" else np.floor_divide(a, b)


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": divide,
    "%": np.remainder,
    "&": np.bitwise_and,
    "|": np.bitwise_or,
    "^": np.bitwise_xor,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
    "&&": np.logical_and,
    "||": np.logical_or,
}
