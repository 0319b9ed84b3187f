"""Blockings of a product that are worth trying: tiles, splits of the reduction, pieces between copies, places of tiles.

Tiles and splits come in the order of the time that the model of `tile_costs` gives them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as choices
from math import prod

from workbench.lang.expr import Index, Read
from workbench.lang.expr import reads as reads_of
from workbench.schedules.analysis.structure import Structure, structure
from workbench.schedules.recipes.gpu.fragments import VALUES, Product, Tile
from workbench.schedules.recipes.gpu.operands import Blocking
from workbench.schedules.recipes.gpu.shared import WARP, power
from workbench.schedules.recipes.gpu.tile_costs import Work, cycles
from workbench.schedules.scheduled_program import Schedule
from workbench.target import Target

SMALLEST_COPY = 4
"""Bytes of an asynchronous copy."""

TILES = (
    Tile(128, 128, 16, 16), Tile(64, 128, 8, 16), Tile(64, 64, 8, 16), Tile(32, 64, 8, 16), Tile(32, 32, 8, 8),
    Tile(16, 32, 8, 8), Tile(32, 16, 8, 8), Tile(16, 16, 8, 8),
)  # fmt: skip

LONGEST_WHOLE, CELLS, MOST_THREADS = 64, (4, 2, 1), 256
"""A side so short may be a tile's in whole; cells of a thread along it, and threads of a block."""

SPLITS = (1, 2, 4, 8, 16)
"""Into how many parts a reduction may be cut whose results are few."""

WORTH_SPLITTING = 0.85
"""Sums of several blocks arrive in any order, and cost a kernel more: for less time than this."""

SHORTEST_SPLIT = 128

SHORT, PIECES, AT_ONCE = 96, (3, 2), 16 << 10
"""A reduction so short is in as many pieces as copies run ahead: all of them are on their way at once.  Tiles of so few
bytes are copied in one: 500 products of 26 x 72 x 26 take 6.2 µs on an H200, in three pieces 7.8."""

WINDOW_BYTES = 24 << 10
"""What a tile of windows may take: the less often a block copies, the less it waits."""


def blockings(schedule: Schedule, identifier: str, plan: Product, target: Target) -> Iterator[Blocking]:
    """Blockings worth trying: tiles and splits by the time they take, and with each the most places first."""
    shape = structure(schedule.program, identifier)
    windows = not all(isinstance(e, Index) for r in _operands(schedule, identifier, plan) for e in r.subscripts)
    for size, splits in _tiles(schedule, identifier, plan, target):
        depth = _depth(shape, plan, size, windows=windows)
        for stages in (1,) if windows else _stages(schedule, identifier, plan, target, depth * splits):
            yield Blocking(size, stages, depth, splits=splits)


def _operands(schedule: Schedule, identifier: str, plan: Product) -> list[Read]:
    values = schedule.program.statement(identifier).values
    return [r for r in reads_of(*values) if r.tensor in plan.operands]


def _depth(shape: Structure, plan: Product, size: Tile, *, windows: bool) -> int:
    """Contributions between two copies."""
    trips = [shape.trip(d) for d in plan.reduced]
    known = prod(t for t in trips if t is not None)
    if None in trips:
        return Blocking.depth
    widest = max(v.dtype.bytes for v in shape.statement.values)
    whole = (size.rows + size.columns) * known * widest
    if windows:
        return known if whole <= WINDOW_BYTES else Blocking.depth
    if known > SHORT:
        return Blocking.depth
    even = [known // n for n in PIECES if known % (n * VALUES) == 0]
    return known if whole <= AT_ONCE else next(iter(even), Blocking.depth)


def _stages(
    schedule: Schedule, identifier: str, plan: Product, target: Target, contributions: int
) -> tuple[int, ...]:
    """Places of a tile worth trying, the most first; where there are several, the next pieces are on their way.

    A piece of the reduction is so many `contributions`.  Asynchronous copies move 4 bytes or more, so that operands may
    be turned on their way.
    """
    capability = tuple(map(int, target.device.capability.split(".")))
    if capability < (8, 0) or any(schedule.program.arrays[x].dtype.bytes < SMALLEST_COPY for x in plan.operands):
        return (1,)
    shape = structure(schedule.program, identifier)
    pieces = -(-prod(shape.trip(d) or 1 << 20 for d in plan.reduced) // contributions)
    return tuple(s for s in (3, 2, 1) if s <= pieces) or (1,)


def _tiles(schedule: Schedule, identifier: str, plan: Product, target: Target) -> list[tuple[Tile, int]]:
    """Tiles and splits worth trying, the fastest first."""
    shape = structure(schedule.program, identifier)
    work = _work(shape, plan)
    fits = [t for t in TILES if t.rows <= 2 * power(work.rows, 1 << 20, 8)]
    fits = [t for t in fits if t.columns <= 2 * power(work.columns, 1 << 20, 8)] or [TILES[-1]]
    fits = [*dict.fromkeys((*fits, *_exact(*(shape.trip(d) for d in (plan.row, plan.column)))))]
    splits = SPLITS if can_split(schedule, identifier, plan) else (1,)

    def cost(choice: tuple[Tile, int]) -> float:
        size, parts = choice
        return cycles(work, size, parts, Blocking.depth, target.device) * (1 if parts == 1 else 1 / WORTH_SPLITTING)

    parts = [n for n in splits if n == 1 or work.depth >= n * SHORTEST_SPLIT]
    found = sorted(choices(fits, parts), key=cost)
    whole = [choice for choice in found if choice[1] == 1]
    return [*found[:2], *(c for c in whole[:2] if c not in found[:2])]


def _exact(rows: int | None, columns: int | None) -> list[Tile]:
    """Tiles that are a short side in whole, cells of a thread dividing it: nobody asks which of them there are."""
    sides = [_whole_sides(n) for n in (rows, columns)]
    if not all(sides):
        return []
    found = (Tile(m, n, m // down, n // across) for m, down in sides[0] for n, across in sides[1])
    return [t for t in found if WARP <= t.height * t.width <= MOST_THREADS]


def _whole_sides(length: int | None) -> list[tuple[int, int]]:
    """(length, cells of a thread) for a short side; for a long one that tiles divide, these."""
    if length is None:
        return []
    if length <= LONGEST_WHOLE:
        return [(length, cells) for cells in CELLS if length % cells == 0]
    return [(n, cells) for n, cells in ((16, 2), (32, 2), (32, 4), (64, 4)) if length % n == 0]


def _work(shape: Structure, plan: Product) -> Work:
    """How much a product is; 4096 where a size is not known."""
    rows, columns = (shape.trip(d) or 4096 for d in (plan.row, plan.column))
    return Work(
        rows, columns, prod(shape.trip(d) or 4096 for d in plan.reduced), prod(shape.trip(d) or 1 for d in plan.others)
    )


def can_split(schedule: Schedule, identifier: str, plan: Product) -> bool:
    """Whether blocks may add up parts of the reduction in memory: a sum of floats over a loop of known length, in one
    product, whose parts are an axis of the grid.
    """
    own, shape = schedule.program.statement(identifier), structure(schedule.program, identifier)
    result = schedule.program.arrays[own.targets[0][0]].dtype
    longest = max(plan.reduced, key=lambda d: shape.trip(d) or 0)
    known = None not in (shape.trip(longest), shape.trip(plan.row), shape.trip(plan.column))
    return own.reduction == "+" and result.name == "float32" and known and not plan.others
