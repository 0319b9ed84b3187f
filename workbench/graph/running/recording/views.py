"""Calls that only give a tensor another shape: their result is their input, bytes and all."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from workbench.graph.running.recording.recordings import OperatorCall, RecordedCall
from workbench.lang.expr import Read
from workbench.lang.operator import Operator, Statement
from workbench.lang.oracle.evaluation import evaluate

MOST_ELEMENTS = 1 << 23
"""Larger tensors are copied: that it is their order is found out by moving numbers."""


def is_view(call: RecordedCall) -> bool:
    """Whether the elements of a call's one result are those of its one input, in the same order."""
    if not isinstance(call, OperatorCall) or len(call.results) != 1 or len(call.inputs) != 1 or call.initial[0]:
        return False
    (name, source), (result,) = next(iter(call.inputs.items())), call.results
    if source.bytes != result.bytes or source.dtype != result.dtype or prod(source.shape) > MOST_ELEMENTS:
        return False
    return _only_reads(call.op, name) and _keeps_order(call.op, name, source.shape, tuple(call.sizes.items()))


def _only_reads(op: Operator, name: str) -> bool:
    """Whether the operator is one assignment of cells of its input."""
    match op.body:
        case (Statement(reduction=None, values=(Read(tensor),)),) if not op.promises:
            return tensor == name and set(op.tensors) == {name, *op.outputs}
        case _:
            return False


@lru_cache(maxsize=4096)
def _keeps_order(op: Operator, name: str, shape: tuple[int, ...], sizes: tuple[tuple[str, int], ...]) -> bool:
    """Numbers of the elements are moved by the oracle, digit by digit, as far as the element type holds them."""
    count = prod(shape)
    dtype = op.tensors[name].dtype.numpy
    base = _base(dtype)
    numbers, place = np.arange(count), 1
    while place < max(count, 2):
        digits = (numbers // place % base).astype(dtype)
        given: dict[str, Any] = {name: digits.reshape(shape), **dict(sizes)}
        moved = evaluate(op, **given)
        if not (isinstance(moved, np.ndarray) and np.array_equal(moved.reshape(-1), digits)):
            return False
        place *= base
    return True


def _base(dtype: np.dtype[np.generic]) -> int:
    """The element type holds the whole numbers below it exactly."""
    if dtype.kind == "b":
        return 2
    return 128 if dtype.itemsize == 1 or dtype.itemsize == 2 else 1 << 20


