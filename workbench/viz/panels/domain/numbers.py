"""Integer expressions over many instances at once, and the bytes that carry the results to the front end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.lang.algebra.folding import fold
from workbench.lang.expr import Expr

Numbers = NDArray[np.int32]


def column(expr: Expr, dims: Sequence[str], points: Numbers, known: Mapping[str, int]) -> Numbers:
    """The value of an expression at each point (rows of `points`, over `dims`).

    ValueError or KeyError where the expression depends on data.
    """
    columns = {d: points[:, i].astype(np.int64) for i, d in enumerate(dims)}
    try:
        values = fold(expr, {**known, **columns})  # type: ignore[dict-item]  # arithmetic works on arrays as it is
    except (TypeError, ValueError):
        rows = (dict(zip(dims, map(int, point), strict=True)) for point in points)
        values = [fold(expr, {**known, **row}) for row in rows]
    return np.broadcast_to(np.asarray(values, np.int32), (len(points),))


class Packed:
    """int32 tables one after another; a table is known by its offset (in elements), rows and columns."""

    def __init__(self) -> None:
        self._parts: list[Numbers] = []
        self._length = 0

    def add(self, table: Numbers) -> list[int]:
        """Append a table of two dimensions; `[offset, rows, columns]`."""
        place = [self._length, *map(int, table.shape)]
        self._parts.append(np.ascontiguousarray(table, np.int32).reshape(-1))
        self._length += table.size
        return place

    @property
    def data(self) -> bytes:
        """Everything, little-endian."""
        whole = np.concatenate(self._parts) if self._parts else np.zeros(0, np.int32)
        return whole.astype("<i4").tobytes()
