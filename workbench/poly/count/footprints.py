"""What one iteration of each loop holds, and what its iterations move: exact counts of cells for every array.

An iteration holds the cells that its instances touch.  What it brings in are those of them that the iteration before
it, of the same loop, did not touch: a memory that keeps one iteration at a time moves so much.
"""

from __future__ import annotations

from functools import lru_cache, reduce

from workbench.errors import LoweringError
from workbench.poly.count.counting import cardinality, points
from workbench.poly.programs.program import Access, AccessKind, Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, statements
from workbench.poly.regions.regions import Around
from workbench.poly.regions.storage import place_of
from workbench.poly.sets import isl, unpack
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
        case Mark(_, child):
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
        low, high = (unpack.python_int(v) for v in (middle.dim_min_val(position), middle.dim_max_val(position)))
        fixed = middle.fix_val(isl.dim.set, position, isl.value((low + high) // 2))
        middle = middle if fixed.is_empty() else fixed
    found = (unpack.point(s) for s in (times.lexmin(), middle, times.lexmax()))
    return list(dict.fromkeys(p for p in found if p is not None))


# -- The cells of one array that some statements touch, counted in terms of the loops around these --

Touch = tuple[ProgramStatement, Access]
At = tuple[int, ...]


@record
class TouchedCells:
    """The cells of `array` that `statements` touch inside the loops of `around`.

    An instance touches one cell by each access, whatever isl must assume of a gather: counts mind that.
    """

    around: Around
    array: str
    statements: tuple[ProgramStatement, ...]

    @property
    def cell_bytes(self) -> int:
        return self.around.program.arrays[self.array].dtype.bytes

    def touching(self, *kinds: AccessKind) -> list[Touch]:
        """The accesses of these kinds."""
        return [(s, a) for s in self.statements for a in s.accesses if a.array == self.array and a.kind in kinds]

    def held(self, at: At) -> int:
        """Different cells of one iteration; of an array made by a step, at most what its storage has."""
        touches = self.touching("read", "write")
        found = self.around.cells(touches)
        assert found is not None
        count = min(cardinality(_fixed(found, at)), self._instances(touches, at))
        place = place_of(self.around.program, self.around.tree, self.array)
        stored = None if place is None or len(place.home) < len(at) else place.elements
        return count if stored is None else min(count, stored)

    def distinct(self, touches: list[Touch]) -> int:
        """Different cells of all iterations."""
        found = self.around.cells(touches)
        if found is None:
            return 0
        cells = found.project_out(isl.dim.set, 0, self.around.depth)
        return min(cardinality(cells), self._instances(touches))

    def brought(self, touches: list[Touch]) -> int:
        """Cells that the iteration before, of the innermost loop, did not touch; over all iterations."""
        found = self.around.cells(touches)
        if found is None:
            return 0
        new = found.subtract(_next(found, self.around.depth - 1)) if self.around.depth else found
        return min(cardinality(new), self._instances(touches))

    def _instances(self, touches: list[Touch], at: At = ()) -> int:
        """Touches in all, or in one iteration."""
        return sum(self._executed(s, a, at) for s, a in touches)

    def _executed(self, statement: ProgramStatement, access: Access, at: At) -> int:
        times = self.around.times(statement).intersect_domain(isl.parse_map(access.relation).domain())
        for position, value in enumerate(at):
            times = times.fix_val(isl.dim.out, position, isl.value(value))
        return cardinality(times.domain())


def _fixed(points: isl.Set, at: At) -> isl.Set:
    for position, value in enumerate(at):
        points = points.fix_val(isl.dim.set, position, isl.value(value))
    return points


def _next(points: isl.Set, dimension: int) -> isl.Set:
    """The points moved one further along a dimension."""
    axes = [f"x{i}" for i in range(points.dim(isl.dim.set))]
    moved = [f"{name} + 1" if i == dimension else name for i, name in enumerate(axes)]
    return points.apply(isl.parse_map(f"{{ [{', '.join(axes)}] -> [{', '.join(moved)}] }}"))
