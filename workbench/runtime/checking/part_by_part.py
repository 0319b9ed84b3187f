"""The oracle part by part: where the rows of all that is written do not depend on one another, some rows at a time.

What is computed of so few rows stays in a cache, and threads share the parts: large calls are evaluated many times as
fast as as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from workbench.lang import evaluate
from workbench.lang.algebra.normal_form import constant
from workbench.lang.expr import Expr, Index, Read, Size, index_names, size_names, walk
from workbench.lang.operator import Operator, Statement, Tensor
from workbench.runtime.arrays.foreign import several
from workbench.runtime.host.machine import thread_count

Array = np.ndarray[Any, Any]

PART_CELLS, LARGE_CELLS = 1 << 17, 1 << 20
"""Cells of an array in one part, and of arrays that are worth parts."""


def evaluated(op: Operator, arrays: tuple[Any, ...], out: Any, /, **options: Any) -> tuple[Array, ...]:
    """The outputs of a call with NumPy arrays, as `evaluate` gives them."""
    rows = _rows(op, arrays, options)
    if rows is None:
        return several(evaluate(op, *arrays, out=out, **options))
    split = [_is_split(op.tensors.get(name), rows[0]) for name in op.parameters]

    def part(start: int) -> tuple[Array, ...]:
        own = slice(start, start + rows[2])
        given = [x[own] if divided else x for x, divided in zip(arrays, split, strict=True)]
        before = None if out is None else tuple(None if x is None else x[own] for x in several(out))
        before = before[0] if before is not None and len(before) == 1 else before
        fewer = {rows[0]: min(rows[2], rows[1] - start)} if rows[0] in options else {}
        return several(evaluate(op, *given, out=before, **{**options, **fewer}))

    with ThreadPoolExecutor(thread_count()) as pool:
        parts = list(pool.map(part, range(0, rows[1], rows[2])))
    return tuple(np.concatenate(own) for own in zip(*parts, strict=True))


def _rows(op: Operator, arrays: tuple[Any, ...], options: dict[str, Any]) -> tuple[str, int, int] | None:
    """(the size of the first axis, its value, rows of a part); None where the call is taken as a whole."""
    size = shared_rows(op)
    if size is None or any(np.ndim(value) for value in options.values()):
        return None
    known = zip(op.parameters, arrays, strict=False)
    split = [x for name, x in known if _is_split(op.tensors.get(name), size) and isinstance(x, np.ndarray)]
    largest = max(split, key=lambda x: x.size, default=None)
    if largest is None or len(arrays) != len(op.parameters) or largest.size < LARGE_CELLS:
        return None
    count = max(1, PART_CELLS * len(largest) // largest.size)
    return (size, len(largest), count) if count < len(largest) else None


def shared_rows(op: Operator) -> str | None:
    """The size of the first axis of all that is written, if nothing in one of its rows depends on another row.

    >>> import workbench as wb
    >>> shared_rows(wb.ops.softmax), shared_rows(wb.ops.jacobi_2d)
    ('M', None)
    """
    first = op.tensors[op.outputs[0]].extent[:1]
    size = next((e.name for e in first if isinstance(e, Size)), None)
    if size is None or size in op.scalars or op.promises or op.language != "operator":
        return None
    if any(_mentions(c.expr, size, ()) for c in op.conditions):
        return None
    tensors = op.tensors.values()
    if not all(_fits(t, size) for t in tensors):
        return None
    return size if all(_is_rowwise(s, op, size) for s in op.statements()) else None


def _fits(tensor: Tensor, size: str) -> bool:
    """Whether a tensor has a row for each, or, where it is only read, nothing to do with rows."""
    if not _is_split(tensor, size):
        return tensor.role == "input" and not any(_mentions(e, size, ()) for e in (*tensor.lower, *tensor.extent))
    others = (*tensor.lower, *tensor.extent[1:])
    return not tensor.times and constant(tensor.lower[0]) == 0 and not any(_mentions(e, size, ()) for e in others)


def _is_split(tensor: Tensor | None, size: str) -> bool:
    first = tensor.extent[0] if tensor is not None and tensor.extent else None
    return isinstance(first, Size) and first.name == size


def _is_rowwise(statement: Statement, op: Operator, size: str) -> bool:
    """Whether an instance of the statement touches the rows of one place only, and knows neither place nor number."""
    rows = [r for r in statement.ranges if isinstance(r.upper, Size) and r.upper.name == size]
    if len(rows) != 1 or rows[0].kind != "free" or constant(rows[0].lower) != 0:
        return False
    own, others = rows[0].index, [e for r in statement.ranges if r is not rows[0] for e in (r.lower, r.upper)]
    accesses = [(t.tensor, t.subscripts) for t in statement.targets]
    nodes = [node for value in statement.values for node in walk(value)]
    accesses += [(node.tensor, node.subscripts) for node in nodes if isinstance(node, Read)]
    elsewhere = [*others, *([statement.condition] if statement.condition is not None else [])]
    places = sum(isinstance(node, Index) and node.name == own for node in nodes)
    return (
        not any(_mentions(e, size, (own,)) for e in elsewhere)
        and not any(isinstance(node, Size) and node.name == size for node in nodes)
        and all(_in_row(op.tensors[name], subscripts, own, size) for name, subscripts in accesses)
        and places == sum(_is_split(op.tensors[node.tensor], size) for node in nodes if isinstance(node, Read))
    )


def _in_row(tensor: Tensor, subscripts: tuple[Expr, ...], own: str, size: str) -> bool:
    """Whether an access is to the row of an index, or to what has no rows."""
    first, rest = (subscripts[:1], subscripts[1:]) if _is_split(tensor, size) else ((), subscripts)
    return all(isinstance(e, Index) and e.name == own for e in first) and not any(
        _mentions(e, size, (own,)) for e in rest
    )


def _mentions(expr: Expr, size: str, indices: Iterable[str]) -> bool:
    return size in size_names(expr) or not index_names(expr).isdisjoint(indices)
