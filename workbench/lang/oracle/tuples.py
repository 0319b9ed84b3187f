"""Reductions over declared monoids: fold tuples of arrays with the monoid's `combine`."""

from __future__ import annotations

from functools import reduce as fold_left

import numpy as np

from workbench.lang.dtypes import DType
from workbench.lang.operator import Monoid
from workbench.lang.oracle.blocks import Array, Block
from workbench.lang.oracle.numbers import Arithmetic
from workbench.lang.oracle.values import Cells, Values

Tuple = list[Array]


def identity_tuple(monoid: Monoid, arithmetic: Arithmetic) -> Tuple:
    """The identity of a monoid, one rank-0 array per field, in working types."""
    nothing = Values({}, Block((), (), {}, ()), arithmetic)
    return [arithmetic.load(nothing.value(e), d) for e, d in zip(monoid.identity, monoid.dtypes, strict=True)]


def fold_tuples(
    monoid: Monoid, arithmetic: Arithmetic, values: Tuple, axes: tuple[int, ...], first: Tuple | None = None
) -> Tuple:
    """Fold over the axes (kept with length 1), neighbours first; then combine with `first` on the left.

    Only associativity is used: contributions are never exchanged.
    """
    if axes:
        values = _folded(monoid, arithmetic, [_reduced_last(v, axes) for v in values], axes)
    return values if first is None else combine(monoid, arithmetic, first, values)


def _reduced_last(values: Array, axes: tuple[int, ...]) -> Array:
    """The reduced axes merged into one last axis, in lexicographic order."""
    kept = [axis for axis in range(values.ndim) if axis not in axes]
    return values.transpose(kept + list(axes)).reshape([values.shape[axis] for axis in kept] + [-1])


def _folded(monoid: Monoid, arithmetic: Arithmetic, values: Tuple, axes: tuple[int, ...]) -> Tuple:
    rest: list[Tuple] = []
    while (length := values[0].shape[-1]) > 1:
        if length % 2:
            rest.append([v[..., -1:] for v in values])
        even = length - length % 2
        left, right = ([v[..., start:even:2] for v in values] for start in (0, 1))
        values = combine(monoid, arithmetic, left, right)
    # The odd ends were cut off from the right, so the last one cut is the leftmost.
    values = fold_left(lambda a, b: combine(monoid, arithmetic, a, b), [values, *reversed(rest)])
    shapes = [iter(v.shape[:-1]) for v in values]
    rank = values[0].ndim - 1 + len(axes)
    return [
        v.reshape([1 if axis in axes else next(shape) for axis in range(rank)])
        for v, shape in zip(values, shapes, strict=True)
    ]


def combine(monoid: Monoid, arithmetic: Arithmetic, left: Tuple, right: Tuple) -> Tuple:
    """`combine` of the monoid, element by element on arrays in working types."""
    names = [*monoid.left, *monoid.right]
    dtypes: list[DType] = [*monoid.dtypes, *monoid.dtypes]
    shape = np.broadcast_shapes(*(v.shape for v in left + right))
    operands = [np.broadcast_to(v, shape).reshape(-1) for v in left + right]
    block = Block(("",), ((0, operands[0].size),), {}, ())
    cells = {n: Cells(n, d, (), v) for n, d, v in zip(names, dtypes, operands, strict=True)}
    fields = _Fields(cells, block, arithmetic)
    results = [arithmetic.load(fields.value(e), d) for e, d in zip(monoid.combine, monoid.dtypes, strict=True)]
    return [np.broadcast_to(r, operands[0].shape).reshape(shape) for r in results]


class _Fields(Values):
    """Values whose reads are the fields of the two operands, one element per position."""

    def _read(self, read: object, guard: object) -> Array:
        return self.memory[read.tensor].array  # type: ignore[attr-defined]
