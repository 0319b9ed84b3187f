"""A scene as PNG bytes, drawn by Pillow at four times its size and reduced: the same marks as the SVG.

By Pillow alone: Matplotlib takes a second to start, and its figures would be other pictures than the SVG.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from itertools import pairwise
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from workbench.viz.draw.palette import Theme, colour
from workbench.viz.draw.scene import XY, Box, Line, Mark, Marker, Path, Polygon, Scene, Text
from workbench.viz.draw.svg import MARGIN, arrow_head, bent, marker_outline

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

SCALE = 2
OVERSAMPLE = 2
LARGEST_SIDE = 6000
FINE = SCALE * OVERSAMPLE
CURVE_STEPS = 14


def png_bytes(scene: Scene, theme: Theme = "light", *, scale: float = SCALE, colours: int | None = 128) -> bytes:
    """The scene on its theme's ground, `scale` pixels for one of the scene (fewer when it is very large).

    With at most so many `colours` the file is half as large; to choose them takes longer than all the rest.
    """
    image = drawn(scene, theme, scale * OVERSAMPLE).reduce(OVERSAMPLE)
    out = BytesIO()
    (image if colours is None else image.quantize(colours)).save(out, "PNG")
    return out.getvalue()


def drawn(scene: Scene, theme: Theme = "light", fine: float = FINE) -> Any:
    """The scene as a Pillow image with so many pixels for one of the scene (fewer when it is very large)."""
    from PIL import Image

    longest = max(scene.width, scene.height) + 2 * MARGIN
    fine = min(float(fine), LARGEST_SIDE / longest)
    size = (round((scene.width + 2 * MARGIN) * fine), round((scene.height + 2 * MARGIN) * fine))
    canvas = _Canvas(Image.new("RGB", size, colour("ground", theme)), fine, theme)
    for mark in scene.marks:
        canvas.paint(mark)
    return canvas.image


@lru_cache(maxsize=64)
def _font(name: str, size: int) -> Any:
    """DejaVu as Matplotlib ships it, or Pillow's own face when that is not there."""
    from PIL import ImageFont

    spec = find_spec("matplotlib")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = FilePath(folder, "mpl-data", "fonts", "ttf", f"{name}.ttf")
        if file.exists():
            return ImageFont.truetype(str(file), size)
    return ImageFont.load_default(size)


