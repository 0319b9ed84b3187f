"""Scalar constants as they are written: `0.5`, `3`, `true`, `float64(0.1)`, `-inf`."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.lang.dtypes import BOOL, FLOAT32, INT32, DType, from_numpy
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.terms import Span
from workbench.lang.unify import limits

Array = np.ndarray[Any, Any]


def scalar_array(text: str, negative: bool, to: DType | None, span: Span) -> Array:
    """The rank-0 array that a number or word is, of the given type or the one it has by itself."""
    if text in ("true", "false"):
        return _made(text == "true", to or BOOL, BOOL.kind, span)
    whole = text.isdigit()
    value = (int(text) if len(text) < 30 else 10**30) if whole else float(text)
    kind = "int" if whole else "float"
    return _made(-value if negative else value, to or (INT32 if whole else FLOAT32), kind, span)


def _made(value: float, to: DType, kind: str, span: Span) -> Array:
    if (kind == "float" and not to.is_float) or (kind == "bool") != (to.kind == "bool"):
        raise Problem(f"expected a number of type {to.name} but found {value}", span)
    if to.is_integral:
        lowest, largest = limits(to)
        if not lowest <= value <= largest:
            raise Problem(f"{value} does not fit into {to.name} ({lowest} to {largest})", span)
    with np.errstate(over="ignore"):
        return np.array(value, to.numpy)


def print_scalar(array: Array) -> str:
    """A rank-0 array as a literal that is read back as the same bits (of any NaN, as a NaN).

    >>> print_scalar(np.float32(0.1)), print_scalar(np.array(3, np.int64)), print_scalar(np.array(-np.inf))
    ('0.1', 'int64(3)', 'float64(-inf)')
    """
    of = from_numpy(array.dtype)
    assert of is not None
    value = array.item() if array.dtype.kind in "biuf" else float(array)
    text = str(value).lower() if isinstance(value, bool | int) else _float(array[()], value)
    return text if of in (FLOAT32, INT32, BOOL) else f"{of.name}({text})"


def _float(element: Any, value: float) -> str:
    if not np.isfinite(value):
        return "nan" if np.isnan(value) else "-inf" if value < 0 else "inf"
    if element.dtype.kind != "f":
        return repr(value)
    return _point(np.format_float_scientific(element, unique=True), element)


def _point(scientific: str, element: Any) -> str:
    """The shortest digits that mean this float, without an exponent where that is short."""
    mantissa, _, exponent = scientific.partition("e")
    if -5 < int(exponent) < 12:
        return np.format_float_positional(element, unique=True, trim="0")
    return f"{mantissa}0e{int(exponent)}" if mantissa.endswith(".") else f"{mantissa}e{int(exponent)}"
