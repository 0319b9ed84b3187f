"""Promises about data, checked at the call: `injective(idx)` and `in_range(idx, lo, hi)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang import fold
from workbench.lang.operator import Operator, Promise

Array = np.ndarray[Any, Any]


def check_promises(op: Operator, arrays: Mapping[str, Array], sizes: dict[str, int]) -> None:
    """CallError with the first element that breaks a promise of the operator."""
    for promise in op.promises:
        array = arrays[promise.tensor]
        if array.size:
            _CHECKS[promise.kind](op, promise, array, sizes)


def _in_range(op: Operator, promise: Promise, array: Array, sizes: dict[str, int]) -> None:
    lower, upper = (fold(e, sizes) for e in promise.arguments)
    outside = (array < lower) | (array >= upper)
    if outside.any():
        place = _place(outside)
        raise CallError(
            f"{op.name}: the promise {promise.text} does not hold: "
            f"{promise.tensor}{list(place)} = {array[place]} is not in {lower}:{upper}"
        )


def _injective(op: Operator, promise: Promise, array: Array, _: dict[str, int]) -> None:
    values, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        value = values[counts > 1][0]
        places = [list(map(int, place)) for place in np.argwhere(array == value)[:2]]
        raise CallError(
            f"{op.name}: the promise {promise.text} does not hold: "
            f"{promise.tensor} is {value} at {places[0]} and at {places[1]}"
        )


def _place(mask: Array) -> tuple[int, ...]:
    """The first True."""
    return tuple(int(i) for i in np.unravel_index(int(mask.argmax()), mask.shape))


_CHECKS = {"in_range": _in_range, "injective": _injective}
