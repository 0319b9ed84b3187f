"""Execution of one statement by the NumPy oracle: initialise, evaluate block by block, store or reduce."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from workbench.lang.expr import Expr, Index, Read
from workbench.lang.operator import Monoid, Range, Statement, Target
from workbench.lang.oracle_blocks import Array, Block, Interval, Weigh, blocks, hull
from workbench.lang.oracle_contract import contracted, factors, weight_of_factors
from workbench.lang.oracle_fronts import front_weights, fronts
from workbench.lang.oracle_numbers import REDUCTIONS, Arithmetic, identity, store
from workbench.lang.oracle_order import conflict_free, own_reads, serial_indices
from workbench.lang.oracle_scalars import LARGEST_TREE, run_instances, tree_size
from workbench.lang.oracle_targets import target_view
from workbench.lang.oracle_tuples import fold_tuples, identity_tuple
from workbench.lang.oracle_values import Cells, Memory, Values

BLOCK_ELEMENTS = 1 << 21
WORTH_A_BLOCK = 1 << 12


@dataclass(frozen=True)
class Execution:
    """One execution of a statement: for given sizes and values of the enclosing axes."""

    statement: Statement
    fixed: Mapping[str, int]
    memory: Memory
    arithmetic: Arithmetic
    own: list[Read]
    reading: dict[int, bool]

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        return tuple(r for r in self.statement.ranges if r.kind != "sequential")

    @cached_property
    def factors(self) -> tuple[Expr, ...] | None:
        """The factors of a sum of products that may be contracted as a whole, or None."""
        return None if self.own else factors(self.statement)

    @cached_property
    def one_by_one(self) -> bool:
        """Whether the statement can be run by `run_instances`."""
        sizes: dict[int, int] = {}
        small = all(tree_size(value, sizes) < LARGEST_TREE for value in self.statement.values)
        return small and len(self.statement.targets) == 1 and bool(self.ranges)

    def values(self, block: Block) -> Values:
        return Values(self.memory, block, self.arithmetic, self.statement.name, self.reading)


def execute(statement: Statement, fixed: Mapping[str, int], memory: Memory, arithmetic: Arithmetic) -> None:
    """Run all instances of a statement on `memory`, in order, in place."""
    run = Execution(statement, fixed, memory, arithmetic, own_reads(statement), {})
    if statement.initialise:
        _initialise(run)
    if statement.reduction is None:
        _run(run, _assign)
        return
    accumulators = {t.tensor: _accumulator(memory[t.tensor], arithmetic) for t in statement.targets}
    work = replace(run, memory=memory | accumulators)
    _run(work, _reduce_tuple if isinstance(statement.reduction, Monoid) else _reduce)
    for name, cells in accumulators.items():
        if cells is not memory[name]:
            memory[name].array[...] = store(cells.array, cells.dtype)


def _accumulator(cells: Cells, arithmetic: Arithmetic) -> Cells:
    """The cells a reduction accumulates into: a copy where the working type is wider than storage."""
    if arithmetic.working(cells.dtype) == cells.array.dtype:
        return cells
    return replace(cells, array=arithmetic.load(cells.array, cells.dtype))


def _run(run: Execution, step: Callable[[Execution, Block], None]) -> None:
    serial = serial_indices(run.statement, run.own)
    if not run.own:
        for block in _free_blocks(run):
            step(run, block)
    elif serial is None:
        _until_conflict_free(run, step, {})
    elif len(serial) > 1 and (weights := front_weights(run.statement, run.own)) is not None:
        for front in fronts(hull(run.ranges, run.fixed, {}), weights):
            step(run, front)
    elif serial.issuperset(r.index for r in run.ranges) and run.one_by_one:
        run_instances(run.statement, run.ranges, {}, run.fixed, run.memory, run.arithmetic)
    else:
        for block in _split(run, serial, {}):
            step(run, block)


def _free_blocks(run: Execution) -> Iterator[Block]:
    """Blocks of a statement that reads nothing it writes."""
    if run.factors is None:
        return blocks(run.ranges, run.fixed, {}, BLOCK_ELEMENTS)
    weigh = weight_of_factors(run.factors, run.ranges)
    bounding = {name for r in run.ranges for name in r.bounding}
    bounding &= {r.index for r in run.ranges}
    whole = hull(run.ranges, run.fixed, {}).lengths
    each = prod(length for name, length in whole.items() if name not in bounding)
    # A contraction needs a box: where a slice of a triangle holds enough points it is worth a block of its own.
    if bounding and each >= WORTH_A_BLOCK:
        return _split(run, frozenset(bounding), {}, weigh)
    return blocks(run.ranges, run.fixed, {}, BLOCK_ELEMENTS, weigh)


def _split(
    run: Execution, serial: frozenset[str], narrowed: dict[str, Interval], weigh: Weigh | None = None
) -> Iterator[Block]:
    """Blocks in which the serial indices have one value each."""
    block = hull(run.ranges, run.fixed, narrowed)
    index = next((n for n in block.names if n in serial and n not in narrowed), None)
    if index is None:
        yield from blocks(run.ranges, run.fixed, narrowed, BLOCK_ELEMENTS, weigh)
        return
    first = block.starts[index]
    for value in range(first, first + block.lengths[index]):
        yield from _split(run, serial, {**narrowed, index: (value, value + 1)}, weigh)


def _until_conflict_free(
    run: Execution, step: Callable[[Execution, Block], None], narrowed: dict[str, Interval]
) -> None:
    """Run blocks whose instances do not disturb each other, found by splitting from the outermost loop."""
    block = hull(run.ranges, run.fixed, narrowed)
    if 0 in block.shape:
        return
    long = [name for name in block.names if block.lengths[name] > 1]
    small = prod(block.shape) <= BLOCK_ELEMENTS
    if not long or (small and conflict_free(run.values(block), run.statement, run.own)):
        step(run, block)
    elif len(long) == 1 and run.one_by_one:
        run_instances(run.statement, run.ranges, narrowed, run.fixed, run.memory, run.arithmetic)
    else:
        first = block.starts[long[0]]
        for value in range(first, first + block.lengths[long[0]]):
            _until_conflict_free(run, step, {**narrowed, long[0]: (value, value + 1)})


def _initialise(run: Execution) -> None:
    """Set the cells of the free ranges to the identity; the whole tensor if a target is computed."""
    reduction = run.statement.reduction
    dtypes = [run.memory[t.tensor].dtype for t in run.statement.targets]
    if isinstance(reduction, Monoid):
        neutral = identity_tuple(reduction, run.arithmetic)
    else:
        neutral = [identity(str(reduction), dtype) for dtype in dtypes]
    for target, dtype, value in zip(run.statement.targets, dtypes, neutral, strict=True):
        constant = store(np.asarray(value), dtype)
        if not all(isinstance(s, Index) for s in target.subscripts):
            run.memory[target.tensor].array[...] = constant
            continue
        for block in blocks(_ranges_of_cells(run), run.fixed, {}, BLOCK_ELEMENTS):
            _put(run, block, target, constant)


def _ranges_of_cells(run: Execution) -> tuple[Range, ...]:
    """The free ranges, or all of them where a free range is bounded by a reduction index."""
    free = tuple(r for r in run.ranges if r.kind == "free")
    reduced = set(run.statement.indices("reduction"))
    bounds = {name for r in free for name in r.bounding}
    return run.ranges if bounds & reduced else free


def _assign(run: Execution, block: Block) -> None:
    values = run.values(block)
    results = [values.value(v, block.mask) for v in run.statement.values]
    for target, result in zip(run.statement.targets, results, strict=True):
        _put(run, block, target, store(result, run.memory[target.tensor].dtype))


def _put(run: Execution, block: Block, target: Target, result: Array) -> None:
    """Store one value per instance; where several instances write a cell the last one stays."""
    view = target_view(run.memory[target.tensor], target, block)
    if view is not None and view.shape == block.shape:
        np.copyto(view, result, casting="unsafe", where=True if block.mask is None else block.mask)
        return
    flat, at, kept = _scattered(run, block, target)
    flat[at] = np.broadcast_to(result, block.shape).ravel()[kept]


def _reduce(run: Execution, block: Block) -> None:
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
    if run.factors and block.mask is None:
        part = contracted([run.values(block).value(f) for f in run.factors], block, _reduced_axes(run, block))
    else:
        part = _folded(run, block, combine, identity(reduction, cells.dtype))
    combine(view, part.astype(cells.array.dtype, copy=False), out=view)


def _folded(run: Execution, block: Block, combine: np.ufunc, neutral: Any) -> Array:
    dtype = run.memory[run.statement.targets[0].tensor].array.dtype
    result = run.values(block).value(run.statement.values[0], block.mask).astype(dtype, copy=False)
    if block.mask is not None:
        result = np.where(block.mask, result, np.asarray(neutral, dtype))
    axes = _reduced_axes(run, block)
    full = np.broadcast_to(result, block.shape)
    return combine.reduce(full, axis=axes, dtype=dtype, keepdims=True) if axes else full


def _reduce_tuple(run: Execution, block: Block) -> None:
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
        neutral = identity_tuple(monoid, run.arithmetic)
        results = [np.where(block.mask, r, n) for r, n in zip(results, neutral, strict=True)]
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