class _Canvas:
    """An image with marks painted on it; translucent marks go over it as a layer of their own."""

    def __init__(self, image: Any, fine: float, theme: Theme, corner: tuple[int, int] = (0, 0)) -> None:
        self.image, self.fine, self.corner = image, fine, corner
        self.theme: Theme = theme

    def paint(self, mark: Mark) -> None:
        from PIL import ImageDraw

        opacity = getattr(mark, "opacity", 1.0)
        if isinstance(mark, Box) and not mark.fill and not mark.edge:
            return
        if opacity >= 1:
            self._draw(ImageDraw.Draw(self.image), mark, lambda role: colour(role, self.theme))
        elif isinstance(mark, Box) and not mark.edge and (inner := self._inner(mark)):
            self._through(mark, opacity, (0, inner[0]))
            self._wash(mark, opacity, inner)
            self._through(mark, opacity, (inner[1], self.image.width))
        else:
            self._through(mark, opacity, (0, self.image.width))

    def _inner(self, box: Box) -> tuple[int, int] | None:
        """Pixel columns between the round corners of a box, if there are many."""
        (x, _), (end, _) = self.at((box.x, box.y)), self.at((box.x + box.width, box.y))
        left, right = int(x + box.radius * self.fine) + 1, int(end - box.radius * self.fine)
        return (left, right) if 0 <= left < right - 100 and right <= self.image.width else None

    def _wash(self, box: Box, opacity: float, columns: tuple[int, int]) -> None:
        """A box over what is there, between two columns: no mask is needed, which is what takes the time."""
        from PIL import ImageColor

        (_, y), (_, end) = self.at((box.x, box.y)), self.at((box.x, box.y + box.height))
        place = (columns[0], max(0, round(y)), columns[1], min(self.image.height, round(end) + 1))
        over = ImageColor.getrgb(colour(box.fill or "ground", self.theme))[:3]
        table = [round(v + (c - v) * opacity) for c in over for v in range(256)]
        self.image.paste(self.image.crop(place).point(table), place)

    def _through(self, mark: Mark, opacity: float, columns: tuple[int, int]) -> None:
        """A translucent mark between two columns of pixels, through a mask."""
        from PIL import Image, ImageDraw

        left, top, right, bottom = self._bounds(mark)
        left, right = max(left, columns[0]), min(right, columns[1])
        if left >= right:
            return
        part = _Canvas(Image.new("L", (right - left, bottom - top), 0), self.fine, self.theme, (left, top))
        part._draw(ImageDraw.Draw(part.image), mark, lambda _: round(255 * opacity))
        role = mark.fill or mark.edge if isinstance(mark, Box) else mark.role
        self.image.paste(colour(role or "ink", self.theme), (left, top, right, bottom), part.image)

    def _bounds(self, mark: Mark) -> tuple[int, int, int, int]:
        """Pixels a mark may touch, generously."""
        spots, reach = _extent(mark)
        xs, ys = zip(*(self.at(p) for p in spots), strict=True)
        room = (reach + 3) * self.fine
        width, height = self.image.size
        left, top = max(0, int(min(xs) - room)), max(0, int(min(ys) - room))
        right, bottom = min(width, int(max(xs) + room) + 1), min(height, int(max(ys) + room) + 1)
        return left, top, max(right, left + 1), max(bottom, top + 1)

    def at(self, point: XY) -> XY:
        return (point[0] + MARGIN) * self.fine - self.corner[0], (point[1] + MARGIN) * self.fine - self.corner[1]

    def _draw(self, pen: ImageDraw, mark: Mark, ink: Any) -> None:
        match mark:
            case Line():
                self._line(pen, mark, ink(mark.role))
            case Path(points, role, width):
                self._strokes(pen, [self.at(p) for p in points], width, ink(role))
            case Polygon(points, role, _, grow):
                corners = [self.at(p) for p in points]
                if len(corners) > 2:
                    pen.polygon(corners, fill=ink(role))
                self._strokes(pen, [*corners, corners[0]], 2 * grow, ink(role))
            case Box(x, y, width, height, fill, edge, radius):
                pen.rounded_rectangle(
                    (*self.at((x, y)), *self.at((x + width, y + height))), radius * self.fine,
                    fill=ink(fill) if fill else None, outline=ink(edge) if edge else None, width=round(self.fine),
                )  # fmt: skip
            case Marker():
                self._marker(pen, mark, ink(mark.role))
            case Text():
                self._text(pen, mark, ink(mark.role))

    def _strokes(self, pen: ImageDraw, points: list[XY], width: float, ink: Any) -> None:
        """A polyline with round joints and ends."""
        wide = max(1, round(width * self.fine))
        if width <= 0:
            return
        pen.line(points, fill=ink, width=wide, joint="curve")
        for x, y in points if wide > 4 else ():
            pen.ellipse((x - wide / 2, y - wide / 2, x + wide / 2, y + wide / 2), fill=ink)

    def _line(self, pen: ImageDraw, line: Line, ink: Any) -> None:
        tip = arrow_head(line)
        end = ((tip[1][0] + tip[2][0]) / 2, (tip[1][1] + tip[2][1]) / 2) if line.head else line.end
        route = [self.at(p) for p in _curve(line.start, bent(line), end, CURVE_STEPS if line.bend else 1)]
        on, off = (d * self.fine for d in line.dash or (0.0, 0.0))
        for piece in _dashes(route, max(on, 1.0), off) if line.dash else [route]:
            self._strokes(pen, piece, line.width, ink)
        if line.head:
            pen.polygon([self.at(p) for p in tip], fill=ink)

    def _marker(self, pen: ImageDraw, marker: Marker, ink: Any) -> None:
        corners = marker_outline(marker)
        if corners:
            pen.polygon([self.at(p) for p in corners], fill=ink)
            return
        (x, y), r = self.at((marker.x, marker.y)), marker.size * self.fine
        if marker.shape == "ring":
            pen.ellipse((x - r, y - r, x + r, y + r), outline=ink, width=round(0.45 * r))
        else:
            pen.ellipse((x - r, y - r, x + r, y + r), fill=ink)

    def _text(self, pen: ImageDraw, text: Text, ink: Any) -> None:
        face = "DejaVuSansMono" if text.mono else "DejaVuSans"
        style = "-Bold" if text.bold else "-Oblique" if text.italic else ""
        font = _font(face + style, round(text.size * self.fine * (1.0 if text.mono else 0.94)))
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
        pen.text(self.at((text.x, text.y)), text.text, fill=ink, font=font, anchor=anchor)


def _extent(mark: Mark) -> tuple[tuple[XY, ...], float]:
    """Points that span a mark, and how far it reaches beyond them."""
    match mark:
        case Line(start, end):
            return (start, end, bent(mark)), mark.width + 8
        case Path(points, _, width):
            return points, width
        case Polygon(points, _, _, grow):
            return points, grow
        case Box(x, y, width, height):
            return ((x, y), (x + width, y + height)), 1.0
        case Marker(x, y, _, _, size):
            return ((x, y),), 2 * size
        case Text(x, y, _, size):
            return ((x - mark.width, y - size), (x + mark.width, y + size)), 2.0


def _curve(start: XY, control: XY, end: XY, steps: int) -> list[XY]:
    """Points of a quadratic curve."""
    found = []
    for i in range(steps + 1):
        t = i / steps
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t * t
        found.append((a * start[0] + b * control[0] + c * end[0], a * start[1] + b * control[1] + c * end[1]))
    return found if steps > 1 else [start, end]


def _dashes(route: list[XY], on: float, off: float) -> list[list[XY]]:
    """A route cut into dashes of length `on` with gaps of `off`."""
    pieces: list[list[XY]] = [[route[0]]]
    left, drawing = on, True
    for (x0, y0), (x1, y1) in pairwise(route):
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        done = 0.0
        while length - done > left:
            done += left
            point = (x0 + (x1 - x0) * done / length, y0 + (y1 - y0) * done / length)
            if drawing:
                pieces[-1].append(point)
            else:
                pieces.append([point])
            drawing, left = not drawing, off if drawing else on
        left -= length - done
        if drawing:
            pieces[-1].append((x1, y1))
    return [piece for piece in pieces if len(piece) > 1]
