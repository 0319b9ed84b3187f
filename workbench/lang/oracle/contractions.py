"""Sums of products as tensor contractions: `C(m,n) +=! A(m,k) * B(k,n)` without an array over m, n and k."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from workbench.lang.expr import Binary, Expr, index_names
from workbench.lang.operator import Range, Statement
from workbench.lang.oracle.blocks import Array, Block, Weigh

MEMORY_ELEMENTS = 1 << 24


def factors(statement: Statement) -> tuple[Expr, ...] | None:
    """The factors of the value, if the statement sums a product of two or more over some index."""
    value = statement.values[0]
    if statement.reduction != "+" or not statement.indices("reduction") or value.dtype.kind == "bool":
        return None
    found = tuple(_factors(value))
    return found if len(found) > 1 else None


def _factors(expr: Expr) -> list[Expr]:
    # Integer products wrap at their own width, so only same-typed products may be taken apart.
    if isinstance(expr, Binary) and expr.op == "*" and expr.left.dtype == expr.right.dtype == expr.dtype:
        return _factors(expr.left) + _factors(expr.right)
    return [expr]


def weight_of_factors(parts: tuple[Expr, ...], ranges: tuple[Range, ...]) -> Weigh:
    """Cost of a box: its largest operand (the factors and the cells written)."""
    free = {r.index for r in ranges if r.kind == "free"}
    operands = [free, *(index_names(part) for part in parts)]

    def weigh(lengths: Mapping[str, int]) -> int:
        return max(prod(length for name, length in lengths.items() if name in names) for names in operands)

    return weigh


def contraction_sum(operands: list[Array], block: Block, reduced: tuple[int, ...]) -> Array:
    """Sum over the reduced axes of the product of arrays that broadcast against the block."""
    if not all(np.isfinite(operand).all() for operand in operands):
        return _term_by_term(operands, block, reduced)
    rank = len(block.names)
    arguments: list[Any] = []
    seen: set[int] = set()
    for operand in operands:
        full = operand.reshape((1,) * (rank - operand.ndim) + operand.shape)
        axes = [axis for axis in range(rank) if full.shape[axis] > 1]
        arguments += [full.reshape([full.shape[axis] for axis in axes]), axes]
        seen.update(axes)
    kept = [axis for axis in range(rank) if axis in seen and axis not in reduced]
    # A reduced index that occurs in no factor repeats the sum.
    repeats = prod(block.shape[axis] for axis in reduced if axis not in seen)
    result = np.einsum(*arguments, kept, optimize=("greedy", MEMORY_ELEMENTS))
    shape = [block.shape[axis] if axis in kept else 1 for axis in range(rank)]
    return np.asarray(result * result.dtype.type(repeats) if repeats != 1 else result).reshape(shape)


def _term_by_term(operands: list[Array], block: Block, reduced: tuple[int, ...]) -> Array:
    """The same with every product formed: with infinities `a * x + a * y` is not `a * (x + y)`."""
    rank = len(block.names)
    full = [operand.reshape((1,) * (rank - operand.ndim) + operand.shape) for operand in operands]
    axis = max(reduced, key=lambda a: block.shape[a])
    step = max(1, MEMORY_ELEMENTS * block.shape[axis] // prod(block.shape))
    sums = []
    for start in range(0, block.shape[axis], step):
        piece = (*(slice(None),) * axis, slice(start, start + step))
        product = reduce(np.multiply, [x if x.shape[axis] == 1 else x[piece] for x in full])
        length = min(step, block.shape[axis] - start)
        shape = tuple(length if a == axis else n for a, n in enumerate(block.shape))
        sums.append(np.broadcast_to(product, shape).sum(axis=reduced, keepdims=True, dtype=product.dtype))
    return reduce(np.add, sums)
