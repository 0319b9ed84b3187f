"""Constants as C literals."""

from __future__ import annotations

import math

import numpy as np

from workbench.lang.dtypes import BOOL, FLOAT32, DType


def constant_text(value: int | float | bool, dtype: DType) -> str:
    """The shortest literal that reads back as the same value of the type."""
    if dtype.is_half:
        return half_bits(float(value), dtype)
    if dtype.is_float:
        return float_text(float(value), dtype)
    if dtype == BOOL:
        return "1" if value else "0"
    number = int(value)
    if number == -(2**31) and dtype.bits == 32:
        return "(-2147483647 - 1)"
    if number == -(2**63):
        return "(-INT64_C(9223372036854775807) - 1)"
    if dtype.name == "uint64":
        return f"UINT64_C({number})"
    if abs(number) > 2**31 - 1:
        return f"{number}u" if dtype.name == "uint32" else f"INT64_C({number})"
    return f"{number}u" if dtype.name == "uint32" else str(number)


def float_text(value: float, dtype: DType) -> str:
    """A floating-point literal: the shortest decimal that reads back as the same value."""
    suffix = "f" if dtype == FLOAT32 else ""
    if math.isnan(value):
        return "NAN" if dtype == FLOAT32 else f"({dtype.c_name})NAN"
    if math.isinf(value):
        return infinity(value, dtype)
    rounded = np.float32(value) if dtype == FLOAT32 else np.float64(value)
    if np.isinf(rounded):
        return infinity(value, dtype)
    return f"{rounded!s}{suffix}"


def infinity(value: float, dtype: DType) -> str:
    """Plus or minus infinity in the type."""
    return ("-" if value < 0 else "") + ("INFINITY" if dtype == FLOAT32 else f"({dtype.c_name})INFINITY")


def half_bits(value: float, dtype: DType) -> str:
    """The 16 bits of a half-precision constant."""
    with np.errstate(over="ignore"):
        bits = np.array(value, dtype=dtype.numpy).view(np.uint16)
    return f"0x{int(bits):04x}"
