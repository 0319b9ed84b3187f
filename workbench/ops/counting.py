"""How much an operator computes and moves, counted from its statements for given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang.expr import Read, index_names, reads
from workbench.lang.operation_counts import instance_operations
from workbench.lang.operator import Operator, Range, Statement, Tensor
from workbench.lang.oracle.blocks import Block, covering_blocks
from workbench.lang.oracle.exact import exact

BLOCK_POINTS = 1 << 20


def flops(op: Operator, /, **sizes: int) -> int:
    """Arithmetic operations on data: those of one instance of each statement times the points of its domain.

    One for each `+ - * /`, min, max and function of data and for each combination of a reduction, two for `fma`;
    comparisons, selections, casts and arithmetic on indices and sizes are free, a let is computed once (see
    `lang/operation_counts.py`).  Triangular domains are summed exactly.  CallError names a size that is missing.

    >>> from workbench.lang import operator
    >>> mm = operator("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    >>> flops(mm, M=2, N=3, K=4)
    48
    """
    _require(op, sizes)
    return sum(points(s.ranges, sizes) * instance_operations(s.values, s.reduction) for s in op.statements())


def bytes_moved(op: Operator, /, **sizes: int) -> int:
    """Bytes that have to move at least: every input cell that is read once, every output cell once.

    Outputs that are also read count twice; temporaries count nothing.
    """
    _require(op, sizes)
    return sum(_bytes(op, tensor, sizes) for tensor in op.tensors.values())


def points(ranges: tuple[Range, ...], sizes: Mapping[str, int]) -> int:
    """Number of integer points of nested ranges for given sizes."""
    bounding = {name for r in ranges for name in r.bounding}
    outer = tuple(r for r in ranges if r.index in bounding)
    inner = [r for r in ranges if r.index not in bounding]
    return sum(_points(block, inner) for block in covering_blocks(outer, sizes, {}, BLOCK_POINTS))


def _points(block: Block, inner: list[Range]) -> int:
    count: Any = np.broadcast_to(True if block.mask is None else block.mask, block.shape).astype(np.int64)
    box = 1  # a Python int: the points of a large box exceed 64 bits
    for r in inner:
        extent = np.maximum(exact(r.upper, block.grids) - exact(r.lower, block.grids), 0)
        if extent.ndim:
            count = count * extent
        else:
            box *= int(extent)
    return box * int(np.sum(count))


def _bytes(op: Operator, tensor: Tensor, sizes: Mapping[str, int]) -> int:
    cells = prod(max(0, int(exact(e, sizes))) for e in tensor.extent)
    match tensor.role:
        case "temporary":
            return 0
        case "input":
            return min(cells, _cells_read(op, tensor.name, sizes)) * tensor.dtype.bytes
        case "inout":
            return 2 * cells * tensor.dtype.bytes
        case "output":
            return cells * tensor.dtype.bytes


def _cells_read(op: Operator, name: str, sizes: Mapping[str, int]) -> int:
    """At most so many cells are read: fewer than there are where a table is looked up rarely."""
    return sum(
        points(_ranges_of(read, statement.ranges), sizes)
        for statement in op.statements()
        for read in _reads(statement, name)
    )


def _ranges_of(read: Read, ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """The ranges of the indices in a read's subscripts, and of those that bound them."""
    needed = index_names(read)
    for r in reversed(ranges):
        if r.index in needed:
            needed |= r.bounding
    return tuple(r for r in ranges if r.index in needed)


def _reads(statement: Statement, name: str) -> list[Read]:
    roots = [*statement.values, *(s for target in statement.targets for s in target.subscripts)]
    return list({read for read in reads(*roots) if read.tensor == name})


def _require(op: Operator, sizes: Mapping[str, int]) -> None:
    needed = [*op.size_names, *op.scalars]
    missing = [name for name in needed if name not in sizes]
    if missing:
        raise CallError(f"{op.name} needs {', '.join(missing)}: give {', '.join(f'{n}=...' for n in needed)}")
