"""Values of models that compiled code and the interpreter compute: floats within rounding, all else exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.graph import Data
from workbench.graph.evaluation.values import Cell


def agrees(found: Any, expected: Any) -> bool:
    """Whether a value is the expected one, of the same type."""
    match expected:
        case Data():
            same = isinstance(found, Data) and found.constructor == expected.constructor
            return same and all(map(agrees, found.fields, expected.fields))
        case tuple():
            return len(found) == len(expected) and all(map(agrees, found, expected))
        case Cell():
            return agrees(found.value, expected.value)
        case _ if callable(expected):
            return callable(found)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    if expected.dtype.kind == "f":
        return np.allclose(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
    return bool(np.array_equal(found, expected))
