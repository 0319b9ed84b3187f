"""What one iteration of each loop holds, and what its iterations move: exact counts of cells for every array.

An iteration holds the cells that its instances touch.  What it brings in are those of them that the iteration before
it, of the same loop, did not touch: a memory that keeps one iteration at a time moves so much.
"""

from __future__ import annotations

from functools import lru_cache, reduce

from workbench.errors import LoweringError
from workbench.poly import isl, unpack
from workbench.poly.counting import cardinality, points
from workbench.poly.program import Program
from workbench.poly.regions import Around
from workbench.poly.touched_cells import TouchedCells
from workbench.poly.tree import Band, Leaf, Loop, Mark, Sequence, Tree, statements
from workbench.records import record


@record(slots=True)
class ArrayFootprint:
    """Cells of one array: `held` by one iteration, `visits` that begin in all of them, `touches` by instances in all.

    `loads` and `stores` are what must be moved for the visits: a value that is made here and not needed afterwards is
    neither loaded nor stored while it is held.
    """

    array: str
    cell_bytes: int
    held: int
    visits: int
    loads: int
    stores: int
    touches: int

    @property
    def reuse(self) -> float:
        """How often a cell is touched once it is there."""
        return self.touches / max(1, self.visits)

    @property
    def held_bytes(self) -> int:
        return self.held * self.cell_bytes

    @property
    def moved_bytes(self) -> int:
        return (self.loads + self.stores) * self.cell_bytes


@record(slots=True)
class LoopFootprint:
    """Footprint of one iteration of a loop inside those of the loops around it; without a path, of everything.

    `path` are the loops from the outside in.  `at` is the iteration whose cells were counted: of the first, the middle
    and the last one that holds most.  `iterations` counts them all.
    """

    path: tuple[Loop, ...]
    statements: tuple[str, ...]
    iterations: int
    at: tuple[int, ...]
    arrays: tuple[ArrayFootprint, ...]

    @property
    def held_bytes(self) -> int:
        return sum(a.held_bytes for a in self.arrays)

    @property
    def moved_bytes(self) -> int:
        return sum(a.moved_bytes for a in self.arrays)


@lru_cache(maxsize=64)
@isl.guarded
def loop_footprints(program: Program, tree: Tree) -> tuple[LoopFootprint, ...]:
    """The footprint of the whole program, then of every loop, parents before children.

    A gather counts at most one cell for each instance.  LoweringError while sizes are symbolic.
    """
    if program.symbols:
        raise LoweringError(f"{program.name}: footprints need every size; give {', '.join(program.symbols)}")
    whole = _footprint(program, tree, (), statements(tree))
    return (whole, *(_footprint(program, tree, path, below) for path, below in _nodes(tree, ())))


def _nodes(tree: Tree, outer: tuple[Loop, ...]) -> list[tuple[tuple[Loop, ...], tuple[str, ...]]]:
    """Every loop with those around it, and the statements below."""
    match tree:
        case Leaf():
            return []
        case Mark(_, _, child):
            return _nodes(child, outer)
        case Sequence(children):
            return [node for child in children for node in _nodes(child, outer)]
        case Band(own, child):
            below = statements(tree)
            paths = [(*outer, *own[: i + 1]) for i in range(len(own))]
            return [*((path, below) for path in paths), *_nodes(child, (*outer, *own))]


def _footprint(program: Program, tree: Tree, path: tuple[Loop, ...], ids: tuple[str, ...]) -> LoopFootprint:
    around, own = Around(program, tree, len(path)), [program.statement(s) for s in ids]
    times = reduce(isl.Set.union, (around.times(s).range() for s in own)).coalesce()
    names = dict.fromkeys(a.array for s in own for a in s.accesses)
    counters = [TouchedCells(around, array, tuple(own)) for array in names]
    held = {at: [c.held(at) for c in counters] for at in _samples(times)}
    most = max(held, key=lambda at: sum(n * c.cell_bytes for n, c in zip(held[at], counters, strict=True)))
    arrays = (_moved(c, n, tree) for n, c in zip(held[most], counters, strict=True))
    return LoopFootprint(path, ids, cardinality(times), most, tuple(arrays))


def _moved(cells: TouchedCells, held: int, tree: Tree) -> ArrayFootprint:
    """What comes in and what goes out over all iterations."""
    program = cells.around.program
    reads, writes = cells.touching("read"), cells.touching("write")
    loads = cells.brought(reads) - (cells.distinct(reads) if _is_made_here(cells, tree) else 0)
    stores = cells.brought(writes) - (cells.distinct(writes) if _is_private(cells) else 0)
    seen = [(s, a) for s, a in (*reads, *writes) if not a.accumulates]
    touches = sum(points(program, s.id) for s, _ in seen)
    return ArrayFootprint(cells.array, cells.cell_bytes, held, cells.brought(seen), loads, stores, touches)


def _is_made_here(cells: TouchedCells, tree: Tree) -> bool:
    """Whether the array's first values are written by these statements."""
    program = cells.around.program
    if program.arrays[cells.array].role in ("input", "inout"):
        return False
    order = (program.statement(s) for s in statements(tree))
    first = next((s for s in order if any(w.array == cells.array for w in s.writes)), None)
    return first in cells.statements


def _is_private(cells: TouchedCells) -> bool:
    """Whether nobody else needs the values."""
    program = cells.around.program
    everyone = [s for s in program.statements if any(a.array == cells.array for a in s.accesses)]
    return program.arrays[cells.array].role == "temporary" and all(s in cells.statements for s in everyone)


def _samples(times: isl.Set) -> list[tuple[int, ...]]:
    """The first, the middle and the last of some iterations; one that is never executed for none."""
    if times.is_empty():
        return [(0,) * times.dim(isl.dim.set)]
    middle = times
    for position in range(times.dim(isl.dim.set)):
        low, high = (unpack.integer(v) for v in (middle.dim_min_val(position), middle.dim_max_val(position)))
        fixed = middle.fix_val(isl.dim.set, position, isl.value((low + high) // 2))
        middle = middle if fixed.is_empty() else fixed
    found = (unpack.point(s) for s in (times.lexmin(), middle, times.lexmax()))
    return list(dict.fromkeys(p for p in found if p is not None))
