"""Arrays as grids of their cells in the order of memory, for pictures of what is touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.lang.algebra.normal_form import constant
from workbench.poly.programs.program import Array
from workbench.records import record
from workbench.viz.draw.scene import Box, Mark, Scene, Text
from workbench.viz.views.domain.cache_lines import elements_between

HEAD, GAP, WIDEST = 20.0, 22.0, 48
LARGE, SMALL = 15.0, 8.0


@record
class Grid:
    """One array at a place: element e stands in row `e // columns`, column `e % columns`."""

    array: str
    label: str
    x: float
    y: float
    unit: float
    columns: int
    elements: int

    @property
    def width(self) -> float:
        return max(self.unit * min(self.columns, max(1, self.elements)), Text(0, 0, self.label, 12, mono=True).width)

    @property
    def height(self) -> float:
        return HEAD + self.unit * -(-max(1, self.elements) // self.columns)

    def at(self, element: int) -> tuple[float, float]:
        """The upper left corner of an element's cell."""
        return (
            self.x + self.unit * (element % self.columns),
            self.y + HEAD + self.unit * (element // self.columns),
        )

    def cell(self, element: int, fill: str, opacity: float = 1.0) -> Box:
        """An element's cell in a colour."""
        x, y = self.at(element)
        return Box(x + 0.5, y + 0.5, self.unit - 1, self.unit - 1, fill, None, 1.5, opacity)


def grids(arrays: Mapping[str, Array], *, limit: float = 400.0) -> tuple[Grid, ...]:
    """The arrays in rows no wider than `limit`, below one another where they do not fit beside."""
    total = sum(elements_between(a) for a in arrays.values())
    unit = LARGE if total <= 300 else SMALL if total > 1200 else 11.0
    found: list[Grid] = []
    x = y = row = 0.0
    for name, array in arrays.items():
        grid = Grid(name, _label(array), x, y, unit, _columns(array), elements_between(array))
        if x and x + grid.width > limit:
            x, y, row = 0.0, y + row + GAP, 0.0
            grid = Grid(name, grid.label, x, y, unit, grid.columns, grid.elements)
        found.append(grid)
        x, row = x + grid.width + GAP, max(row, grid.height)
    return tuple(found)


def _label(array: Array) -> str:
    return f"{array.name}[{'×'.join(str(constant(e)) for e in array.extent)}]" if array.extent else array.name


def _columns(array: Array) -> int:
    """Elements a row of the grid has: those between neighbours of the dimension before the last."""
    wide = constant(array.strides[-2]) if array.rank > 1 else elements_between(array)
    return max(1, min(wide or 1, WIDEST))


def grid_marks(shown: Iterable[Grid]) -> list[Mark]:
    """Names and empty cells."""
    marks: list[Mark] = []
    for grid in shown:
        marks.append(Text(grid.x, grid.y + 12, grid.label, 12, "ink", mono=True, bold=True))
        marks += [grid.cell(e, "grid", 0.55) for e in range(grid.elements)]
    return marks


def _extent(shown: Iterable[Grid]) -> tuple[float, float]:
    """Width and height of all grids."""
    own = list(shown)
    return max((g.x + g.width for g in own), default=0.0), max((g.y + g.height for g in own), default=0.0)


def grids_scene(shown: tuple[Grid, ...], over: Iterable[Mark] = (), label: str = "memory cells") -> Scene:
    """The grids with marks over them."""
    width, height = _extent(shown)
    return Scene(width, height, (*grid_marks(shown), *over), label)
