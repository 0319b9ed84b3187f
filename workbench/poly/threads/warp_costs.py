"""What the accesses of warps cost: sectors of global memory, turns of the banks of shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np

Column = np.ndarray[Any, np.dtype[np.int64]]
WARP, SECTOR, BANKS, BANK = 32, 32, 32, 4


def numbered_rows(columns: list[Column]) -> Column:
    """A number from 0 on for each different row of some columns."""
    number = np.zeros(1, dtype=np.int64)
    for column in columns:
        lowest = column.min()
        number = number * (column.max() - lowest + 1) + (column - lowest)
        if number.max() > 1 << 40:
            number = np.unique(number, return_inverse=True)[1].reshape(-1)
    return np.unique(number, return_inverse=True)[1].reshape(-1)


def _pairs(first: Column, second: Column) -> tuple[Column, Column]:
    """The different pairs of two columns; what is read ahead of an array has addresses below 0."""
    lowest = int(second.min())
    width = int(second.max()) - lowest + 1
    found = np.unique(first * width + (second - lowest))
    return found // width, found % width + lowest


def sectors(requests: Column, addresses: Column, lanes: Column, size: int) -> tuple[Column, Column]:
    """Sectors that each request touches, and the fewest that hold as many different bytes."""
    del lanes
    units = np.bincount(_pairs(requests, addresses // SECTOR)[0])
    different = np.bincount(_pairs(requests, addresses)[0]) * size
    return units, -(-different // SECTOR)


def turns(requests: Column, addresses: Column, lanes: Column, size: int) -> tuple[Column, Column]:
    """Turns of the busiest bank for each request, and those that no conflicts would leave."""
    wide, count = max(1, size // BANK), int(requests.max()) + 1
    total, least = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for part in range(wide):
        at_once = lanes // (WARP // wide) == part
        if not at_once.any():
            continue
        words = np.concatenate([addresses[at_once] // BANK + w for w in range(wide)])
        own, different = _pairs(np.tile(requests[at_once], wide), words)
        busy = np.bincount(own * BANKS + different % BANKS, minlength=count * BANKS).reshape(count, BANKS).max(axis=1)
        total += busy
        least += busy > 0
    return total, least
