"""Blocks, tiles and threads behind the points of a picture: one mark for each, wherever they are drawn.

A block of threads has a thick outline, with its index on the upper edge.  A tile that is neither a block nor a thread
has a thin dashed outline inside it.  Cells of threads are shaded by turns; those of one thread are hatched, with its
index beside them.  `js/src/plot/regions.ts` draws the same in the panel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil, floor

from workbench.records import record
from workbench.viz.draw.axes import Axes
from workbench.viz.draw.geometry import Cell
from workbench.viz.draw.scene import XY, Box, Line, Mark, Path, Scene, Text, move

Rectangle = tuple[float, float, float, float]  # left, top, right, bottom

THICK, THIN = 2.6, 1.2
OF_CELL = 0.09  # the outline of a block, where cells are small
DASH = (4.0, 2.6)
INSIDE = 3.2  # pixels between the outline of a tile and that of a block, where cells are large
SHARE = 0.12  # of a cell, at most
SHADES = (0.10, 0.24)  # of neighbouring threads
HATCH = 8.0  # pixels between lines
LETTERS = 10.0  # pixels, where cells are at least twice as high
ROOM = 2.0  # pixels around a label
SPARE = (1.5, 3.0)  # how much wider and higher than its label a block is that is named among many
FOOT = 1.5  # pixels between a picture and words below it
BELOW = 6.0  # pixels of labels below the axes of one row


@record
class Region:
    """Cells that belong together; `index` is that of a block or a thread (x, y, z), counted from the first."""

    index: tuple[int, ...]
    cells: tuple[Cell, ...]
    label: str = ""

    @property
    def odd(self) -> bool:
        """Neighbours along an axis differ."""
        return sum(self.index) % 2 == 1


@record
class Regions:
    """The blocks of threads and the threads of a statement, and the tiles that are neither.

    There are no threads where each block has one, or where there is one in all.
    """

    blocks: tuple[Region, ...] = ()
    threads: tuple[Region, ...] = ()
    tiles: tuple[Region, ...] = ()

    @property
    def example(self) -> Region | None:
        """The thread that stands for all: the first of those with the most cells."""
        return max(self.threads, key=lambda thread: len(thread.cells), default=None)


def named_regions(found: Regions) -> dict[Cell, str]:
    """Cell → `block (0,1), thread (2)`; nothing where there are no blocks."""
    threads = {cell: f", {thread.label}" for thread in found.threads for cell in thread.cells}
    return {cell: f"block {block.label}{threads.get(cell, '')}" for block in found.blocks for cell in block.cells}


def regions_behind(axes: Axes, found: Regions) -> list[Mark]:
    """What lies behind the points: the shades of threads, the lines of one of them."""
    marks = [mark for thread in found.threads for mark in shaded(axes, thread.cells, odd=thread.odd)]
    return [*marks, *hatched(axes, found.example.cells)] if found.example else marks


def region_borders(axes: Axes, found: Regions, role: str) -> list[Mark]:
    """The outlines of tiles in the colour of their statement, over them those of blocks."""
    tiles = [mark for tile in found.tiles for mark in dashed(axes, tile.cells, role)]
    width = min(THICK, max(1.0, OF_CELL * axes.unit))  # thinner where cells are small
    return [*tiles, *(mark for block in found.blocks for mark in thick(axes, block.cells, width))]


def region_labels(axes: Axes, found: Regions, around: Iterable[Mark]) -> list[Mark]:
    """The index of the first block, of the others where they are large, and of a thread, where they meet no words."""
    made = Labels(around, (0.0, 0.0, axes.width, axes.height + BELOW))
    for n, block in enumerate(found.blocks):
        named = not n and made.block(axes, block.cells, f"block {block.label}")
        if not named and (not n or roomy(axes, block)):
            made.block(axes, block.cells, block.label)
    if own := found.example:
        around_it = next((block.cells for block in found.blocks if own.cells[0] in block.cells), None)
        made.thread(axes, own.cells, own.label, around_it)
    return made.marks


def roomy(axes: Axes, block: Region) -> bool:
    """Whether a block is so much larger than its label that many of them hide nothing."""
    text = _label(axes, (0.0, 0.0), block.label)
    wide, high = (max(of) - min(of) + 1 for of in zip(*block.cells, strict=True))
    return SPARE[0] * (text.width + 4 * ROOM) <= wide * axes.unit and SPARE[1] * text.size <= high * axes.unit


def labelled_body(axes: Axes, found: Regions, marks: Sequence[Mark], label: str = "") -> Scene:
    """A picture on axes with the labels of its regions, and room for those below the axes."""
    words = region_labels(axes, found, marks)
    low = max((letters(mark)[3] for mark in words if isinstance(mark, Text)), default=0.0)
    return Scene(axes.width, max(axes.height, low), (*marks, *words), label)


def region_key(found: Regions, marks: Iterable[Mark], width: float) -> Scene:
    """What is drawn and what it stands for, in lines no wider than `width`; `marks` are those of the picture."""
    words = {mark.text.removeprefix("block ") for mark in marks if isinstance(mark, Text)}
    named = any(block.label in words for block in found.blocks)
    items = [("block", "block, its index above" if named else "block")] * bool(found.blocks)
    items += [("tile", "tile")] * bool(found.tiles)
    if found.example:
        items += [("threads", "threads by turns"), ("thread", found.example.label)]
    return _samples(items, width)


def outlines(cells: Iterable[Cell], inside: float = 0.0) -> list[tuple[XY, ...]]:
    """Corners of the borders of some cells, each clockwise around what is its own, so much further inside.

    Cells that do not hang together have borders of their own.

    >>> outlines([(0, 0), (1, 0)])
    [((-0.5, -0.5), (1.5, -0.5), (1.5, 0.5), (-0.5, 0.5))]
    """
    own = set(cells)
    after: dict[Cell, list[Cell]] = {}
    for x, y in sorted(own, key=lambda cell: cell[::-1]):
        for dx, dy, start, end in _EDGES:
            if (x + dx, y + dy) not in own:
                after.setdefault((x + start[0], y + start[1]), []).append((x + end[0], y + end[1]))
    found = []
    while after:
        found.append(tuple(_moved(_walk(after), inside)))
    return found


# Neighbour behind an edge, the edge's ends as corners of the cell: clockwise, as y runs down.
_EDGES = (
    (0, -1, (0, 0), (1, 0)),
    (1, 0, (1, 0), (1, 1)),
    (0, 1, (1, 1), (0, 1)),
    (-1, 0, (0, 1), (0, 0)),
)


def _walk(after: dict[Cell, list[Cell]]) -> list[Cell]:
    """One border, edge by edge, which are taken away; where two meet in a corner it stays with its cell."""
    start = next(iter(after))
    route = [start, _taken(after, start, None)]
    while route[-1] != start:
        (x0, y0), (x1, y1) = route[-2:]
        route.append(_taken(after, (x1, y1), (x1 - (y1 - y0), y1 + (x1 - x0))))
    return route[:-1]


def _taken(after: dict[Cell, list[Cell]], corner: Cell, wanted: Cell | None) -> Cell:
    ends = after[corner]
    end = ends.pop(ends.index(wanted) if wanted in ends else 0)
    if not ends:
        del after[corner]
    return end


def _moved(corners: list[Cell], inside: float) -> Iterator[XY]:
    """The corners in which a border turns, from the middles of cells."""
    around = [corners[-1], *corners, corners[0]]
    for (x0, y0), (x, y), (x1, y1) in zip(around, corners, around[2:], strict=False):
        before, later = (x - x0, y - y0), (x1 - x, y1 - y)
        if before != later:
            sideways = (-before[1] - later[1], before[0] + later[0])
            yield x - 0.5 + inside * sideways[0], y - 0.5 + inside * sideways[1]


def shaded(axes: Axes, cells: Iterable[Cell], *, odd: bool) -> list[Mark]:
    """The cells of a thread in one of two shades."""
    return [Box(x0, y0, x1 - x0, y1 - y0, "soft", None, 0.0, SHADES[odd]) for x0, y0, x1, y1 in _runs(axes, cells)]


def _runs(axes: Axes, cells: Iterable[Cell]) -> Iterator[Rectangle]:
    """Cells side by side as one rectangle."""
    own = sorted(cells, key=lambda cell: cell[::-1])
    first = 0
    for n, (x, y) in enumerate(own, 1):
        if n == len(own) or own[n] != (x + 1, y):
            yield (*axes.at(own[first][0] - 0.5, y - 0.5), *axes.at(x + 0.5, y + 0.5))
            first = n


def hatched(axes: Axes, cells: Iterable[Cell]) -> list[Mark]:
    """Lines through the cells of the thread that stands for all."""
    each = max(2, round(axes.unit / HATCH))
    lines: list[Mark] = []
    for x, y in cells:
        low, high = (x - 0.5) + (y - 0.5), (x + 0.5) + (y + 0.5)
        for c in (n / each for n in range(floor(low * each) + 1, ceil(high * each))):
            left, right = max(x - 0.5, c - y - 0.5), min(x + 0.5, c - y + 0.5)
            lines.append(Line(axes.at(left, c - left), axes.at(right, c - right), "ink", 0.9, opacity=0.6))
    return lines


def thick(axes: Axes, cells: Iterable[Cell], width: float = THICK) -> list[Mark]:
    """The outline of a block."""
    closed = ([axes.at(*corner) for corner in (*border, *border[:2])] for border in outlines(cells))
    return [Path(tuple(corners), "ink", width) for corners in closed]


def dashed(axes: Axes, cells: Iterable[Cell], role: str = "ink") -> list[Mark]:
    """The outline of a tile."""
    borders = outlines(cells, min(SHARE, INSIDE / axes.unit))
    sides = (pair for border in borders for pair in pairwise((*border, border[0])))
    return [Line(axes.at(*start), axes.at(*end), role, THIN, DASH) for start, end in sides]


class Labels:
    """Words beside what they name, each where it meets none of those before."""

    def __init__(self, taken: Iterable[Mark], bounds: Rectangle) -> None:
        self._taken = [letters(mark) for mark in taken if isinstance(mark, Text)]
        self._bounds = bounds
        self.marks: list[Mark] = []

    def block(self, axes: Axes, cells: Sequence[Cell], words: str) -> bool:
        """On the upper edge of a block; whether there was room."""
        x, y = min(cells, key=lambda cell: cell[::-1])
        right = max(a for a, b in cells if b == y)
        corner, end = axes.at(x - 0.5, y - 0.5), axes.at(right + 0.5, y - 0.5)
        text = _label(axes, corner, words)
        return text.width + 4 * ROOM <= end[0] - corner[0] and self._put(text)

    def thread(self, axes: Axes, cells: Sequence[Cell], words: str, block: Sequence[Cell] | None = None) -> bool:
        """Below the picture, or on an edge of its first cells that no other block has; whether there was room."""
        left, top, right, bottom = next(_runs(axes, cells))
        spots = [_label(axes, (left + n * axes.unit, top), words) for n in range(round((right - left) / axes.unit))]
        first = min(cells, key=lambda cell: cell[::-1])
        if block is None or (first[0], first[1] + 1) in block:
            spots += [_label(axes, (text.x - 2 * ROOM, bottom), words) for text in spots]
        if foot := [x for x, y in cells if y == axes.rows[-1]]:
            x, y = axes.at(min(foot) - 0.5, axes.rows[-1] + 0.5)
            own = _label(axes, (x, y), words)
            spots.insert(0, Text(own.x, y + FOOT + 0.76 * own.size, words, own.size, bold=True))
        return any(self._put(text) for text in spots)

    def _put(self, text: Text) -> bool:
        box = letters(text)
        left, top, right, bottom = self._bounds
        if box[0] < left or box[1] < top or box[2] > right or box[3] > bottom:
            return False
        if any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in self._taken):
            return False
        self._taken.append(box)
        self.marks += [Box(box[0], box[1], box[2] - box[0], box[3] - box[1], "ground", None, 2.0), text]
        return True


def _label(axes: Axes, corner: XY, words: str) -> Text:
    """Words on an edge that begins in a corner."""
    size = min(LETTERS, axes.unit / 2)
    return Text(corner[0] + 2 * ROOM, corner[1] + 0.36 * size, words, size, bold=True)


def letters(text: Text) -> Rectangle:
    """The room that a line of text takes."""
    left = text.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor] * text.width
    return left - ROOM / 2, text.y - 0.76 * text.size, left + text.width + ROOM / 2, text.y + 0.2 * text.size


def _samples(items: Iterable[tuple[str, str]], width: float) -> Scene:
    marks: list[Mark] = []
    x = y = wide = 0.0
    for kind, words in items:
        text = Text(x + 30, y + 13, words, 12, "soft")
        if x and text.x + text.width > width:
            x, y = 0.0, y + 20
            text = Text(30, y + 13, words, 12, "soft")
        marks += [*_sample(kind, x, y + 3), text]
        x = text.x + text.width + 18
        wide = max(wide, x - 18)
    return Scene(wide, y + 20 if marks else 0, tuple(marks))


def _sample(kind: str, x: float, y: float) -> list[Mark]:
    """A mark around two cells, its corner at a place."""
    two, cells = Axes("", "", range(2), range(1), 12.0), [(0, 0), (1, 0)]
    match kind:
        case "block":
            made = thick(two, cells)
        case "tile":
            made = dashed(two, cells)
        case "threads":
            made = [*shaded(two, cells[:1], odd=False), *shaded(two, cells[1:], odd=True)]
        case _:
            made = hatched(two, cells)
    left, top = two.at(-0.5, -0.5)
    return [move(mark, x - left, y - top) for mark in made]
