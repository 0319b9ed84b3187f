"""Promises about data, checked at the call: `injective(idx)` and `in_range(idx, lo, hi)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.codegen import IndexCheck
from workbench.errors import CallError
from workbench.lang import fold
from workbench.lang.operator import Operator, Promise

Array = np.ndarray[Any, Any]
Check = Callable[[Array], None]
Placed = tuple[int, Check]
"""A check, and which parameter it is about."""


def promise_checks(op: Operator, sizes: dict[str, int]) -> tuple[Placed, ...]:
    """(position among the parameters, check) for each promise; a check raises CallError with the first culprit."""
    places = {name: n for n, name in enumerate(op.parameters)}
    return tuple((places[p.tensor], _CHECKS[p.kind](op, p, sizes)) for p in op.promises)


def without(
    op: Operator, sizes: dict[str, int], checks: tuple[Placed, ...], of_kernel: tuple[IndexCheck, ...]
) -> tuple[Placed, ...]:
    """The checks that a kernel does not make by itself, before it writes anything."""
    seen = {check.seen for check in of_kernel}
    return tuple(c for promise, c in zip(op.promises, checks, strict=True) if _range(promise, sizes) not in seen)


def _range(promise: Promise, sizes: dict[str, int]) -> tuple[Any, ...]:
    return (promise.tensor, *(fold(e, sizes) for e in promise.arguments))


def _in_range(op: Operator, promise: Promise, sizes: dict[str, int]) -> Check:
    lower, upper = (fold(e, sizes) for e in promise.arguments)

    def check(array: Array) -> None:
        if array.size and not (array.min() >= lower and array.max() < upper):
            place = _place((array < lower) | (array >= upper))
            raise CallError(
                f"{op.name}: the promise {promise.text} does not hold: "
                f"{promise.tensor}{list(place)} = {array[place]} is not in {lower}:{upper}"
            )

    return check


def _injective(op: Operator, promise: Promise, _: dict[str, int]) -> Check:
    def check(array: Array) -> None:
        values, counts = np.unique(array, return_counts=True)
        if (counts > 1).any():
            value = values[counts > 1][0]
            places = [list(map(int, place)) for place in np.argwhere(array == value)[:2]]
            raise CallError(
                f"{op.name}: the promise {promise.text} does not hold: "
                f"{promise.tensor} is {value} at {places[0]} and at {places[1]}"
            )

    return check


def _place(mask: Array) -> tuple[int, ...]:
    """The first True."""
    return tuple(int(i) for i in np.unravel_index(int(mask.argmax()), mask.shape))


_CHECKS = {"in_range": _in_range, "injective": _injective}
