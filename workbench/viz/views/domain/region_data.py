"""Blocks, threads and tiles: which cells belong together in a schedule, and what each of them is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from workbench.lang.expr import Binary, Expr
from workbench.poly.programs.tree import Loop, path
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import is_block
from workbench.viz.draw.geometry import Cell
from workbench.viz.draw.regions import Region, Regions
from workbench.viz.frames.coordinates import component
from workbench.viz.frames.frame import Frame

Times = tuple[int, ...]
Names = tuple[str, ...]
Origins = Mapping[tuple[Names, Times], int]


def regions(times: Mapping[Cell, Times], loops: tuple[Loop, ...], origins: Origins) -> Regions:
    """How cells are divided by the loops around their statement, from the time of (the first visit of) each cell.

    `origins` says where bound loops begin.
    """
    grid, own = _bound(loops, "block"), _bound(loops, "thread")
    host = [i for i, loop in enumerate(loops[: max(grid, default=0)]) if loop.kind in ("serial", "unroll")]
    shared = [i for i, loop in enumerate(loops) if loop.kind == "parallel"]
    counted = {cell: _counted(when, loops, origins) for cell, when in times.items()}
    blocks = _split(counted, lambda when: tuple(when[i] for i in (*host, *grid[::-1])))
    threads = _split(counted, lambda when: tuple(when[i] for i in (*host, *grid[::-1], *shared, *own[::-1])))
    outside = len(host) + len(grid)
    names = [loops[i].name for i in shared]
    depth = tile_depth(loops)
    tiles = _split(times, lambda when: when[:depth]) if depth else {}
    placed = tuple(_block(when[len(host) :][::-1], cells) for when, cells in blocks.items()) if grid else ()
    numbered = tuple(_thread(when[outside:], names, cells) for when, cells in threads.items())
    numbered = numbered if (own or shared) and len(threads) > 1 else ()
    return Regions(placed, numbered, _tiles(tiles, (*placed, *numbered)))


def _bound(loops: tuple[Loop, ...], what: str) -> list[int]:
    """Places of the loops bound to the axes of blocks or threads, x before y before z."""
    kinds = [loop.kind for loop in loops]
    return [kinds.index(kind) for axis in "xyz" if (kind := f"{what}.{axis}") in kinds]


def bound_origins(frame: Frame) -> Origins:
    """Where each loop that is bound to blocks or threads begins, in each iteration of those outside: its index is 0
    there.
    """
    lowest: dict[tuple[Names, Times], int] = {}
    for statement in frame.group:
        own, around = frame.of.program.statement(statement), path(frame.of.tree, statement)
        inner = max((n for n, loop in enumerate(around, 1) if _is_bound(loop)), default=0)
        times = [component(frame.of.program, loop, own, frame.drawn.sizes) for loop in around[:inner]]
        for point in frame.points[statement] if inner else ():
            for place, value in _places(tuple(time(point) for time in times), around):
                lowest[place] = min(value, lowest.get(place, value))
    return lowest


def _places(when: Times, loops: tuple[Loop, ...]) -> Iterator[tuple[tuple[Names, Times], int]]:
    """Of each bound loop the iteration that it stands in, and its value."""
    for i, value in enumerate(when):
        if _is_bound(loops[i]):
            yield (tuple(loop.name for loop in loops[: i + 1]), when[:i]), value


def _is_bound(loop: Loop) -> bool:
    return is_block(loop.kind) or is_thread(loop.kind)


def _counted(when: Times, loops: tuple[Loop, ...], origins: Origins) -> Times:
    """The time with the indices of blocks and threads in place of the values of their loops."""
    first = {len(place[1]): origins[place] for place, _ in _places(when, loops)}
    return tuple(value - first.get(i, 0) for i, value in enumerate(when))


def _split(times: Mapping[Cell, Times], key: Callable[[Times], Times]) -> dict[Times, tuple[Cell, ...]]:
    """Cells with the same part of their times, in the order of that part."""
    found: dict[Times, list[Cell]] = {}
    for cell, when in times.items():
        found.setdefault(key(when), []).append(cell)
    return {part: tuple(sorted(found[part])) for part in sorted(found)}


def _block(index: Times, cells: tuple[Cell, ...]) -> Region:
    return Region(index, cells, _words(index))


def _thread(when: Times, shared: list[str], cells: tuple[Cell, ...]) -> Region:
    """Iterations of parallel loops say which loop's."""
    parallel, index = when[: len(shared)], when[len(shared) :][::-1]
    named = ", ".join(f"{name}={value}" for name, value in zip(shared, parallel, strict=True))
    return Region((*parallel, *index), cells, " ".join(filter(None, ("thread", named, _words(index)))))


def _words(index: Times) -> str:
    return f"({','.join(map(str, index))})" if index else ""


def _tiles(split: Mapping[Times, tuple[Cell, ...]], known: Iterable[Region]) -> tuple[Region, ...]:
    """Tiles whose cells are not those of a block or of a thread, which have a mark of their own."""
    if len(split) < 2 or all(len(cells) == 1 for cells in split.values()):
        return ()
    others = {region.cells for region in known}
    return tuple(Region(when, cells) for when, cells in split.items() if cells not in others)


def tile_depth(loops: tuple[Loop, ...]) -> int:
    """Number of loops outside the innermost tile, the last that counts blocks; 0 when none does."""
    blocks = [i for i, loop in enumerate(loops) if any(_is_quotient(row) for _, row in loop.rows)]
    return max(blocks) + 1 if blocks else 0


def _is_quotient(row: Expr) -> bool:
    return isinstance(row, Binary) and row.op == "/"
