"""`order`: the path of execution through the points of a statement; tiles, threads and vector lanes are seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from workbench.poly.programs.program import Program
from workbench.schedules import Schedule, Verdict
from workbench.viz.draw.axes import Axes, axes_for
from workbench.viz.draw.geometry import hull, is_convex
from workbench.viz.draw.palette import STATEMENT_COLOURS, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.regions import labelled_body, named_regions, region_borders, region_key, regions_behind
from workbench.viz.draw.scene import XY, Box, Line, Mark, Path, Polygon, Scene, Text, above, paragraph
from workbench.viz.frames.frame import Asked
from workbench.viz.views.domain.order_data import Order, Step, Thread, order_data
from workbench.viz.views.domain.small_problem import drawn_of

NUMBERED = 150
KEYS = 6  # threads whose colours are said


def order(
    value: Schedule | Program | Verdict,
    x: str | None = None,
    y: str | None = None,
    sizes: Mapping[str, int] | None = None,
    statement: str | None = None,
) -> Picture:
    """When each point of a statement is visited: numbers and a path on two dims or loops.

    Threads have colours and numbers of their own, and are shaded by turns, one of them hatched; what a vector loop
    executes at once shares a capsule and a number.  Blocks of threads have thick outlines with their indices, tiles
    that are neither blocks nor threads thin dashed ones.  Tile sizes and extents too large to draw are replaced by
    small ones, which the caption says.  Axes, sizes and errors as for `domain`; without `statement` it is the one with
    the most dims.
    """
    found, said = drawn_of(value, Asked(x, y, sizes, statement), order_data)
    found = replace(found, notes=(*said, *found.notes))
    return Picture(order_text(found), order_scene(found), data=found)


def order_scene(found: Order) -> Scene:
    """Title, tiles, paths, numbers, axes, caption."""
    cells = [c for t in found.threads for s in t.steps for c in s.cells]
    axes = axes_for(found.x, found.y, cells)
    name = f"{found.statement}({', '.join(found.dims)})"
    outlines = region_borders(axes, found.regions, statement_role(found.number))
    marks: list[Mark] = [*regions_behind(axes, found.regions), *axes.marks(), *outlines]
    for i, thread in enumerate(found.threads):
        marks += _thread(axes, thread, _role(found, i))
    title = Scene(300, 20, (Text(0, 13, name, 12.5, statement_role(found.number), bold=True),))
    body = labelled_body(axes, found.regions, marks, f"order of {name}")
    head = Scene(title.width, title.height, title.marks, body.label)
    wide = max(axes.width, 340.0)
    keys = (_key(found, wide), region_key(found.regions, body.marks, wide))
    return above(head, body, *keys, paragraph(_captions(found), axes.width), gap=6)


def _role(found: Order, position: int) -> str:
    return statement_role(found.number if len(found.threads) == 1 else position % STATEMENT_COLOURS)


def _key(found: Order, width: float) -> Scene:
    """The colours of the first threads, in lines no wider than `width`."""
    marks: list[Mark] = []
    x = y = wide = 0.0
    shown = found.threads[:KEYS] if len(found.threads) > 1 else ()
    named = named_regions(found.regions)
    for i, thread in enumerate(shown):
        more = ", ..." if i == len(shown) - 1 < len(found.threads) - 1 else ""
        words = named.get(thread.steps[0].cells[0], thread.label)
        text = Text(x + 24, y + 13, words + more, 12, _role(found, i), bold=True)
        if x and text.x + text.width > width:
            x, y = 0.0, y + 18
            text = Text(24, y + 13, text.text, 12, text.role, bold=True)
        marks += [Line((x, y + 9), (x + 19, y + 9), text.role, 2.2), text]
        x = text.x + text.width + 16
        wide = max(wide, x)
    return Scene(wide, y + 18 if marks else 0, tuple(marks))


def _thread(axes: Axes, thread: Thread, role: str) -> list[Mark]:
    """The path, then the visited cells on top of it."""
    stops = tuple(_middle(axes, step) for step in thread.steps)
    numbered = sum(len(s.cells) for s in thread.steps) <= NUMBERED
    marks: list[Mark] = [Path(stops, role, 1.5 if numbered else 1.1, 0.55)] if len(stops) > 1 else []
    marks += _direction(stops, role)
    for step in thread.steps:
        marks += _step(axes, step, role, numbered=numbered)
    return marks


def _direction(stops: tuple[XY, ...], role: str) -> list[Mark]:
    """An arrow tip in the middle of each long jump, where the path turns back."""
    tips: list[Mark] = []
    for (x0, y0), (x1, y1) in pairwise(stops):
        if abs(x1 - x0) + abs(y1 - y0) > 60:
            middle = (0.45 * x0 + 0.55 * x1, 0.45 * y0 + 0.55 * y1)
            tips.append(Line((x0 + 0.45 * (x1 - x0), y0 + 0.45 * (y1 - y0)), middle, role, 1.5, None, True, 0.0, 0.7))
    return tips


def _step(axes: Axes, step: Step, role: str, *, numbered: bool) -> list[Mark]:
    """A disc with its number; the lanes of a vector in one capsule with one number, else in discs."""
    size = axes.unit * 0.62
    spots = [axes.at(*cell) for cell in step.cells]
    small = size < 17 or not numbered
    if small and len(spots) == 1:
        return [Box(spots[0][0] - 3.2, spots[0][1] - 3.2, 6.4, 6.4, role, None, 3.2)]
    shapes = [hull(step.cells)] if is_convex(step.cells) else [(cell,) for cell in step.cells]
    marks: list[Mark] = []
    for corners in (tuple(axes.at(*c) for c in cells) for cells in shapes):
        marks += [Polygon(corners, role, 1.0, size / 2), Polygon(corners, "ground", 1.0, size / 2 - 1.4)]
        marks += [Polygon(corners, role, 0.16, size / 2 - 1.4)] if len(spots) > 1 else []
    if len(spots) > 1:
        marks += [Box(x - 2, y - 2, 4, 4, role, None, 2, 0.6) for x, y in spots[1:]]
    x, y = spots[0]
    digits = str(step.number)
    font = min(11.5, size * (0.62 if len(digits) < 3 else 0.44))
    return [*marks, Text(x, y + font * 0.36, digits, font, role, "middle", bold=True)] if numbered else marks


def _middle(axes: Axes, step: Step) -> XY:
    spots = [axes.at(*cell) for cell in step.cells]
    return sum(x for x, _ in spots) / len(spots), sum(y for _, y in spots) / len(spots)


def _captions(found: Order) -> list[str]:
    """The loops from the outside in, what was made smaller, what a number means."""
    loops = " · ".join(name if kind == "serial" else f"{name} ({kind})" for name, kind in found.loops)
    notes = [f"Loops from the outside in: {loops}."] if loops else []
    notes += [f"{note[0].upper()}{note[1:]}." for note in found.notes]
    if found.again:
        others = ", ".join(d for d in found.dims if d not in (found.x, found.y))
        notes.append(f"Numbers are first visits; {found.again} more follow along {others or 'other loops'}.")
    return notes


def order_text(found: Order) -> str:
    """The numbers as a grid; with several threads each number follows its thread's letter."""
    cells: dict[tuple[int, int], str] = {}
    for i, thread in enumerate(found.threads):
        mark = "" if len(found.threads) == 1 else chr(ord("a") + i % 26)
        cells |= {cell: f"{mark}{step.number}" for step in thread.steps for cell in step.cells}
    head = f"order of {found.statement}({', '.join(found.dims)}) in {found.title}"
    return "\n".join([head, *_grid(cells, found), *_captions(found)])


def _grid(cells: Mapping[tuple[int, int], str], found: Order) -> list[str]:
    if not cells:
        return ["(no instances)"]
    columns = range(min(c[0] for c in cells), max(c[0] for c in cells) + 1)
    rows = range(min(c[1] for c in cells), max(c[1] for c in cells) + 1)
    wide = max(len(t) for t in [*cells.values(), *map(str, columns)]) + 1
    margin = max(len(found.y), *(len(str(v)) for v in rows)) if found.y else 0
    lines = [(f"{found.y:>{margin}} " + "".join(f"{v:>{wide}}" for v in columns) + f"  {found.x}").rstrip()]
    for y in rows:
        label = str(y) if found.y else ""
        lines.append(f"{label:>{margin}} " + "".join(f"{cells.get((x, y), ''):>{wide}}" for x in columns).rstrip())
    return lines
