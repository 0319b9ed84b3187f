"""A drawing as plain data: six kinds of marks in pixels, colours by role.  SVG and PNG draw the same scene."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from textwrap import wrap
from typing import Literal

from workbench.records import record

XY = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

# Widths of a character in a font of size 1, for layout: measured on common faces, rounded up.
MONO_WIDTH = 0.602
SANS_WIDTH = 0.54


@record(slots=True)
class Line:
    """From start to end; `bend` moves the middle sideways, `dash` is on, off (pixels); `head` is an arrow tip."""

    start: XY
    end: XY
    role: str = "ink"
    width: float = 1.2
    dash: tuple[float, float] | None = None
    head: bool = False
    bend: float = 0.0
    opacity: float = 1.0


@record(slots=True)
class Path:
    """An open polyline."""

    points: tuple[XY, ...]
    role: str = "ink"
    width: float = 1.2
    opacity: float = 1.0


@record(slots=True)
class Polygon:
    """A filled polygon grown by `grow` pixels with round corners; one or two points give a disc or a capsule."""

    points: tuple[XY, ...]
    role: str
    opacity: float = 0.12
    grow: float = 0.0


@record(slots=True)
class Box:
    """A rectangle with round corners; `edge` is the role of its border, `fill` that of its inside."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    edge: str | None = None
    radius: float = 4.0
    opacity: float = 1.0


@record(slots=True)
class Marker:
    """A point of a given shape; `title` is what a browser shows when the pointer rests on it."""

    x: float
    y: float
    role: str
    shape: str = "disc"
    size: float = 5.0
    title: str = ""


@record(slots=True)
class Text:
    """One line of text; (x, y) is its baseline."""

    x: float
    y: float
    text: str
    size: float = 13.0
    role: str = "ink"
    anchor: Anchor = "start"
    mono: bool = False
    bold: bool = False
    italic: bool = False

    @property
    def width(self) -> float:
        """About how wide it is, in pixels."""
        return len(self.text) * self.size * (MONO_WIDTH if self.mono else SANS_WIDTH)


Mark = Line | Path | Polygon | Box | Marker | Text


@record(slots=True)
class Scene:
    """Marks on a canvas of so many pixels, painted in order; `label` says in words what is shown."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    label: str = ""


def move(mark: Mark, dx: float, dy: float) -> Mark:
    """The same mark elsewhere."""
    match mark:
        case Line(start, end):
            return replace(mark, start=(start[0] + dx, start[1] + dy), end=(end[0] + dx, end[1] + dy))
        case Path(points) | Polygon(points):
            return replace(mark, points=tuple((x + dx, y + dy) for x, y in points))
        case Box(x, y) | Marker(x, y) | Text(x, y):
            return replace(mark, x=x + dx, y=y + dy)


def place(scene: Scene, dx: float, dy: float) -> tuple[Mark, ...]:
    """A scene's marks, moved."""
    return tuple(move(mark, dx, dy) for mark in scene.marks)


def beside(scenes: Iterable[Scene], *, gap: float = 28.0, limit: float = 860.0) -> Scene:
    """Scenes in rows, a new row when one would be wider than `limit`."""
    marks: list[Mark] = []
    x = y = row = width = 0.0
    labels = []
    for scene in scenes:
        if x and x + scene.width > limit:
            x, y, row = 0.0, y + row + gap, 0.0
        marks += place(scene, x, y)
        labels.append(scene.label)
        x, row = x + scene.width + gap, max(row, scene.height)
        width = max(width, x - gap)
    return Scene(width, y + row, tuple(marks), "; ".join(filter(None, labels)))


def above(*scenes: Scene, gap: float = 10.0) -> Scene:
    """Scenes one below another."""
    marks: list[Mark] = []
    y = 0.0
    shown = [s for s in scenes if s.marks]
    for scene in shown:
        marks += place(scene, 0.0, y)
        y += scene.height + gap
    return Scene(max((s.width for s in shown), default=0.0), y - gap, tuple(marks), shown[0].label if shown else "")


def text_scene(text: str, *, size: float = 12.5) -> Scene:
    """Lines of text in a fixed-width face: the picture of anything that has only words."""
    lines = text.split("\n")
    step = size * 1.45
    marks = tuple(Text(0, step * (i + 0.8), line, size, mono=True) for i, line in enumerate(lines) if line.strip())
    width = max((len(line) for line in lines), default=0) * size * MONO_WIDTH
    return Scene(width + 4, step * len(lines) + 4, marks, lines[0])


def paragraph(sentences: Iterable[str], width: float, *, size: float = 12.0) -> Scene:
    """Small print under a picture, wrapped to its width (but never narrower than about fifty characters)."""
    columns = max(52, int(width / (size * SANS_WIDTH)))
    lines = [line for sentence in sentences for line in wrap(sentence, columns)]
    marks = tuple(Text(0, size + (size + 5) * i, line, size, "soft") for i, line in enumerate(lines))
    return Scene(max((m.width for m in marks), default=0.0), (size + 5) * len(marks), marks)
