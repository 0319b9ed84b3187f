"""Choices of products on a GPU: tensor cores or not, the tiles of blocks, threads and warps, how operands are copied.

A tuner asks for them.  What does not fit falls back to fewer places for tiles, then to the recipe's own tiles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from workbench.errors import BudgetExceeded
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.decisions import decide, undecided
from workbench.schedules.recipes.gpu.blockings import SPLITS, can_split
from workbench.schedules.recipes.gpu.fragments import VALUES, Product, Tile
from workbench.schedules.recipes.gpu.lanes import ROWS, WarpTile
from workbench.schedules.recipes.gpu.operands import Blocking
from workbench.schedules.recipes.gpu.products import blocked, first_blocking, product_of
from workbench.schedules.recipes.gpu.shared import WARP, power
from workbench.schedules.recipes.gpu.tensor_core_products import (
    first_fragments,
    fragmented,
    reduction_depth,
    stages_fit,
)
from workbench.schedules.recipes.try_steps import simple
from workbench.schedules.scheduled_program import Schedule
from workbench.target import Target

SMALL = 1 << 12
"""Multiplications below which nobody asks for tiles."""

TENSOR, TILES, LOOPS = "tensor cores", "tiles", "loops"

SIDES = (16, 32, 64, 128, 256)
CELLS = (1, 2, 4, 8, 16)
DEPTHS = (4, 8, 16, 32, 64, 128, 256)
DEEPEST = 64
"""Contributions of a tile that fragments are taken from, at most."""

STAGES = (1, 2, 3, 4)
WARPS = (1, 2, 4, 8)
SUMS = 128
"""Results that a lane of a warp holds at most: more have no registers."""


class Usual(NamedTuple):
    """What the recipe does with a product by itself: its ways, the first one its own, and the tiles of each."""

    ways: tuple[str, ...]
    fragments: tuple[WarpTile, int] | None
    blocking: Blocking | None


def chosen_product(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """One product in the way and the tiles that were chosen; unchanged if it is none, or stays in loops."""
    plan = product_of(structure(schedule.program, identifier), SMALL)
    if plan is None or not simple(schedule.program, schedule.tree, identifier):
        return schedule
    usual = _usual(schedule.program, schedule.tree, identifier, target)
    if len(usual.ways) < 2:
        return schedule
    name = schedule.program.statement(identifier).name
    chosen = decide(f"{name}_way", usual.ways[0], usual.ways, opens=True)
    if chosen == TENSOR and usual.fragments is not None:
        return _fragmented(schedule, identifier, plan, usual.fragments, target)
    if chosen == TILES and usual.blocking is not None:
        return _blocked(schedule, identifier, plan, usual.blocking, target)
    return schedule


@lru_cache(maxsize=64)
def _usual(program: Program, tree: Tree, identifier: str, target: Target) -> Usual:
    """Remembered, as a tuner asks again."""
    schedule = Schedule(program, tree)
    plan, large = product_of(structure(program, identifier), SMALL), product_of(structure(program, identifier))
    assert plan is not None
    with undecided():
        fragments = first_fragments(schedule, identifier, plan, target)
        blocking = first_blocking(schedule, identifier, plan, target)
    ways = [way for way, found in ((TENSOR, fragments), (TILES, blocking)) if found is not None]
    return Usual(
        (*ways, LOOPS) if large is not None else (LOOPS, *ways), fragments and fragments[:2], blocking and blocking[0]
    )


def _blocked(schedule: Schedule, identifier: str, plan: Product, usual: Blocking, target: Target) -> Schedule:
    """In tiles, with a block's, a thread's and the copies' sizes as they were chosen."""
    name, shape = schedule.program.statement(identifier).name, structure(schedule.program, identifier)
    own = usual.size
    rows = _side(name, plan.row, own.rows, shape.trip(plan.row))
    columns = _side(name, plan.column, own.columns, shape.trip(plan.column))
    down = decide(f"{name}_cells_{plan.row}", own.rows // own.height, CELLS)
    across = decide(f"{name}_cells_{plan.column}", own.columns // own.width, CELLS)
    wanted = Blocking(
        threads_for(rows, columns, down, across, target),
        decide(f"{name}_stages", usual.stages, STAGES if _copies_ahead(schedule, plan, target) else (1,)),
        decide(f"{name}_depth", usual.depth, DEPTHS),
        decide(f"{name}_moved", VALUES, (1, 2, VALUES)),
        decide(f"{name}_padded", True, (True, False)),
        decide(f"{name}_asynchronous", True, (True, False)),
        decide(f"{name}_in_registers", True, (True, False)),
        decide(f"{name}_unrolled", False, (False, True)),
        decide(f"{name}_splits", usual.splits, SPLITS) if can_split(schedule, identifier, plan) else 1,
    )
    lower = [replace(wanted, stages=n) for n in range(wanted.stages - 1, 0, -1)]
    for blocking in (wanted, *lower, usual):
        try:
            after = blocked(schedule, identifier, plan, blocking, target, 2 if blocking == usual else 1)
        except BudgetExceeded:
            continue
        if after is not None:
            return after
    return schedule


def _side(name: str, dim: str, usual: int, trip: int | None) -> int:
    """Cells of a block's tile along a dim: no more than about twice what there is."""
    most = 2 * power(trip, 1 << 20, 8)
    return decide(f"{name}_tile_{dim}", usual, [n for n in SIDES if n <= most])


def threads_for(rows: int, columns: int, down: int, across: int, target: Target) -> Tile:
    """A tile whose threads have `down` x `across` cells each, or as near to that as a block of them can be.

    >>> threads_for(64, 64, 1, 1, Target("h200"))
    Tile(rows=64, columns=64, height=32, width=32)
    """
    down, across = min(down, rows), min(across, columns)
    while (rows // down) * (columns // across) > target.device.block_threads:
        down, across = (2 * down, across) if down <= across else (down, 2 * across)
    while (rows // down) * (columns // across) < WARP and down * across > 1:
        down, across = (down // 2, across) if down >= across else (down, across // 2)
    return Tile(rows, columns, rows // down, columns // across)


def _copies_ahead(schedule: Schedule, plan: Product, target: Target) -> bool:
    """Whether the GPU copies by itself what the operands are made of."""
    widths = {schedule.program.arrays[x].dtype.bytes for x in plan.operands}
    return tuple(map(int, target.device.capability.split("."))) >= (8, 0) and min(widths) >= VALUES


def _fragmented(
    schedule: Schedule, identifier: str, plan: Product, usual: tuple[WarpTile, int], target: Target
) -> Schedule:
    """On tensor cores, with the tiles of blocks and warps and the places of copies as they were chosen."""
    name, shape = schedule.program.statement(identifier).name, structure(schedule.program, identifier)
    own, stages = usual
    size = warps_for(
        _side(name, plan.row, own.rows, shape.trip(plan.row)),
        _side(name, plan.column, own.columns, shape.trip(plan.column)),
        decide(f"{name}_warps", own.warps, WARPS),
        decide(f"{name}_depth", own.depth, [n for n in DEPTHS if ROWS <= n <= DEEPEST]),
    )
    wanted = decide(f"{name}_stages", max(1, stages), STAGES)
    depth = reduction_depth(schedule, identifier, plan) or ""
    places = [n for n in range(wanted, 1, -1) if stages_fit(schedule, identifier, plan, size, n, depth, target)]
    tried: Iterable[tuple[WarpTile, int]] = [*((size, n) for n in places), (size, 0), usual]
    if (size, wanted) == (own, max(1, stages)):
        tried = [usual]
    for tile, places_of in tried:
        try:
            after = fragmented(schedule, identifier, plan, tile, places_of, target)
        except BudgetExceeded:
            continue
        if after is not None:
            return after
    return schedule


def warps_for(rows: int, columns: int, warps: int, depth: int) -> WarpTile:
    """A tile whose warps have whole fragments each, and no more results than registers.

    >>> warps_for(256, 256, 1, 32)
    WarpTile(rows=256, columns=256, warps=16, depth=32)
    """
    warps = min(warps, rows // ROWS)
    while rows // warps * columns // WARP > SUMS and warps < rows // ROWS:
        warps *= 2
    return WarpTile(rows, columns, warps, depth)
