"""A scene as a Matplotlib Figure: the same marks as vector graphics, for papers (PDF, PGF, EPS, SVG)."""

from __future__ import annotations

from io import BytesIO
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any

from workbench.viz.draw.geometry import hull
from workbench.viz.draw.palette import Theme, colour
from workbench.viz.draw.scene import XY, Box, Line, Mark, Marker, Path, Polygon, Scene, Text
from workbench.viz.draw.svg import MARGIN, arrow_head, bent, marker_outline

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A pixel of a scene is so many inches; sizes of text are in points, 72 to the inch.
INCHES = 1 / 96
POINTS = 72 * INCHES
# Matplotlib's DejaVu Sans is wider than the faces that scenes are laid out for.
NARROWER = 0.94
ROUND = 48
ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def scene_figure(scene: Scene, theme: Theme = "light", width: float | None = None) -> Figure:
    """The scene as a Figure of its own size, or scaled to so many inches of width.  No pyplot state is touched."""
    from matplotlib.figure import Figure

    across, down = scene.width + 2 * MARGIN, scene.height + 2 * MARGIN
    zoom = 1.0 if width is None else width / (across * INCHES)
    figure = Figure((across * INCHES * zoom, down * INCHES * zoom), facecolor=colour("ground", theme))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-MARGIN, scene.width + MARGIN)
    axes.set_ylim(scene.height + MARGIN, -MARGIN)
    axes.set_label(scene.label)
    for order, mark in enumerate(scene.marks):
        for artist in _artists(mark, theme, zoom):
            artist.set_zorder(order)
            axes.add_artist(artist)
    return figure


def pdf_bytes(scene: Scene, theme: Theme = "light") -> bytes:
    """The scene as one page of PDF, with its words as text; the same bytes whenever it is written."""
    out = BytesIO()
    scene_figure(scene, theme).savefig(out, format="pdf", metadata={"CreationDate": None, "Title": scene.label})
    return out.getvalue()


def _artists(mark: Mark, theme: Theme, zoom: float) -> list[Any]:
    """One mark as Matplotlib's artists."""
    match mark:
        case Line():
            return _line(mark, theme, zoom)
        case Path(points, role, width, opacity):
            return [_stroke(points, role, width, opacity, theme, zoom)]
        case Polygon():
            return [_polygon(mark, theme, zoom)]
        case Box():
            return [_box(mark, theme, zoom)]
        case Marker():
            return _marker(mark, theme, zoom)
        case Text():
            return [_text(mark, theme, zoom)]


def _stroke(points: tuple[XY, ...], role: str, width: float, opacity: float, theme: Theme, zoom: float) -> Any:
    from matplotlib.lines import Line2D

    xs, ys = zip(*points, strict=True)
    return Line2D(
        xs, ys, color=colour(role, theme), linewidth=width * POINTS * zoom, alpha=opacity, solid_joinstyle="round",
        solid_capstyle="butt",
    )  # fmt: skip


def _line(line: Line, theme: Theme, zoom: float) -> list[Any]:
    from matplotlib.patches import PathPatch
    from matplotlib.patches import Polygon as Corners
    from matplotlib.path import Path as Route

    tip = arrow_head(line)
    end = ((tip[1][0] + tip[2][0]) / 2, (tip[1][1] + tip[2][1]) / 2) if line.head else line.end
    route = Route([line.start, bent(line), end], [Route.MOVETO, Route.CURVE3, Route.CURVE3])
    paint = colour(line.role, theme)
    dashes: Any = "solid"
    if line.dash:  # Matplotlib counts dashes in line widths
        dashes = (0, tuple(max(d, 0.1) / max(line.width, 0.1) for d in line.dash))
    stroke = PathPatch(
        route, fill=False, edgecolor=paint, linewidth=line.width * POINTS * zoom, linestyle=dashes, alpha=line.opacity,
        capstyle="round" if line.dash and line.dash[0] < 1 else "butt",
    )  # fmt: skip
    if not line.head:
        return [stroke]
    return [stroke, Corners(tip, closed=True, facecolor=paint, edgecolor="none", alpha=line.opacity)]


def _polygon(mark: Polygon, theme: Theme, zoom: float) -> Any:
    from matplotlib.patches import Circle
    from matplotlib.patches import Polygon as Corners

    paint = colour(mark.role, theme)
    if len(mark.points) == 1:
        return Circle(mark.points[0], mark.grow, facecolor=paint, edgecolor="none", alpha=mark.opacity)
    return Corners(_grown(mark), closed=True, facecolor=paint, edgecolor="none", alpha=mark.opacity)


def _grown(mark: Polygon) -> tuple[XY, ...]:
    """The corners of a convex polygon grown by its margin: a translucent edge over a translucent fill would show."""
    if not mark.grow:
        return mark.points
    steps = [2 * pi * i / ROUND for i in range(ROUND)]
    return hull((x + mark.grow * cos(a), y + mark.grow * sin(a)) for x, y in mark.points for a in steps)


def _box(box: Box, theme: Theme, zoom: float) -> Any:
    from matplotlib.patches import FancyBboxPatch

    radius = min(box.radius, box.width / 2, box.height / 2)
    return FancyBboxPatch(
        (box.x, box.y), box.width, box.height,
        boxstyle=f"round,pad=0,rounding_size={radius}" if radius > 0 else "square,pad=0",
        facecolor=colour(box.fill, theme) if box.fill else "none",
        edgecolor=colour(box.edge, theme) if box.edge else "none",
        linewidth=POINTS * zoom, alpha=box.opacity,
    )  # fmt: skip


def _marker(marker: Marker, theme: Theme, zoom: float) -> list[Any]:
    from matplotlib.patches import Circle
    from matplotlib.patches import Polygon as Corners

    paint = colour(marker.role, theme)
    corners = marker_outline(marker)
    if corners:
        return [Corners(corners, closed=True, facecolor=paint, edgecolor="none")]
    if marker.shape == "ring":
        wide = 0.45 * marker.size
        radius, edge = marker.size - wide / 2, wide * POINTS * zoom
        return [Circle((marker.x, marker.y), radius, fill=False, edgecolor=paint, linewidth=edge)]
    return [Circle((marker.x, marker.y), marker.size, facecolor=paint, edgecolor="none")]


def _text(text: Text, theme: Theme, zoom: float) -> Any:
    from matplotlib.text import Text as Words

    return Words(
        text.x, text.y, text.text, color=colour(text.role, theme), ha=ANCHORS[text.anchor],
        va="baseline", fontsize=text.size * POINTS * zoom * (1.0 if text.mono else NARROWER),
        family="DejaVu Sans Mono" if text.mono else "DejaVu Sans", weight="bold" if text.bold else "normal",
        style="italic" if text.italic else "normal", parse_math=False,
    )  # fmt: skip
