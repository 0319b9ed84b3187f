"""Register and cache blocks for statements that reduce: chosen from strides and reuse, never from a name.

Two shapes.  *Across*: neighbouring cells in the lanes of a register, `rows x vectors` cells kept in registers
while the reduction runs (matrix products, convolutions, column sums).  *Along*: the reduction itself in lanes
(rows of both operands contiguous: A Bᵀ, matrix-vector products).
"""

from __future__ import annotations

from collections.abc import Collection
from math import prod
from typing import Literal

from workbench.records import record
from workbench.schedules.analysis.structure import Structure, Touch
from workbench.target import Target
from workbench.target_costs import Costs

ABREAST = 2
"""Registers of a row at most, of which others are computed beside it; longer ones have sums enough."""

WIDTH = 2
"""Registers of a row of windows that lie far apart."""

LONG = 1 << 10
"""Cells of a row whose length is a symbol."""

NARROWEST = 4
"""Cells of a row that are worth a register, even one that is not full."""


@record
class Blocking:
    """Block sizes of one statement.

    `vector` runs in lanes over `vector_size` cells; `rows` are unrolled dims with their sizes; `panel` blocks the
    outermost reduction dim; `terms` iterations of the innermost reduction dim are added up at once (with `rows`: for
    all of them).  Blocks of rows that are `apart` in memory are outside all other loops.
    """

    form: Literal["across", "along"]
    vector: str
    vector_size: int
    rows: tuple[tuple[str, int], ...]
    panel: tuple[str, int] | None = None
    terms: int = 1
    apart: bool = False


STRIP, TERMS = (256, 2048), 4
"""Columns (fewest and most) and rows summed up together: the sums stay in the first cache, read and written once for
the rows, and the processor follows so few rows on its own."""


STREAMED_ROWS, STREAMED_TERMS = 6, 8
"""So few rows share a vector of a vast operand while it is read in the order of memory, once, so many of its rows at a
time."""


def blocking(shape: Structure, target: Target, *, waiting: Collection[str] = ()) -> Blocking | None:
    """The block sizes of a reduction, or None if no dim runs through memory in order.

    Iterations of the dims `waiting` wait for one another: they are no rows of a tile.
    """
    lanes = target.lanes(max(32, *(8 * v.dtype.bytes for v in shape.statement.values)))
    return _across(shape, target, lanes, waiting) or _along(shape, target, lanes)


