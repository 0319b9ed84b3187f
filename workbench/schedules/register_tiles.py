"""Shapes of the tiles of sums that stay in registers, and the cycles that they take."""

from __future__ import annotations

from workbench.target import Target

IN_FLIGHT = 8
"""Multiply-adds that a core begins before the first one is done: two a cycle, four cycles."""


def slots(rows: int, vectors: int) -> int:
    """Multiply-adds that could begin while a tile takes one step of the reduction: it waits for its own last ones."""
    return max(rows * vectors, IN_FLIGHT)


def row_slots(rows: int, height: int, vectors: int) -> int:
    """Slots of all rows, `height` at a time; those that are left are taken two by two."""
    left = rows % height
    return rows // height * slots(height, vectors) + left // 2 * slots(2, vectors) + left % 2 * slots(1, vectors)


def tile_slots(rows: int, columns: int, shape: tuple[int, int]) -> int:
    """Slots of a block of so many rows and vectors of columns, in tiles of one shape."""
    height, vectors = shape
    left = columns % vectors
    return columns // vectors * row_slots(rows, height, vectors) + (row_slots(rows, height, left) if left else 0)


def shapes(target: Target) -> list[tuple[int, int]]:
    """Rows and vectors of tiles with about as many sums as the usual one, which comes first.

    None of the others reads more than two operands for three multiply-adds.
    """
    rows, vectors = target.tile
    others = [(rows * vectors // wide, wide) for wide in (vectors + 1, vectors - 1) if wide]
    return [(rows, vectors), *((r, v) for r, v in others if 3 * (r + v) <= 2 * r * v)]
