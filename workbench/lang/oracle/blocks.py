"""Blocks of statement instances for the NumPy oracle: integer boxes, open grids, triangular masks, and which integer
expressions are affine in their indices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Size, Unary
from workbench.lang.operator import Range
from workbench.lang.oracle.exact import ARITHMETIC, exact
from workbench.records import record

Array = np.ndarray[Any, Any]
Interval = tuple[int, int]
Weigh = Callable[[Mapping[str, int]], int]


@record
class Block:
    """The instances `lower <= index < upper` of some indices, in lexicographic order.

    `names` are the indices in loop order, `intervals` their bounds; `fixed` holds the sizes and the
    axes of enclosing `for` steps.  `ranges` are kept for the triangular mask.
    """

    names: tuple[str, ...]
    intervals: tuple[Interval, ...]
    fixed: Mapping[str, int]
    ranges: tuple[Range, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(hi - lo for lo, hi in self.intervals)

    @cached_property
    def lengths(self) -> dict[str, int]:
        return dict(zip(self.names, self.shape, strict=True))

    @cached_property
    def starts(self) -> dict[str, int]:
        return {name: lo for name, (lo, _) in zip(self.names, self.intervals, strict=True)}

    @cached_property
    def grids(self) -> dict[str, int | Array]:
        """Values of every name: fixed integers, and open int64 grids for the indices of the block."""
        rank = len(self.names)
        grids: dict[str, int | Array] = dict(self.fixed)
        for axis, (name, (lo, hi)) in enumerate(zip(self.names, self.intervals, strict=True)):
            grids[name] = np.arange(lo, hi).reshape(_open_shape(rank, axis))
        return grids

    @cached_property
    def mask(self) -> Array | None:
        """Where the box holds real instances; None when everywhere (no triangular bound cuts it)."""
        mask: Array | None = None
        for r in self.ranges:
            if not r.bounding & self.lengths.keys():
                continue
            grid = self.grids[r.index]
            inside = np.asarray((grid >= exact(r.lower, self.grids)) & (grid < exact(r.upper, self.grids)))
            if not inside.all():
                mask = inside if mask is None else mask & inside
        return mask

    def instance(self, position: tuple[int, ...]) -> str:
        """`i=3, j=0`: the instance at a position of the box, for messages."""
        pairs = zip(self.names, self.intervals, position, strict=True)
        axes = [f"{name}={lo + p}" for name, (lo, _), p in pairs]
        return ", ".join(axes) or "the only instance"


def _open_shape(rank: int, axis: int) -> tuple[int, ...]:
    return tuple(-1 if d == axis else 1 for d in range(rank))


def covering_blocks(
    ranges: tuple[Range, ...],
    fixed: Mapping[str, int],
    narrowed: Mapping[str, Interval],
    limit: int,
    weigh: Weigh | None = None,
) -> Iterator[Block]:
    """Blocks that cover the ranges, in lexicographic order, each of weight at most `limit` where possible.

    `narrowed` restricts some indices further; `weigh` gives the cost of a box from its lengths
    (by default the number of points).
    """
    block = hull(ranges, fixed, narrowed)
    if 0 in block.shape:
        return
    weight = weigh(block.lengths) if weigh else prod(block.shape)
    split = next((d for d, length in enumerate(block.shape) if length > 1), None)
    if weight <= limit or split is None:
        yield block
        return
    lo, hi = block.intervals[split]
    step = max(1, (hi - lo) * limit // weight)
    for start in range(lo, hi, step):
        piece = {**narrowed, block.names[split]: (start, min(start + step, hi))}
        yield from covering_blocks(ranges, fixed, piece, limit, weigh)


def hull(ranges: tuple[Range, ...], fixed: Mapping[str, int], narrowed: Mapping[str, Interval]) -> Block:
    """The smallest box around the instances, as far as bounds over earlier indices tell."""
    names: list[str] = []
    intervals: list[Interval] = []
    for r in ranges:
        earlier = Block(tuple(names), tuple(intervals), fixed, ()).grids
        lower, upper = np.asarray(exact(r.lower, earlier)), np.asarray(exact(r.upper, earlier))
        lo, hi = (int(lower.min()), int(upper.max())) if lower.size and upper.size else (0, 0)
        if r.index in narrowed:
            lo, hi = max(lo, narrowed[r.index][0]), min(hi, narrowed[r.index][1])
        names.append(r.index)
        intervals.append((lo, max(lo, hi)))
    return Block(tuple(names), tuple(intervals), fixed, ranges)


# -- Affine expressions --

Affine = tuple[int, dict[str, int]] | None


def affine_form(expr: Expr, block: Block) -> Affine:
    """`constant + sum(coefficient * index)` over the indices of a block, or None.

    Only indices with more than one value are kept as unknowns.
    """
    match expr:
        case Index(name, _) if block.lengths.get(name, 0) > 1:
            return 0, {name: 1}
        case Index(name, _) if name in block.starts:
            return block.starts[name], {}
        case Index(name, _):
            return (int(block.fixed[name]), {}) if name in block.fixed else None
        case Const() | Size():
            return int(exact(expr, block.fixed)), {}
        case Cast(operand, _):
            return affine_form(operand, block)
        case Unary("-", operand, _):
            return _scaled(affine_form(operand, block), -1)
        case Binary("+", left, right, _):
            return _sum(affine_form(left, block), affine_form(right, block))
        case Binary("-", left, right, _):
            return _sum(affine_form(left, block), _scaled(affine_form(right, block), -1))
        case Binary("*", left, right, _):
            return _product(affine_form(left, block), affine_form(right, block))
        case Binary(op, left, right, _) if op in "/%":
            return _constant(op, affine_form(left, block), affine_form(right, block))
        case _:
            return None


def _scaled(a: Affine, factor: int) -> Affine:
    return a and (a[0] * factor, {name: c * factor for name, c in a[1].items() if c * factor})


def _sum(a: Affine, b: Affine) -> Affine:
    if a is None or b is None:
        return None
    total = {name: a[1].get(name, 0) + b[1].get(name, 0) for name in a[1] | b[1]}
    return a[0] + b[0], {name: c for name, c in total.items() if c}


def _product(a: Affine, b: Affine) -> Affine:
    if a is None or b is None or (a[1] and b[1]):
        return None
    return _scaled(a, b[0]) if a[1] else _scaled(b, a[0])


def _constant(op: str, a: Affine, b: Affine) -> Affine:
    if a is None or b is None or a[1] or b[1]:
        return None
    return int(ARITHMETIC[op](a[0], b[0])), {}
