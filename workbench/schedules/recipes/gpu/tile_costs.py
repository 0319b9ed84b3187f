"""How long a product takes in tiles of one size, in clock cycles: from its sizes and the data of the GPU, nothing else.

Instructions are issued by four schedulers; loads and copies take turns at shared memory; warps on a multiprocessor hide
one another's waiting; the last wave of blocks may leave multiprocessors idle.  A model for choosing, not for telling:
its constants are a multiprocessor's, the same for every operator.
"""

from __future__ import annotations

from math import ceil

from workbench.records import record
from workbench.schedules.recipes.gpu.fragments import VALUES, Tile
from workbench.target_gpus import Gpu

SCHEDULERS = 4
"""Warps of a multiprocessor that begin an instruction in the same cycle."""

HIDING = 4
"""Warps of which half the time is hidden by one another: of 8 two thirds, of 16 four fifths."""

COPIED, STEP = 3, 1
"""Instructions of a copied element, and of what each contribution has besides."""

TURNS, OVERLAP = 2, 1 / 3
"""Turns at shared memory of a wide load or a copy, and what of the shorter of two pipes is not hidden by the longer."""

GUARDED = 1
"""How much longer a tile takes that is not whole: each of its cells is asked whether it is there."""

PIECE, BLOCK, KERNEL = 600, 2000, 3000
"""Cycles until a copied piece is there, of a block's beginning and end, of another kernel."""

ATOMIC = 8 * 96
"""Atomic additions of floats that the chip's cache makes in a cycle: sectors of 8 in each of its slices."""

KEPT_FOR_ADDRESSES = 40
"""Registers of a thread besides those of its cells and operands."""


@record
class Work:
    """A product's size: cells along rows and columns, contributions to each, and how many such products there are."""

    rows: int
    columns: int
    depth: int
    around: int

    def blocks(self, size: Tile) -> int:
        """Blocks that its tiles are."""
        return self.around * ceil(self.rows / size.rows) * ceil(self.columns / size.columns)


def cycles(work: Work, size: Tile, splits: int, depth: int, gpu: Gpu) -> float:
    """Cycles of all blocks with tiles of this size, the reduction in so many `splits`, copied `depth` at a time."""
    threads = size.height * size.width
    down, across = size.rows // size.height, size.columns // size.width
    loads, copies = ceil(down / VALUES) + ceil(across / VALUES), (size.rows + size.columns) / threads
    issued = (down * across + loads + COPIED * copies + STEP) / SCHEDULERS
    turns = TURNS * (loads + copies)
    step = (max(issued, turns) + OVERLAP * min(issued, turns)) * ceil(threads / gpu.warp_threads)
    each = ceil(work.blocks(size) * splits / gpu.multiprocessors)
    at_once = min(each, _resident(size, depth, gpu))
    warps = at_once * ceil(threads / gpu.warp_threads)
    steps = ceil(work.depth / splits)
    alone = ceil(steps / depth) * PIECE + BLOCK
    edges = [1 / ceil(n / side) for n, side in ((work.rows, size.rows), (work.columns, size.columns)) if n % side]
    busy = each * steps * step * (1 + HIDING / warps) * (1 + GUARDED * sum(edges))
    added = 0.0 if splits == 1 else KERNEL + work.around * work.rows * work.columns * splits / ATOMIC
    return busy + alone * ceil(each / at_once) + added


def _resident(size: Tile, depth: int, gpu: Gpu) -> int:
    """Blocks on a multiprocessor at once, as far as registers and shared memory allow."""
    threads = size.height * size.width
    down, across = size.rows // size.height, size.columns // size.width
    own = min(gpu.thread_registers, down * across + down + across + KEPT_FOR_ADDRESSES)
    shared = 3 * (size.rows + size.columns) * depth * 4 + gpu.reserved_shared_bytes
    return max(1, min(gpu.registers // (threads * own), gpu.shared_bytes // shared, gpu.blocks))
