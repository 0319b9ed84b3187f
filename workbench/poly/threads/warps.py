"""What the threads of a warp access at once: sectors of global memory, banks of shared memory.

A warp is 32 threads with neighbouring numbers (x fastest).  Of each access its lanes' addresses are enumerated: global
memory answers in sectors of 32 bytes, so that an access costs as many as it touches; shared memory has 32 banks of
4 bytes, each of which answers one word at a time, so that an access takes as many turns as the busiest bank has
different words.  Wide elements take a turn for each 4 bytes of theirs, half of the warp (a quarter) at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from workbench.errors import WorkbenchError
from workbench.lang.expr import Expr
from workbench.lang.printing.printer import show
from workbench.poly.programs.program import Access, Array, Padding, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, LoopKind, Tree, path
from workbench.poly.regions.boxes import coordinate
from workbench.poly.regions.storage import Storage, contracted, storage_of
from workbench.poly.sets import isl
from workbench.poly.threads.grid import is_thread, on_grid, regions
from workbench.poly.threads.grid_points import MOST_POINTS, Column, Points, grid_points, values
from workbench.poly.threads.thread_cells import in_registers
from workbench.poly.threads.warp_costs import WARP, numbered_rows, sectors, turns
from workbench.poly.time.concurrency import is_block
from workbench.records import record

Memory = Literal["global", "shared", "thread"]
WIDEST = 16
"""Bytes that one thread moves at once."""


@record
class WarpAccess:
    """One access of a statement, by all warps that execute it.

    `requests` are the accesses of warps that were looked at (all of them where `complete`), `units` what they cost:
    sectors of 32 bytes in global memory, turns in shared memory; `worst` what one of them costs at most.  `least` is
    what the same bytes would cost side by side.  `lanes` are the byte addresses of the costliest one, by thread of the
    warp (None: at rest).
    """

    statement: str
    array: str
    kind: Literal["read", "write"]
    memory: Memory
    text: str
    element_bytes: int
    requests: int
    units: int
    least: int
    worst: int
    complete: bool
    lanes: tuple[int | None, ...]

    @property
    def average(self) -> float:
        """Sectors, or turns, of one access of a warp."""
        return self.units / max(1, self.requests)

    @property
    def efficiency(self) -> float:
        """The share of what is moved (of the turns taken) that is of use, at most 1."""
        return self.least / max(1, self.units)


def access_text(array: Array, subscripts: tuple[Expr, ...]) -> str:
    """`A_local(m, k)`: without the iterations that a buffer belongs to."""
    return f"{array.name}({', '.join(show(e) for e in subscripts[array.times :])})"


@record
class Block:
    """Threads of the blocks of one kernel along x, y and z."""

    x: int = 1
    y: int = 1
    z: int = 1

    @property
    def threads(self) -> int:
        return self.x * self.y * self.z


@lru_cache(maxsize=128)
def warp_accesses(
    program: Program, tree: Tree, memory: Memory, most: int = MOST_POINTS, *, first: bool = False
) -> tuple[WarpAccess, ...]:
    """The accesses to one kind of memory, in the order of the statements; those whose cells data decide are left out.

    Of a statement with more than `most` instances some are looked at, see `grid_points`.  LoweringError while sizes are
    symbolic.
    """
    order = on_grid(tree)
    stored = {s.array.name: s for s in storage_of(program, order)}
    look = Look(most, first)
    return tuple(_accesses(program, order, stored, memory, look))


@record
class Look:
    """How many instances of a statement are looked at, and whether only those at the beginning of outer loops."""

    most: int = MOST_POINTS
    first: bool = False


WHOLE = Look()


def _accesses(
    program: Program, tree: Tree, stored: dict[str, Storage], memory: Memory, look: Look
) -> Iterator[WarpAccess]:
    for region in regions(tree):
        wanted = [
            (s, a)
            for s in (program.statement(i) for i in region.statements)
            for a in _own(s)
            if memory_of(program, tree, stored, a.array) == memory
        ]
        if not wanted:
            continue
        sizes = block_of(program, tree, region.statements, look)
        for s, a in wanted:
            found = _counted(program, tree, (s, a, memory), stored, (sizes, look))
            if found is not None:
                yield found


def _own(s: ProgramStatement) -> list[Access]:
    """Each access once: what an update fetches is where it writes."""
    found = [a for a in s.accesses if not a.accumulates]
    return list({(a.array, a.kind, a.subscripts): a for a in found}.values())


def memory_of(program: Program, tree: Tree, stored: Mapping[str, Storage], array: str) -> Memory:
    """Where an array lives: outside of kernels, in a block's shared memory, in a thread's registers."""
    place = stored.get(array)
    if place is None:
        return "global"
    user = next(s.id for s in program.statements if any(a.array == array for a in s.accesses))
    kinds: list[LoopKind] = [x.kind for x in path(tree, user) if x.name in place.home]
    if any(is_thread(k) for k in kinds) or in_registers(program, tree, place):
        return "thread"
    return "shared" if any(is_block(k) for k in kinds) else "global"


@lru_cache(maxsize=128)
def block_of(program: Program, tree: Tree, ids: tuple[str, ...], look: Look = WHOLE) -> Block:
    """The threads of a block: as many along an axis as its longest loop has iterations."""
    most: dict[str, int] = {"x": 1, "y": 1, "z": 1}
    for s in ids:
        loops = [x for x in path(tree, s) if is_thread(x.kind)]
        points = grid_points(program, tree, s, look.most, first=look.first) if loops else None
        for loop in loops if points is not None and points.number else []:
            assert points is not None
            number = thread_numbers(points, path(tree, s), loop)
            most[loop.kind[-1]] = max(most[loop.kind[-1]], int(number.max()) + 1)
    return Block(*most.values())


def thread_numbers(points: Points, loops: tuple[Loop, ...], loop: Loop) -> Column:
    """Iterations of a thread loop, counted from the first under equal loops around it."""
    values_of = points.loops[loop.name]
    outer = [points.loops[x.name] for x in loops[: loops.index(loop)]]
    if not outer:
        return values_of - values_of.min()
    group = numbered_rows(outer)
    lowest = np.full(int(group.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, group, values_of)
    return values_of - lowest[group]


@isl.guarded
def _counted(
    program: Program, tree: Tree, touch: tuple[ProgramStatement, Access, Memory], stored: Mapping[str, Storage],
    how: tuple[Block, Look],
) -> WarpAccess | None:  # fmt: skip
    (s, access, memory), (block, look) = touch, how
    points = grid_points(program, tree, s.id, look.most, first=look.first)
    if not points.number or not (points.dims or not s.dims):
        return None
    array = program.arrays[access.array]
    try:
        offsets = element_offsets(array, access.subscripts, points, stored.get(array.name))
    except WorkbenchError:
        return None
    numbers, requests = _requests(points, path(tree, s.id), block)
    offsets, size = np.broadcast_to(offsets, numbers.shape), array.dtype.bytes
    if (lanes_at_once := _lanes(points, path(tree, s.id), offsets, size)) > 1:
        numbers, requests, offsets = (column[::lanes_at_once] for column in (numbers, requests, offsets))
        requests = numbered_rows([requests])
    addresses, size = offsets * size, size * lanes_at_once
    units, least = (sectors if memory == "global" else turns)(requests, addresses, numbers % WARP, size)
    worst = int(units.argmax())
    chosen = np.flatnonzero(requests == worst)
    lanes: dict[int, int] = {int(numbers[i] % WARP): int(addresses[i]) for i in chosen}
    text = access_text(array, access.subscripts)
    return WarpAccess(
        s.name, array.name, access.kind, memory, text, size, len(units), int(units.sum()), int(least.sum()),
        int(units.max()), points.complete, tuple(lanes.get(i) for i in range(WARP)),
    )  # fmt: skip


def turns_with(
    program: Program, tree: Tree, buffer: str, paddings: tuple[tuple[Padding, ...], ...]
) -> list[tuple[int, int]] | None:
    """(turns, turns without conflicts) of a shared buffer's accesses for each of some paddings.

    Looked at are the instances at the beginning of outer loops.  None where the buffer is not shared.
    """
    order, look = on_grid(tree), Look(1 << 12, first=True)
    stored = {s.array.name: s for s in storage_of(program, order)}
    if buffer not in stored or memory_of(program, order, stored, buffer) != "shared":
        return None
    users = [s for s in program.statements for a in _own(s) if a.array == buffer]
    region = next(r for r in regions(order) if users[0].id in r.statements)
    block = block_of(program, order, region.statements, look)
    totals = [(0, 0)] * len(paddings)
    for s in dict.fromkeys(users):
        points = grid_points(program, order, s.id, look.most, first=True)
        numbers, requests = _requests(points, path(order, s.id), block)
        for access in [a for a in _own(s) if a.array == buffer]:
            for i, padding in enumerate(paddings):
                place = replace(stored[buffer], array=replace(stored[buffer].array, padding=padding))
                size = place.array.dtype.bytes
                offsets = np.broadcast_to(element_offsets(place.array, access.subscripts, points, place), numbers.shape)
                step = _lanes(points, path(order, s.id), offsets, size)
                own = numbered_rows([requests[::step]]), offsets[::step] * size, numbers[::step] % WARP
                units, least = turns(*own, size * step)
                totals[i] = totals[i][0] + int(units.sum()), totals[i][1] + int(least.sum())
    return totals


def _lanes(points: Points, loops: tuple[Loop, ...], offsets: Column, size: int) -> int:
    """How many neighbouring elements one access moves: 4, 2, or 1.

    More than one where the innermost loop runs in lanes and every piece of it lies side by side, from a multiple of
    its length on, as the generator of CUDA text wants it.
    """
    if not loops or loops[-1].kind != "vector":
        return 1
    inside = points.loops[loops[-1].name]
    for count in (4, 2):
        if count * size <= WIDEST and not points.number % count:
            pieces = [(c.reshape(-1, count) - c[::count, None] == np.arange(count)).all() for c in (inside, offsets)]
            if all(pieces) and not (offsets[::count] % count).any():
                return count
    return 1


def _requests(points: Points, loops: tuple[Loop, ...], block: Block) -> tuple[Column, Column]:
    """The number of each instance's thread in its block, and that of the access its warp makes."""
    numbers, rounds = _threads(points, loops, block)
    serial = [points.loops[x.name] for x in loops if not is_thread(x.kind)]
    return numbers, numbered_rows([*serial, *rounds, numbers // WARP])


def _threads(points: Points, loops: tuple[Loop, ...], block: Block) -> tuple[Column, list[Column]]:
    """The number of each instance's thread in its block, and which round of a longer loop it belongs to."""
    number = np.zeros(points.number, dtype=np.int64)
    rounds: list[Column] = []
    for axis, size, stride in (("x", block.x, 1), ("y", block.y, block.x), ("z", block.z, block.x * block.y)):
        for loop in [x for x in loops if x.kind == f"thread.{axis}"]:
            own = thread_numbers(points, loops, loop)
            number += own % size * stride
            if own.max() >= size:
                rounds.append(own // size)
    return number, rounds


def element_offsets(array: Array, subscripts: tuple[Expr, ...], points: Points, place: Storage | None) -> Any:
    """Elements from the beginning of an array, or of a buffer's storage, to the cell of each instance."""
    cells = [values(e, points.dims) for e in subscripts]
    if place is None:
        lower, strides = array.lower, array.strides
        pairs = [(c - values(low, {}), values(step, {})) for c, low, step in zip(cells, lower, strides, strict=True)]
    else:
        names = {**points.loops, **{coordinate(d): c for d, c in enumerate(cells)}}
        steps = contracted(place).strides
        pairs = [
            (cells[d] - values(low, names), values(step, {}))
            for (d, low, _), step in zip(place.kept, steps, strict=True)
        ]
    return sum((c * step for c, step in pairs), np.int64(0))
