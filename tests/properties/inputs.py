"""A random operator ready to run: its arrays and what the oracle makes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from random import Random
from typing import Any

import numpy as np

from tests.properties.writer import Case
from workbench import lang
from workbench.errors import BudgetExceeded
from workbench.lang.dtypes import DType
from workbench.lang.operator import Operator

Array = np.ndarray[Any, Any]

CELLS = 1 << 24
"""A random program with a larger array is not run."""


@dataclass
class Problem:
    """An operator with arrays and results.

    `values` holds each input and each in/out or partly written output before the call; `repeated` the dimensions along
    which an input is the same everywhere; `expected` each output.
    """

    case: Case
    op: Operator
    sizes: dict[str, int]
    values: dict[str, Array] = field(default_factory=dict)
    repeated: dict[str, tuple[int, ...]] = field(default_factory=dict)
    expected: dict[str, Array] = field(default_factory=dict)

    @property
    def scalars(self) -> dict[str, int]:
        """The integer scalars that shape the program."""
        return {n: v for n, v in self.sizes.items() if n in self.op.scalars}


def problem(case: Case, random: Random, fixed: dict[str, Array] | None = None) -> Problem:
    """Parse, draw data (but for what is `fixed`), ask the oracle.  Raises what the language refuses."""
    op = lang.operator(case.text)
    made = Problem(case, op, case.sizes | {n: v for n, v in case.scalars.items() if n in op.scalars})
    generator = np.random.default_rng(random.randrange(2**31))
    for name in op.parameters:
        if name not in op.scalars:
            made.values[name], made.repeated[name] = _drawn(made, name, generator, random)
    for name in op.outputs:
        tensor = op.tensors[name]
        if tensor.role == "inout" or tensor.partial:
            made.values[name] = _filled(shape_of(made, name), tensor.dtype, ("small", 0, 0), generator)
    made.values |= fixed or {}
    made.repeated |= dict.fromkeys(fixed or {}, ())
    _evaluate(made)
    return made


def shape_of(made: Problem, name: str) -> tuple[int, ...]:
    """The extents of a tensor at the problem's sizes."""
    return tuple(max(0, lang.fold(e, made.sizes)) for e in made.op.tensors[name].extent)


def arguments(made: Problem) -> list[Any]:
    """Positional arguments of a call."""
    return [made.sizes[n] if n in made.op.scalars else made.values[n] for n in made.op.parameters]


def _evaluate(made: Problem) -> None:
    names = made.op.outputs
    given = tuple(made.values.get(n) for n in names)
    out = given if any(g is not None for g in given) else None
    results = lang.evaluate(made.op, *arguments(made), out=out, **made.case.sizes)
    results = results if isinstance(results, tuple) else (results,)
    made.expected = dict(zip(names, results, strict=True))


def _drawn(made: Problem, name: str, generator: np.random.Generator, random: Random) -> tuple[Array, tuple[int, ...]]:
    """Data of an input; sometimes the same all along a dimension."""
    if name in made.case.scalars:  # shapes nothing in this program, so it is data
        return np.array(made.case.scalars[name], np.int32), ()
    shape = shape_of(made, name)
    if prod(shape) > CELLS:
        raise BudgetExceeded(f"{name} would have {prod(shape)} cells")
    repeated = tuple(d for d in range(len(shape)) if random.random() < 0.15)
    small = tuple(1 if d in repeated else n for d, n in enumerate(shape))
    found = _filled(small, made.op.tensors[name].dtype, made.case.data[name], generator)
    return np.ascontiguousarray(np.broadcast_to(found, shape)).reshape(shape), repeated


def _filled(shape: tuple[int, ...], dtype: DType, how: tuple[str, int, int], generator: np.random.Generator) -> Array:
    kind, low, high = how
    if kind == "index":
        return generator.integers(low, max(high, low) + 1, shape).astype(dtype.numpy)
    if kind == "extreme":
        info = np.iinfo(dtype.numpy)
        edges = np.array([info.min, info.min + 1, 0, 1, 2, info.max - 1, info.max], dtype.numpy)
        return edges[generator.integers(0, len(edges), shape)]
    if dtype.kind == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    lowest = 0 if dtype.kind == "uint" else -2
    return generator.integers(lowest, 3, shape).astype(dtype.numpy)
