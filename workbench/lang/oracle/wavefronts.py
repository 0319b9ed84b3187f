"""Wavefronts: the instances of a Gauss-Seidel sweep that do not depend on each other, together.

Where every conflict of a statement has a constant distance, a hyperplane separates its two ends
(Lamport, 1974): with weights w such that w·d >= 1 for all distances d, the instances with the same
w·x are independent, and running them in the order of w·x is running them in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from workbench.lang.expr import Read
from workbench.lang.operator import Statement
from workbench.lang.oracle.blocks import Array, Block
from workbench.lang.oracle.order import Offset, name_offset
from workbench.records import record


@record
class Front(Block):
    """Instances in no box: one value of every index for each, along a single axis."""

    values: Mapping[str, Array]

    @cached_property
    def grids(self) -> dict[str, int | Array]:
        return {**self.fixed, **self.values}

    @cached_property
    def mask(self) -> Array | None:
        return None

    def instance(self, position: tuple[int, ...]) -> str:
        return ", ".join(f"{name}={int(v[position])}" for name, v in self.values.items())


def front_weights(statement: Statement, reads: list[Read]) -> tuple[int, ...] | None:
    """The weight of each index that is not an enclosing axis; None if some distance is not constant."""
    if statement.reduction is not None:
        return None
    names = statement.indices("free")
    target = [name_offset(s) for s in statement.targets[0].subscripts]
    distances = [_distance(names, target, [name_offset(s) for s in read.subscripts]) for read in reads]
    if None in distances:
        return None
    return _weights(len(names), [_positive(d) for d in distances if d is not None and any(d)])


def _distance(names: tuple[str, ...], target: list[Offset], read: list[Offset]) -> tuple[int, ...] | None:
    """From the instance that writes a cell to the one that reads it; zero if they never meet."""
    distance = dict.fromkeys(names, 0)
    for write_at, read_at in zip(target, read, strict=True):
        if write_at is None or read_at is None or write_at[0] != read_at[0]:
            return None
        name, step = write_at[0], write_at[1] - read_at[1]
        if step and name not in distance:
            return (0,) * len(names)
        if step:
            distance[name] = step
    return tuple(distance.values())


def _positive(distance: tuple[int, ...]) -> tuple[int, ...]:
    leading = next(step for step in distance if step)
    return distance if leading > 0 else tuple(-step for step in distance)


def _weights(rank: int, distances: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The smallest weights from the innermost index outwards."""
    weights = [0] * rank
    for axis in reversed(range(rank)):
        for distance in distances:
            if distance[axis] and not any(distance[:axis]):
                inner = sum(w * step for w, step in zip(weights[axis + 1 :], distance[axis + 1 :], strict=True))
                weights[axis] = max(weights[axis], -((inner - 1) // distance[axis]))
    return tuple(weights)


def fronts(block: Block, weights: tuple[int, ...]) -> Iterator[Front]:
    """The instances of a box, front by front."""
    kept = np.broadcast_to(True if block.mask is None else block.mask, block.shape).ravel().nonzero()[0]
    places = np.unravel_index(kept, block.shape) if block.shape else ()
    values = {name: at + block.starts[name] for name, at in zip(block.names, places, strict=True)}
    when = np.zeros(len(kept), np.int64)
    for weight, v in zip(weights, values.values(), strict=True):
        when += weight * v
    order = np.argsort(when, kind="stable")
    changes = np.flatnonzero(np.diff(when[order])) + 1
    for part in np.split(order, changes):
        chosen = {name: v[part] for name, v in values.items()}
        yield Front(("",), ((0, len(part)),), block.fixed, (), chosen)
