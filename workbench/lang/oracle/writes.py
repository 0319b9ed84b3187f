"""What the NumPy oracle does with a block of instances: store its values, or combine them with their cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from workbench.lang.algebra.identities import neutral
from workbench.lang.operator import Monoid, Target
from workbench.lang.oracle.blocks import Array, Block, affine_form
from workbench.lang.oracle.contractions import contraction_sum
from workbench.lang.oracle.execution import Execution
from workbench.lang.oracle.numbers import REDUCTIONS, store
from workbench.lang.oracle.tuples import fold_tuples, identity_tuple
from workbench.lang.oracle.values import Cells


def assign(run: Execution, block: Block) -> None:
    """Store the values of a block."""
    values = run.values(block)
    results = [values.value(v, block.mask) for v in run.statement.values]
    for target, result in zip(run.statement.targets, results, strict=True):
        put(run, block, target, store(result, run.memory[target.tensor].dtype))


def put(run: Execution, block: Block, target: Target, result: Array) -> None:
    """Store one value per instance; where several instances write a cell the last one stays."""
    view = target_view(run.memory[target.tensor], target, block)
    if view is not None and view.shape == block.shape:
        np.copyto(view, result, casting="unsafe", where=True if block.mask is None else block.mask)
        return
    flat, at, kept = _scattered(run, block, target)
    flat[at] = np.broadcast_to(result, block.shape).ravel()[kept]


def combine_contributions(run: Execution, block: Block) -> None:
    """Combine the contributions of a block with the cells."""
    statement, target = run.statement, run.statement.targets[0]
    cells, reduction = run.memory[target.tensor], str(run.statement.reduction)
    combine = REDUCTIONS[reduction]
    view = target_view(cells, target, block)
    if view is None:
        result = run.arithmetic.load(run.values(block).value(statement.values[0], block.mask), cells.dtype)
        flat, at, kept = _scattered(run, block, target)
        combine.at(flat, at, np.broadcast_to(result, block.shape).ravel()[kept])
        return
    factors = [run.values(block).value(f) for f in run.factors or ()] if block.mask is None else []
    if factors:
        part = contraction_sum(factors, block, _reduced_axes(run, block))
    else:
        part = _folded(run, block, combine, neutral(reduction, cells.dtype))
    combine(view, part.astype(cells.array.dtype, copy=False), out=view)


def _folded(run: Execution, block: Block, combine: np.ufunc, nothing: Any) -> Array:
    dtype = run.memory[run.statement.targets[0].tensor].array.dtype
    result = run.values(block).value(run.statement.values[0], block.mask).astype(dtype, copy=False)
    if block.mask is not None:
        result = np.where(block.mask, result, np.asarray(nothing, dtype))
    axes = _reduced_axes(run, block)
    full = np.broadcast_to(result, block.shape)
    return combine.reduce(full, axis=axes, dtype=dtype, keepdims=True) if axes else full


def reduce_tuple(run: Execution, block: Block) -> None:
    """Combine the tuples that a block contributes with the cells, by the declared monoid."""
    monoid, values = run.statement.reduction, run.values(block)
    assert isinstance(monoid, Monoid)
    results = [values.value(v, block.mask) for v in run.statement.values]
    stored = [run.memory[t.tensor] for t in run.statement.targets]
    views = [target_view(c, t, block) for c, t in zip(stored, run.statement.targets, strict=True)]
    typed = (run.arithmetic.load(r, c.dtype) for r, c in zip(results, stored, strict=True))
    results = [np.broadcast_to(r, block.shape) for r in typed]
    if any(view is None for view in views):
        _scatter_tuples(run, block, monoid, results)
        return
    if block.mask is not None:
        nothing = identity_tuple(monoid, run.arithmetic)
        results = [np.where(block.mask, r, n) for r, n in zip(results, nothing, strict=True)]
    parts = fold_tuples(monoid, run.arithmetic, results, _reduced_axes(run, block))
    combined = fold_tuples(monoid, run.arithmetic, parts, (), first=[np.asarray(v) for v in views])
    for view, result in zip(views, combined, strict=True):
        np.asarray(view)[...] = result


def _scatter_tuples(run: Execution, block: Block, monoid: Monoid, results: list[Array]) -> None:
    """A tuple reduction into computed cells: one contribution after another."""
    places = [_scattered(run, block, target) for target in run.statement.targets]
    flats = [flat for flat, _, _ in places]
    _, at, kept = places[0]
    contributions = [r.ravel()[kept] for r in results]
    for n, cell in enumerate(at):
        old = [flat[cell : cell + 1] for flat in flats]
        new = fold_tuples(monoid, run.arithmetic, [c[n : n + 1] for c in contributions], (), first=old)
        for flat, value in zip(flats, new, strict=True):
            flat[cell : cell + 1] = value


def _reduced_axes(run: Execution, block: Block) -> tuple[int, ...]:
    reduced = set(run.statement.indices("reduction"))
    return tuple(axis for axis, name in enumerate(block.names) if name in reduced)


def _scattered(run: Execution, block: Block, target: Target) -> tuple[Array, Array, Array]:
    """The tensor's cells as one row, the positions the instances write, and which instances are real."""
    cells = run.memory[target.tensor]
    positions = run.values(block).positions(cells, target.subscripts, block.mask)
    linear: Array = np.zeros((1,) * len(block.shape), np.int64)
    for position, extent in zip(positions, cells.array.shape, strict=True):
        linear = linear * extent + position
    kept = np.ones(block.shape, bool) if block.mask is None else np.broadcast_to(block.mask, block.shape)
    every = np.broadcast_to(linear, block.shape)
    return cells.array.reshape(-1), every.ravel()[kept.ravel()], kept.ravel()


# -- Where a statement writes: its target cells as a writable view over a block of instances --

def target_view(cells: Cells, target: Target, block: Block) -> Array | None:
    """A writable view of the target cells, one axis per index of the block (length 1 for the others).

    None unless every dimension is `a * index + constant` of a different index (a > 0) inside the tensor
    and all free indices of the block occur.
    """
    slices, order = [], []
    for subscript, lower, extent in zip(target.subscripts, cells.lower, cells.array.shape, strict=True):
        form = affine_form(subscript, block)
        if form is None or len(form[1]) > 1:
            return None
        (name, step), *_ = [*form[1].items(), ("", 1)]
        start = form[0] - lower + (step * block.starts[name] if name else 0)
        stop = start + step * (block.lengths[name] - 1 if name else 0) + 1
        if step < 1 or start < 0 or stop > extent:
            return None
        slices.append(slice(start, stop, step))
        order.append(name)
    return _arranged(cells.array[(*slices, ...)], order, block)


def _arranged(view: Array, order: list[str], block: Block) -> Array | None:
    """Axes in the order of the block's indices: dimensions without one dropped, missing ones of length 1."""
    used = [name for name in order if name]
    free = {r.index for r in block.ranges if r.kind == "free" and block.lengths[r.index] > 1}
    if len(set(used)) < len(used) or free != set(used):
        return None
    axes = [order.index(name) for name in block.names if name in used]
    rest = [axis for axis, name in enumerate(order) if not name]
    moved = view.transpose(axes + rest)
    strides = dict(zip((n for n in block.names if n in used), moved.strides, strict=False))
    return as_strided(
        moved,
        tuple(block.lengths[n] if n in used else 1 for n in block.names),
        tuple(strides.get(n, 0) for n in block.names),
    )
