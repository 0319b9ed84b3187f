"""The operators of the library in float64, at sizes where differences are quick."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

import workbench as wb
from tests.lang.derived.differences import Point
from workbench.ops.samples import sample_arrays, sample_out

FLOATS = re.compile(r"\b(float16|bfloat16|half|float)\b")

# Why there is no gradient.
NONE = {
    "life": "no input is of floats",
    "matmul_int8": "no input is of floats",
    "one_hot": "no input is of floats",
    "popcount_matmul": "no input is of floats",
}


@cache
def in_double(name: str) -> wb.Operator:
    """An operator of the library with float64 for every type of floats."""
    op = wb.ops.load(name)
    return op.astype("double") if op.generic else wb.operators(FLOATS.sub("double", op.text))[name]


def tiny(op: wb.Operator) -> dict[str, int]:
    """The least of its example sizes, cut."""
    examples = wb.ops.examples(op)
    sizes = dict(examples[-1]) if examples else dict.fromkeys((*op.size_names, *op.scalars), 4)
    most = 5 if len(op.size_names) < 5 else 3
    return {name: min(size, 3 if name in op.scalars else most) for name, size in sizes.items()}


def point(name: str, seed: int = 0) -> Point:
    """An operator of the library at sample arguments."""
    op = in_double(name)
    sizes = tiny(op)
    arguments = list(sample_arrays(op, seed, **sizes))
    if name == "cholesky":
        arguments[0] = arguments[0] @ arguments[0].T + 3 * np.eye(len(arguments[0]))
    out = sample_out(op, seed + 1, **sizes)
    given = {} if out is None else dict(zip(op.outputs, out if isinstance(out, tuple) else (out,), strict=True))
    return Point(op, arguments, given)
