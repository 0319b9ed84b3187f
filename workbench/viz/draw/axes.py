"""Two labelled axes over integer cells: x to the right, y downwards, like the loops are read."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor, log

from workbench.records import record
from workbench.viz.draw.geometry import Cell
from workbench.viz.draw.scene import XY, Line, Mark, Text

SIDE = 330.0
SMALLEST_CELL, LARGEST_CELL = 15.0, 38.0
LEFT, TOP = 34.0, 30.0
MOST_TICKS = 16


@record
class Axes:
    """Maps cells to pixels.  `lane_x`, `lane_y` are places beside the domain, where no value of the axis holds."""

    x: str
    y: str
    columns: range
    rows: range
    unit: float
    lane_x: frozenset[int] = frozenset()
    lane_y: frozenset[int] = frozenset()

    @property
    def width(self) -> float:
        return LEFT + len(self.columns) * self.unit + 8 + 8 * len(self.x)

    @property
    def height(self) -> float:
        return TOP + len(self.rows) * self.unit + (18 if self.y else 4)

    def at(self, x: float, y: float) -> XY:
        """Pixel of a cell's middle."""
        return (
            LEFT + (x - self.columns.start + 0.5) * self.unit,
            TOP + (y - self.rows.start + 0.5) * self.unit,
        )

    def marks(self) -> list[Mark]:
        """The axes, their ticks and names."""
        left, top = LEFT - 2, TOP - 2
        right, bottom = left + len(self.columns) * self.unit, top + len(self.rows) * self.unit
        found: list[Mark] = []
        if self.x:
            found += [Line((left, top), (right + 6, top), "soft", 1.1, head=True), *self._column_ticks()]
            found.append(Text(right + 11, top + 4, self.x, 14, italic=True, bold=True))
        if self.y:
            found += [Line((left, top), (left, bottom + 6), "soft", 1.1, head=True), *self._row_ticks()]
            found.append(Text(left, bottom + 20, self.y, 14, anchor="middle", italic=True, bold=True))
        return found

    def _column_ticks(self) -> Iterable[Mark]:
        for value in _ticks(self.columns, self.lane_x):
            yield Text(self.at(value, 0)[0], TOP - 9, str(value), 11, "soft", "middle")
        yield from self._lane_lines(vertical=True)

    def _row_ticks(self) -> Iterable[Mark]:
        for value in _ticks(self.rows, self.lane_y):
            yield Text(LEFT - 9, self.at(0, value)[1] + 4, str(value), 11, "soft", "end")
        yield from self._lane_lines(vertical=False)

    def _lane_lines(self, *, vertical: bool) -> Iterable[Mark]:
        """A dotted line between a lane and the domain."""
        lanes, cells = (self.lane_x, self.columns) if vertical else (self.lane_y, self.rows)
        for lane in lanes:
            edge = lane + (0.5 if lane == cells.start else -0.5)
            (x, y) = self.at(edge, edge)
            end = (TOP + len(self.rows) * self.unit) if vertical else (LEFT + len(self.columns) * self.unit)
            yield (
                Line((x, TOP), (x, end), "grid", 1.0, (2, 3))
                if vertical
                else Line((LEFT, y), (end, y), "grid", 1.0, (2, 3))
            )


def axes_for(x: str, y: str, cells: Iterable[Cell], lane_x: Iterable[int] = (), lane_y: Iterable[int] = ()) -> Axes:
    """Axes around some cells, as large as a notebook's column allows."""
    own = list(cells) or [(0, 0)]
    columns = range(min(c[0] for c in own), max(c[0] for c in own) + 1)
    rows = range(min(c[1] for c in own), max(c[1] for c in own) + 1)
    unit = max(SMALLEST_CELL, min(LARGEST_CELL, SIDE / max(len(columns), len(rows))))
    return Axes(x, y, columns, rows, unit, frozenset(lane_x), frozenset(lane_y))


def _ticks(cells: range, lanes: frozenset[int]) -> list[int]:
    own = [v for v in cells if v not in lanes]
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, len(own)) if len(own) <= s * MOST_TICKS)
    return [v for v in own if step == 1 or v % step == 0]


# -- A logarithmic axis: values to pixels, with ticks people can read --

@record
class LogScale:
    """Maps values from `low` to `high` to pixels from `start` over `length` (a negative length runs backwards)."""

    low: float
    high: float
    start: float
    length: float

    def at(self, value: float) -> float:
        """The pixel of a value; what lies outside stands at the nearer end."""
        inside = min(max(value, self.low), self.high)
        return self.start + self.length * log(inside / self.low) / log(self.high / self.low)

    def powers(self, base: float) -> list[float]:
        """The powers of a base on the axis."""
        first, last = ceil(log(self.low, base) - 1e-9), floor(log(self.high, base) + 1e-9)
        return [base**n for n in range(first, last + 1)]
