"""Constants as C literals."""

from __future__ import annotations

import math

from workbench.lang.dtypes import BOOL, FLOAT32, DType

DIGITS = 6
"""Numbers of so many digits are different in float32, too: none of them has a shorter one that reads back the same."""


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
    if dtype != FLOAT32 or _is_short(value):
        return f"{value!r}{suffix}"
    import numpy as np  # for the few constants that float32 rounds

    with np.errstate(over="ignore"):
        rounded = np.float32(value)
    return infinity(value, dtype) if np.isinf(rounded) else f"{rounded!s}{suffix}"


def _is_short(value: float) -> bool:
    """Whether the shortest decimal for float64 is that for float32."""
    usual = value == 0 or 1e-3 <= abs(value) < 1e5  # NumPy writes others with an exponent
    return usual and len(repr(value).replace(".", "").strip("-0")) <= DIGITS


def infinity(value: float, dtype: DType) -> str:
    """Plus or minus infinity in the type."""
    return ("-" if value < 0 else "") + ("INFINITY" if dtype == FLOAT32 else f"({dtype.c_name})INFINITY")


def half_bits(value: float, dtype: DType) -> str:
    """The 16 bits of a half-precision constant."""
    import numpy as np

    with np.errstate(over="ignore"):
        bits = np.array(value, dtype=dtype.numpy).view(np.uint16)
    return f"0x{int(bits):04x}"
