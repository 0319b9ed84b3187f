"""Numbers as C writes them, and the constants its headers name."""

from __future__ import annotations

import math
import re

import numpy as np

from workbench.lang.dtypes import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64
from workbench.lang.expr import Const

CONSTANTS: dict[str, Const] = {
    "INFINITY": Const(math.inf, FLOAT32),
    "NAN": Const(math.nan, FLOAT32),
    "HUGE_VAL": Const(math.inf, FLOAT64),
    "M_PI": Const(math.pi, FLOAT64),
    "M_E": Const(math.e, FLOAT64),
    "M_SQRT2": Const(math.sqrt(2), FLOAT64),
    "DBL_MAX": Const(float(np.finfo(np.float64).max), FLOAT64),
    "DBL_EPSILON": Const(float(np.finfo(np.float64).eps), FLOAT64),
    "FLT_MAX": Const(float(np.finfo(np.float32).max), FLOAT32),
    "FLT_EPSILON": Const(float(np.finfo(np.float32).eps), FLOAT32),
    "INT_MAX": Const(2**31 - 1, INT32),
    "INT_MIN": Const(-(2**31), INT32),
    "true": Const(1, INT32),
    "false": Const(0, INT32),
}
ESCAPES = {"n": 10, "t": 9, "0": 0, "\\": 92, "'": 39, '"': 34, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11}


def c_literal(text: str) -> Const | None:
    """A number as C writes it.

    >>> c_literal("0x10u"), c_literal("1.5f")
    (Const(value=16, dtype=DType(name='uint32', ...)), Const(value=1.5, dtype=DType(name='float32', ...)))
    """
    lower = text.lower()
    hexadecimal = lower.startswith("0x")
    if re.search(r"[.p]", lower) or (not hexadecimal and "e" in lower):
        single, digits = lower.endswith("f"), lower.rstrip("fl")
        try:
            value = float.fromhex(digits) if hexadecimal else float(digits)
        except (ValueError, OverflowError):
            return None
        with np.errstate(over="ignore"):
            return Const(float(np.float32(value)), FLOAT32) if single else Const(value, FLOAT64)
    digits = lower.rstrip("ul")
    suffix = lower[len(digits) :]
    base = 16 if hexadecimal else 2 if lower.startswith("0b") else 8 if len(digits) > 1 and digits[0] == "0" else 10
    try:
        value = int(digits, base)
    except ValueError:
        return None
    if value >= 1 << 64:
        return None
    unsigned = "u" in suffix or value >= 1 << 63
    wide = "l" in suffix or value >= 1 << (32 if unsigned or (base != 10 and value < 1 << 32) else 31)
    if base != 10 and not wide and value >= 1 << 31:
        unsigned = True
    return Const(value, (UINT64 if wide else UINT32) if unsigned else (INT64 if wide else INT32))


def character(text: str) -> int | None:
    """The number of a character as C writes it, quotes included; None for one that is not read.

    >>> character("'a'"), character("'\\\\n'"), character("'ab'")
    (97, 10, None)
    """
    inner = text[1:-1]
    if len(inner) == 1 and ord(inner) < 128:
        return ord(inner)
    return ESCAPES.get(inner[1]) if len(inner) == 2 and inner[0] == "\\" else None