def _across(shape: Structure, target: Target, lanes: int, waiting: Collection[str]) -> Blocking | None:
    candidates = [d for d in shape.free if shape.strides_little(d) and all(w.along(d) == 1 for w in shape.writes)]
    candidates = [d for d in candidates if at_least(shape.trip(d), min(lanes, NARROWEST))]
    if not candidates or not shape.reduced:
        return None
    vector = candidates[-1]
    row = _row(shape, vector, waiting)
    if row is None and (abreast := _abreast(shape, vector, lanes, waiting, target)) is not None:
        return Blocking("across", vector, -(-(shape.trip(vector) or 1) // lanes) * lanes, (abreast,))
    if row is None and (apart := _apart(shape, vector, waiting, target)) is not None:
        return Blocking("across", vector, WIDTH * lanes, (apart,), apart=True)
    if row is None:
        strip, many = _strip(shape, vector, lanes, target.cores), at_least(shape.trip(shape.reduced[-1]), 2 * TERMS)
        return Blocking("across", vector, strip, (), None, TERMS if strip >= STRIP[0] and many else 1)
    rows, vectors = target.tile
    trip = shape.trip(vector)
    vectors = vectors if trip is None else max(1, min(vectors, -(-trip // lanes)))
    if _streams(shape, row, vector, target):
        return _streamed(shape, row, vector, lanes, target)
    height, panel = _height(shape.trip(row), rows, vectors, target.costs), _panel(shape)
    return Blocking("across", vector, vectors * lanes, ((row, height),), panel)


def _streams(shape: Structure, row: str, vector: str, target: Target) -> bool:
    """Whether the rows are so few that one walk through a vast operand serves all that is computed with it."""
    trip, terms = shape.trip(row), shape.trip(shape.reduced[-1])
    if trip is None or trip > STREAMED_ROWS or terms is None or terms < 2 * STREAMED_TERMS:
        return False
    others = [d for d in shape.free if d not in (row, vector) and shape.trip(d) != 1]
    return any(all(read.along(d) != 0 for d in others) for read in _vast_reads(shape, vector, target))


def _streamed(shape: Structure, row: str, vector: str, lanes: int, target: Target) -> Blocking:
    """Strips of columns whose sums half of the first cache holds, as many for one core as for another."""
    columns, rows, bytes_of_one = shape.trip(vector) or 1, shape.trip(row) or 1, _element_bytes(shape)
    shared = any(at_least(shape.trip(d), target.cores) for d in shape.free if d not in (row, vector))
    share = -(-columns // (1 if shared else target.cores))
    held = max(lanes, target.cache_bytes[0] // (2 * bytes_of_one * rows))
    strip = -(-share // -(-share // held))
    return Blocking("across", vector, -(-strip // lanes) * lanes, ((row, rows),), None, STREAMED_TERMS)


def vast(shape: Structure, vector: str, target: Target) -> bool:
    """Whether an operand that is read along the vector and the reduction does not stay in the second cache."""
    return bool(_vast_reads(shape, vector, target))


def _vast_reads(shape: Structure, vector: str, target: Target) -> list[Touch]:
    """Reads along the vector whose rows, one for each term of the reduction, do not fit the second cache together."""
    columns, found = shape.trip(vector), []
    for read in shape.reads:
        steps = {d: read.along(d) for d in shape.reduced}
        if columns is None or read.along(vector) != 1 or any(s is None or 0 < abs(s) < columns for s in steps.values()):
            continue  # windows that overlap are fewer cells than terms
        terms = prod(shape.trip(d) or 1 for d, step in steps.items() if step)
        if terms * columns * _element_bytes(shape) > target.cache_bytes[1]:
            found.append(read)
    return found


def _element_bytes(shape: Structure) -> int:
    return max(v.dtype.bytes for v in shape.statement.values)


def _height(trip: int | None, most: int, vectors: int, costs: Costs) -> int:
    """Rows of a tile, so that all rows take the fewest cycles."""
    if trip is None or trip >= 8 * most:
        return most

    return min(range(min(2, trip), min(most, trip) + 1), key=lambda s: (row_slots(trip, s, vectors, costs), -s))


def _strip(shape: Structure, vector: str, lanes: int, cores: int) -> int:
    """Cells summed at a time where nothing is reused.

    Rows that follow one another in memory are read in long pieces, one for each core; rows found through an index
    are read whole, the sums in registers.
    """
    trip = shape.trip(vector)
    gathered = any(r.along(d) is None for r in shape.reads for d in shape.reduced)
    if gathered or (trip is not None and trip <= 8 * lanes):
        return 8 * lanes
    least, most = STRIP
    return least if trip is None else max(least, min(most, -(-trip // (cores * lanes)) * lanes))


def _along(shape: Structure, target: Target, lanes: int) -> Blocking | None:
    candidates = [
        d for d in shape.reduced if all(r.along(d) in (0, 1) for r in shape.reads) and shape.streams(d)
    ]
    candidates = [d for d in candidates if at_least(shape.trip(d), lanes)]
    if not candidates:
        return None
    vector = candidates[-1]
    reused = [d for d in shape.free if shape.reuses(d) and at_least(shape.trip(d), 2)]
    if not reused:
        return None
    sizes = (4, 3) if target.vector_registers <= 16 else (6, 4)
    rows = tuple((d, _fitting(shape.trip(d), s)) for d, s in zip(reused[-2:], sizes, strict=False))
    return Blocking("along", vector, 0, rows)


def _row(shape: Structure, vector: str, waiting: Collection[str]) -> str | None:
    """The dim whose iterations share the vectors read: the longest one, of equal ones that whose cells are nearest."""
    shared = [
        d for d in shape.free
        if d != vector and d not in waiting and any(r.stays(d) and r.along(vector) != 0 for r in shape.reads)
    ]  # fmt: skip
    shared = [d for d in shared if at_least(shape.trip(d), 2)]
    known = all(shape.trip(d) is not None for d in shared)
    return max(reversed(shared) if known else shared, key=lambda d: shape.trip(d) or 1 << 30, default=None)


def _abreast(
    shape: Structure, vector: str, lanes: int, waiting: Collection[str], target: Target
) -> tuple[str, int] | None:
    """Short rows side by side, where their windows overlap: the sums of one alone would wait for their own last values.

    A row of a few cells is one or two registers, and so are its sums (a convolution of each channel by itself).
    """
    vectors = -(-(shape.trip(vector) or 1 << 30) // lanes)
    most = target.tile[0] * target.tile[1] // max(1, vectors)
    windows = [
        d for d in shape.free
        if d != vector and d not in waiting and at_least(shape.trip(d), 2) and _overlaps(shape, d)
    ]  # fmt: skip
    if vectors > ABREAST or most < 2 or not windows:
        return None
    dim = max(windows, key=lambda d: shape.trip(d) or 1 << 30)
    return dim, _height(shape.trip(dim), most, vectors, target.costs)


def _apart(shape: Structure, vector: str, waiting: Collection[str], target: Target) -> tuple[str, int] | None:
    """Rows side by side whose windows overlap where the first cache does not hold what lies between two of them.

    Each cell is then read once for all the windows of a tile, not again from the second cache for each (the taps of a
    filter along the first axis).  No more rows than keep the multiply-adds busy: each has pages of its own.
    """
    height = max(2, target.costs.multiply_adds_in_flight // WIDTH)
    for dim in shape.free:
        rows = dim != vector and dim not in waiting and at_least(shape.trip(dim), 2 * height)
        if rows and _overlaps(shape, dim) and _between(shape, dim) > target.cache_bytes[0]:
            return dim, _height(shape.trip(dim), height, WIDTH, target.costs)
    return None


def _between(shape: Structure, dim: str) -> int:
    """Bytes of an array that are read before the next iteration of a free dim, those inside it going by."""
    inside = shape.free[shape.free.index(dim) + 1 :]
    cells = []
    for read in shape.reads:
        steps = {read.along(d) for d in inside}
        others = [d for d in shape.reduced if read.along(d) not in steps]  # windows along the dims inside overlap
        cells.append(prod(shape.trip(d) or LONG for d in (*inside, *others) if read.along(d)))
    return max(cells, default=0) * max(v.dtype.bytes for v in shape.statement.values)


def _overlaps(shape: Structure, dim: str) -> bool:
    """Whether neighbours along a dim read cells in common, which a loop of the reduction reaches as well."""
    steps = [(abs(r.along(dim) or 0), [abs(r.along(d) or 0) * (shape.trip(d) or 1) for d in shape.reduced])
             for r in shape.reads]  # fmt: skip
    return any(step and any(step < reach and reach % step == 0 for reach in reaches) for step, reaches in steps)


def _panel(shape: Structure) -> tuple[str, int] | None:
    """Block the outermost reduction dim so that the panel a tile reads stays in the first cache."""
    inner = 1
    for dim in shape.reduced[1:]:
        inner *= shape.trip(dim) or 1
    block = max(1, 256 // inner)
    first = shape.reduced[0]
    trip = shape.trip(first)
    return (first, block) if trip is None or trip > 2 * block else None


def _fitting(trip: int | None, size: int) -> int:
    """A block of about `size` that leaves the smallest rest."""
    if trip is None or trip >= 8 * size:
        return size
    if trip <= size:
        return trip
    return min(range(max(2, size - 2), size + 1), key=lambda s: (-(-trip // s) * s - trip, -s))


def at_least(trip: int | None, number: int) -> bool:
    """Whether a dim has so many values (a symbolic one is taken to)."""
    return trip is None or trip >= number


# -- Shapes of the tiles of sums that stay in registers, and the cycles that they take --

def _slots(rows: int, vectors: int, costs: Costs) -> int:
    """Multiply-adds that could begin while a tile takes one step of the reduction: it waits for its own last ones."""
    return max(rows * vectors, costs.multiply_adds_in_flight)


def row_slots(rows: int, height: int, vectors: int, costs: Costs) -> int:
    """Slots of all rows, `height` at a time; those that are left are a tile of their own."""
    whole, left = divmod(rows, height)
    return whole * _slots(height, vectors, costs) + (_slots(left, vectors, costs) if left else 0)


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
