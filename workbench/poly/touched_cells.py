"""The cells of one array that some statements touch, counted in terms of the loops around these."""

from __future__ import annotations

from workbench.poly import isl
from workbench.poly.counting import cardinality
from workbench.poly.program import Access, AccessKind, ProgramStatement
from workbench.poly.regions import Around
from workbench.poly.storage import place_of
from workbench.records import record

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
