"""Shapes of the tiles of sums that stay in registers, and the cycles that they take."""

from __future__ import annotations

from workbench.target import Target
from workbench.target_costs import Costs


def slots(rows: int, vectors: int, costs: Costs) -> int:
    """Multiply-adds that could begin while a tile takes one step of the reduction: it waits for its own last ones."""
    return max(rows * vectors, costs.multiply_adds_in_flight)


def row_slots(rows: int, height: int, vectors: int, costs: Costs) -> int:
    """Slots of all rows, `height` at a time; those that are left are taken two by two."""
    whole, left = divmod(rows, height)
    return sum(n * slots(h, vectors, costs) for n, h in ((whole, height), (left // 2, 2), (left % 2, 1)))


def tile_slots(rows: int, columns: int, shape: tuple[int, int], costs: Costs) -> int:
    """Slots of a block of so many rows and vectors of columns, in tiles of one shape."""
    height, vectors = shape
    whole, left = divmod(columns, vectors)
    return whole * row_slots(rows, height, vectors, costs) + (row_slots(rows, height, left, costs) if left else 0)


def shapes(target: Target) -> list[tuple[int, int]]:
    """Rows and vectors of tiles with about as many sums as the usual one, which comes first.

    None of the others reads more than two operands for three multiply-adds.
    """
    rows, vectors = target.tile
    others = [(rows * vectors // wide, wide) for wide in (vectors + 1, vectors - 1) if wide]
    return [(rows, vectors), *((r, v) for r, v in others if 3 * (r + v) <= 2 * r * v)]
