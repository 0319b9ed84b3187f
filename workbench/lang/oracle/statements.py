"""Execution of one statement by the NumPy oracle: initialise, evaluate block by block, store or reduce."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod

import numpy as np

from workbench.lang.algebra.identities import neutral
from workbench.lang.operator import Monoid, Range, Statement
from workbench.lang.oracle.blocks import Block, Interval, Weigh, covering_blocks, hull
from workbench.lang.oracle.contractions import weight_of_factors
from workbench.lang.oracle.execution import Execution
from workbench.lang.oracle.numbers import Arithmetic, store
from workbench.lang.oracle.order import conflict_free, own_reads, serial_indices
from workbench.lang.oracle.scalars import run_instances
from workbench.lang.oracle.tuples import identity_tuple
from workbench.lang.oracle.values import Cells, Memory
from workbench.lang.oracle.wavefronts import front_weights, fronts
from workbench.lang.oracle.writes import assign, combine_contributions, put, reduce_tuple

BLOCK_ELEMENTS = 1 << 21
WORTH_A_BLOCK = 1 << 12


def execute(statement: Statement, fixed: Mapping[str, int], memory: Memory, arithmetic: Arithmetic) -> None:
    """Run all instances of a statement on `memory`, in order, in place."""
    run = Execution(statement, fixed, memory, arithmetic, own_reads(statement), {})
    if statement.initialise:
        _initialise(run)
    if statement.reduction is None:
        _run(run, assign)
        return
    accumulators = {t.tensor: _accumulator(memory[t.tensor], arithmetic) for t in statement.targets}
    work = replace(run, memory=memory | accumulators)
    _run(work, reduce_tuple if isinstance(statement.reduction, Monoid) else combine_contributions)
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
        return covering_blocks(run.ranges, run.fixed, {}, BLOCK_ELEMENTS)
    weigh = weight_of_factors(run.factors, run.ranges)
    bounding = {name for r in run.ranges for name in r.bounding}
    bounding &= {r.index for r in run.ranges}
    whole = hull(run.ranges, run.fixed, {}).lengths
    each = prod(length for name, length in whole.items() if name not in bounding)
    # A contraction needs a box: where a slice of a triangle holds enough points it is worth a block of its own.
    if bounding and each >= WORTH_A_BLOCK:
        return _split(run, frozenset(bounding), {}, weigh)
    return covering_blocks(run.ranges, run.fixed, {}, BLOCK_ELEMENTS, weigh)


def _split(
    run: Execution, serial: frozenset[str], narrowed: dict[str, Interval], weigh: Weigh | None = None
) -> Iterator[Block]:
    """Blocks in which the serial indices have one value each."""
    block = hull(run.ranges, run.fixed, narrowed)
    index = next((n for n in block.names if n in serial and n not in narrowed), None)
    if index is None:
        yield from covering_blocks(run.ranges, run.fixed, narrowed, BLOCK_ELEMENTS, weigh)
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
        start = identity_tuple(reduction, run.arithmetic)
    else:
        start = [np.asarray(neutral(str(reduction), dtype)) for dtype in dtypes]
    for target, dtype, value in zip(run.statement.targets, dtypes, start, strict=True):
        constant = store(value, dtype)
        if run.statement.initialises_all:
            run.memory[target.tensor].array[...] = constant
            continue
        for block in covering_blocks(_ranges_of_cells(run), run.fixed, {}, BLOCK_ELEMENTS):
            put(run, block, target, constant)


def _ranges_of_cells(run: Execution) -> tuple[Range, ...]:
    """The free ranges, or all of them where a free range is bounded by a reduction index."""
    free = tuple(r for r in run.ranges if r.kind == "free")
    reduced = set(run.statement.indices("reduction"))
    bounds = {name for r in free for name in r.bounding}
    return run.ranges if bounds & reduced else free
